"""Requests of administrators about the Broker itself: its settings and its state."""

import pytest

from harness.wire import RequestCode
from harness.wire.bodies import (
    ConsumerOffsets,
    KvTable,
    Properties,
)
from reference_impl.broker.store.storage import Space
from reference_impl.remoting.values import retold

from .administering import announced
from .messages import sent


def change(one, text):
    return one.ask(RequestCode.UPDATE_BROKER_CONFIG, body=text)


def test_settings_are_shown_and_changed(asked, profile):
    one = asked(profile)
    before = one.ask(RequestCode.GET_BROKER_CONFIG)
    pairs = Properties.decode(before.body).pairs
    assert pairs["maxMessageSize"] == "4194304"
    assert ("timerWheelEnable" in pairs) == (profile == "5.3")
    assert change(one, b"maxMessageSize=5\nunknown=1\nautoCreateTopicEnable=false\n").code == 0
    assert (one.broker.config.max_message_size, one.broker.config.auto_create_topic_enable) == (5, False)
    assert sent(one, topic="new").code == 17
    after = one.ask(RequestCode.GET_BROKER_CONFIG)
    assert "unknown" not in Properties.decode(after.body).pairs
    assert after.ext["version"] != before.ext["version"]


def test_some_settings_cannot_be_changed(asked, profile):
    one = asked(profile, configBlackList="brokerName")
    for key in ("brokerConfigPath", "rocketmqHome", "configBlackList", "brokerName"):
        reply = change(one, f"maxMessageSize=5\n{key}=x".encode())
        assert (reply.code, reply.remark) == (16, "Can not update config in black list.")
    assert one.broker.config.max_message_size == 4194304


def test_what_cannot_be_read_changes_nothing(asked, profile):
    one = asked(profile)
    assert change(one, b"").code == 0
    assert change(one, b"maxMessageSize=x").code == 0
    assert change(one, b"a=\\uzzzz").code == 1
    assert one.broker.config.max_message_size == 4194304


def test_a_new_permission_is_registered_at_once(asked, profile):
    one = asked(profile, namesrvAddr="10.0.0.9:9876")
    one.pass_time(0)
    announced(one)
    before = one.broker.topics.version.counter
    change(one, b"brokerPermission=4")
    assert one.broker.topics.version.counter == before + 1
    assert announced(one) == 1


def test_how_the_broker_is(asked, profile):
    one = asked(profile)
    sent(one, properties={"DELAY": "1"})
    one.pass_time(90_000)
    table = KvTable.decode(one.ask(RequestCode.GET_BROKER_RUNTIME_INFO).body).table
    assert table["brokerVersionDesc"] == {"4.9": "V4_9_8", "5.3": "V5_3_3"}[profile]
    assert table["runtime"] == "[ 0 days, 0 hours, 1 minutes, 30 seconds ]"
    assert table["scheduleMessageOffset_1"] == "1,1"
    assert table["msgPutTotalTodayNow"] == "2"
    assert table["earliestMessageTimeStamp"] == str(one.now - 90_000)
    assert ("timerReadBehind" in table) == ("getTransferredTps" in table) == (profile == "5.3")


def test_slaves_get_offsets(asked, profile):
    one = asked(profile)
    one.broker.offsets.commit("G", "T", 0, 5, one.now)
    told = ConsumerOffsets.decode(one.ask(RequestCode.GET_ALL_CONSUMER_OFFSET).body)
    assert told.offset_table == {"T@G": {0: 5}}


@pytest.mark.parametrize(
    ("size", "shown"),
    [(1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (270_476_253_594, "251.9 GiB")],
)
def test_the_room_of_the_disk_is_shown_with_units(asked, profile, size, shown):
    one = asked(profile)
    one.broker.store.space = lambda: Space(size, 100, 0.5)
    table = KvTable.decode(one.ask(RequestCode.GET_BROKER_RUNTIME_INFO).body).table
    assert table["commitLogDirCapacity"] == f"Total : {shown}, Free : 100 B."


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [("double", " 2.50 ", "2.5"), ("double", "x", None), ("int", "7", "7"), ("int", "7 ", None)],
)
def test_how_settings_that_do_nothing_are_shown_once_they_are_changed(kind, text, shown):
    assert retold(kind, text, trims=True) == shown
