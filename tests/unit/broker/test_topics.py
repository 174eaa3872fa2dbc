"""Topics and groups of a Broker: what there is at the start, what may come into being, and how."""

import pytest

from harness.wire import ResponseCode
from reference_impl.broker.topics import INHERIT, READ, WRITE
from reference_impl.remoting.errors import ConfigError

EVERYWHERE = {
    "SELF_TEST_TOPIC": (1, 6),
    "TBW102": (8, 7),
    "BenchmarkTest": (1024, 6),
    "DefaultCluster": (16, 7),
    "broker-a": (1, 7),
    "OFFSET_MOVED_EVENT": (1, 6),
    "SCHEDULE_TOPIC_XXXX": (18, 6),
    "DefaultCluster_REPLY_TOPIC": (1, 6),
}
ONLY_53 = {
    "rmq_sys_REVIVE_LOG_DefaultCluster": (8, 6),
    "rmq_sys_SYNC_BROKER_MEMBER_broker-a": (1, 1),
    "RMQ_SYS_TRANS_HALF_TOPIC": (1, 6),
    "RMQ_SYS_TRANS_OP_HALF_TOPIC": (1, 6),
    "rmq_sys_wheel_timer": (1, 6),
}


@pytest.mark.parametrize(("profile", "expected"), [("4.9", EVERYWHERE), ("5.3", EVERYWHERE | ONLY_53)])
def test_a_fresh_broker_has_the_system_topics_of_its_line(asked, profile, expected):
    table = asked(profile).broker.topics.table
    assert {name: (topic.write_queue_nums, topic.perm) for name, topic in table.items()} == expected
    assert all(topic.read_queue_nums == topic.write_queue_nums for topic in table.values())


def test_settings_decide_about_system_topics(asked, profile):
    table = asked(
        profile, autoCreateTopicEnable=False, clusterTopicEnable=False, traceTopicEnable=True
    ).broker.topics.table
    assert "TBW102" not in table
    assert table["DefaultCluster"].perm == INHERIT
    assert "RMQ_SYS_TRACE_TOPIC" in table


def test_a_topic_made_by_a_send_is_made_after_the_default_topic(asked, profile):
    one = asked(profile)
    topics = one.broker.topics
    before = topics.version
    made = topics.create_by_send("T", "TBW102", 4, 0, one.now + 5)
    assert (made.read_queue_nums, made.write_queue_nums, made.perm) == (4, 4, READ | WRITE)
    assert topics.get("T") is made
    assert (topics.version.counter, topics.version.timestamp) == (before.counter + 1, one.now + 5)
    assert topics.create_by_send("T2", "TBW102", 400, 0, one.now).write_queue_nums == 8
    assert topics.create_by_send("T3", "TBW102", -1, 0, one.now).write_queue_nums == 0


def test_no_topic_is_made_after_one_that_is_not_there_or_does_not_inherit(asked, profile):
    one = asked(profile)
    topics = one.broker.topics
    topics.create("plain", 4, READ | WRITE, one.now)
    version = topics.version
    assert topics.create_by_send("T", "plain", 4, 0, one.now) is None
    assert topics.create_by_send("T", "absent", 4, 0, one.now) is None
    assert "T" not in topics.table
    assert topics.version == version


@pytest.mark.parametrize(
    ("name", "remark"),
    [
        (None, "The specified topic is blank."),
        (" \t", "The specified topic is blank."),
        ("a.b", "The specified topic contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"),
        ("T\n", "The specified topic contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"),
        ("a" * 128, "The specified topic is longer than topic max length."),
        ("%RETRY%a|b_c-9", None),
        ("a" * 127, None),
    ],
)
def test_names_of_topics(asked, profile, name, remark):
    assert asked(profile).broker.topics.fault(name) == remark


def test_49_takes_the_order_of_topics_from_the_nameserver_and_53_only_adds(asked, profile):
    one = asked(profile)
    topics = one.broker.topics
    for name in ("kept", "lost"):
        topics.create(name, 4, 6, one.now, order=True)
    topics.create("new", 4, 6, one.now)
    topics.set_order({"kept", "new"}, one.now)
    assert topics.get("new").order and topics.get("kept").order
    assert topics.get("lost").order is (profile == "5.3")
    version = topics.version
    topics.set_order({"kept", "new"}, one.now)
    assert topics.version == version


def test_a_group_comes_into_being_by_being_asked_for(asked, profile):
    one = asked(profile)
    groups = one.broker.groups
    assert groups.find("G", one.now).retry_max_times == 16
    assert groups.version.counter == 1
    assert groups.find("G", one.now) is groups.table["G"]
    assert groups.version.counter == 1


def test_a_group_does_not_come_into_being_where_that_is_not_wanted(asked, profile):
    one = asked(profile, autoCreateSubscriptionGroup=False)
    assert one.broker.groups.find("G", one.now) is None
    assert one.broker.groups.find("CID_RMQ_SYS_x", one.now) is not None


def test_53_makes_no_group_with_an_illegal_name(asked):
    for name in ("a.b", "a" * 256):
        one = asked("5.3")
        assert one.broker.groups.find(name, one.now) is None
        assert asked("4.9").broker.groups.find(name, one.now) is not None


def test_a_code_without_a_handler(asked, profile):
    reply = asked(profile).ask(9999)
    assert reply.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    assert reply.remark == " request type 9999 not supported"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"brokerRole": "MASTER"}, "SLAVE"),
        ({"brokerRole": "SLAVE"}, "brokerId"),
        ({"namesrvAddr": "127.0.0.1"}, "host:port"),
        ({"brokerIP1": "localhost"}, "an IP address"),
        ({"autoCreateTopicEnable": "maybe"}, "true or false"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_and_said_why(asked, settings, told):
    with pytest.raises(ConfigError, match=told):
        asked("5.3", **settings)
