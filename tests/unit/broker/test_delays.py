"""Messages that are delivered later: not early, once, under their own name, and across restarts."""

import pytest

from harness.wire import RequestCode
from harness.wire.bodies import DelayOffsets
from harness.wire.messages import Message
from reference_impl.broker.delays import DELAY_OFFSETS
from reference_impl.broker.outbox import Saving
from reference_impl.broker.timers import TIMERS
from reference_impl.remoting.errors import ConfigError

from .messages import Lasting, place, queue_of, sent

SCHEDULE = "SCHEDULE_TOPIC_XXXX"
WHEEL = "rmq_sys_wheel_timer"


def test_a_delayed_message_is_not_early_and_then_its_own_again(asked, profile):
    one = asked(profile)
    reply = sent(one, queue=1, properties={"DELAY": "2", "TAGS": "A"})
    assert (reply.code, reply.ext["queueId"], reply.ext["queueOffset"]) == (0, "1", "0")
    waiting = queue_of(one, SCHEDULE, 1)[0]
    assert waiting.physical_offset == place(reply)
    assert (waiting.properties["REAL_TOPIC"], waiting.properties["REAL_QID"]) == ("T", "1")
    one.pass_time(4_999)
    assert queue_of(one, "T", 1) == []
    one.pass_time(1)
    delivered = queue_of(one, "T", 1)
    assert [message.body for message in delivered] == [b"hello"]
    assert delivered[0].properties == waiting.properties
    assert delivered[0].store_timestamp == waiting.store_timestamp + 5_000
    assert delivered[0].born_timestamp == waiting.born_timestamp
    one.pass_time(100_000)
    assert len(queue_of(one, "T", 1)) == 1


@pytest.mark.parametrize(("asked_for", "kept"), [("25", "18"), ("18", "18"), ("1", "1")])
def test_a_level_beyond_the_last_is_the_last(asked, profile, asked_for, kept):
    one = asked(profile)
    sent(one, properties={"DELAY": asked_for})
    assert queue_of(one, SCHEDULE, int(kept) - 1)[0].properties["DELAY"] == kept


@pytest.mark.parametrize("level", ["0", "-3"])
def test_no_level_is_no_delay(asked, profile, level):
    one = asked(profile)
    sent(one, properties={"DELAY": level})
    assert len(queue_of(one, "T")) == 1


def test_a_level_that_is_no_number_is_refused_and_not_stored(asked, profile):
    one = asked(profile)
    assert sent(one, properties={"DELAY": "x"}).code == 1
    assert one.broker.store.physical_range() == (0, 0)


def test_levels_are_those_of_the_settings(asked, profile):
    one = asked(profile, messageDelayLevel="3s 1m")
    sent(one, properties={"DELAY": "18"})
    one.pass_time(59_999)
    assert queue_of(one, "T") == []
    one.pass_time(1)
    assert len(queue_of(one, "T")) == 1


@pytest.mark.parametrize("levels", ["", "1x", "s", "1s  2s"])
def test_levels_that_mean_nothing_are_refused_at_the_start(asked, profile, levels):
    with pytest.raises(ConfigError, match="messageDelayLevel"):
        asked(profile, messageDelayLevel=levels)


def test_messages_of_one_level_and_of_several_keep_their_times(asked, profile):
    one = asked(profile)
    sent(one, body=b"late", properties={"DELAY": "3"})
    sent(one, body=b"first", properties={"DELAY": "1"})
    one.pass_time(500)
    sent(one, body=b"second", properties={"DELAY": "1"})
    one.pass_time(600)
    assert [message.body for message in queue_of(one, "T")] == [b"first"]
    one.pass_time(60_000)
    assert [message.body for message in queue_of(one, "T")] == [b"first", b"second", b"late"]


def test_what_waits_survives_a_crash_and_what_was_delivered_comes_once(profile):
    lasting = Lasting(profile)
    sent(lasting.one, body=b"soon", properties={"DELAY": "1"})
    sent(lasting.one, body=b"late", properties={"DELAY": "4"})
    lasting.one.pass_time(12_000)
    one = lasting.restart()
    assert [message.body for message in queue_of(one, "T")] == [b"soon"]
    one.pass_time(20_000)
    assert [message.body for message in queue_of(one, "T")] == [b"soon", b"late"]


def test_what_came_due_while_the_broker_was_down_is_delivered_at_the_start(profile):
    lasting = Lasting(profile)
    sent(lasting.one, properties={"DELAY": "1"})
    lasting.one.now += 50_000
    one = lasting.restart()
    one.pass_time(0)
    assert len(queue_of(one, "T")) == 1


def test_how_far_was_delivered_is_written_in_intervals_and_at_the_end(asked, profile):
    one = asked(profile)
    sent(one, properties={"DELAY": "1"})
    one.pass_time(1_000)
    assert not [saving for saving in one.taken(Saving) if saving.name == DELAY_OFFSETS]
    one.pass_time(10_000)
    written = [bytes(saving.data) for saving in one.taken(Saving) if saving.name == DELAY_OFFSETS]
    assert DelayOffsets.decode(written[-1]).offset_table == {1: 1}
    one.broker.stop(one.now)
    assert not [saving for saving in one.taken(Saving) if saving.name == DELAY_OFFSETS]
    told = DelayOffsets.decode(one.ask(RequestCode.GET_ALL_DELAY_OFFSET).body)
    assert told.offset_table == {1: 1}
    assert (told.data_version is None) == (profile == "4.9")


def test_a_slave_delivers_nothing(asked, profile):
    one = asked(profile, brokerRole="SLAVE", brokerId=1)
    waiting = Message(topic="T", body=b"x", properties={"DELAY": "1"}, store_host="127.0.0.1:10911")
    one.broker.delays.put(waiting, one.now)
    one.pass_time(100_000)
    assert queue_of(one, "T") == []


# -- times (5.x) ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "properties",
    [
        {"TIMER_DELAY_SEC": "2"},
        {"TIMER_DELAY_MS": "2000"},
        {"TIMER_DELIVER_MS": "1700000002000"},
    ],
)
def test_a_message_is_delivered_at_the_time_that_it_names(asked, properties):
    one = asked("5.3")
    reply = sent(one, queue=1, properties=properties)
    assert (reply.code, reply.ext["queueId"]) == (0, "1")
    assert reply.ext["recallHandle"]
    waiting = queue_of(one, WHEEL)[0]
    assert waiting.properties["TIMER_OUT_MS"] == "1700000001000"
    one.pass_time(1_999)
    assert queue_of(one, "T", 1) == []
    one.pass_time(1)
    delivered = queue_of(one, "T", 1)
    assert len(delivered) == 1
    assert delivered[0].properties.items() >= waiting.properties.items()


def test_times_mean_nothing_to_49(asked):
    one = asked("4.9")
    assert "recallHandle" not in sent(one, properties={"TIMER_DELAY_SEC": "2"}).ext
    assert len(queue_of(one, "T")) == 1


def test_a_time_that_has_passed_is_no_delay(asked):
    one = asked("5.3")
    sent(one, properties={"TIMER_DELIVER_MS": str(one.now - 1)})
    assert len(queue_of(one, "T")) == 1


def test_a_level_goes_before_a_time(asked):
    one = asked("5.3")
    sent(one, properties={"TIMER_DELAY_SEC": "1", "DELAY": "3"})
    one.pass_time(9_999)
    assert queue_of(one, "T") == []
    one.pass_time(1)
    assert "TIMER_DELAY_SEC" not in queue_of(one, "T")[0].properties


@pytest.mark.parametrize("properties", [{"TIMER_DELAY_SEC": "259201"}, {"TIMER_DELAY_MS": "x"}])
def test_a_time_too_far_away_or_none_at_all_is_refused(asked, properties):
    one = asked("5.3")
    reply = sent(one, properties=properties)
    assert (reply.code, reply.remark.partition(",")[0]) == (13, "timer message illegal")
    assert one.broker.store.physical_range() == (0, 0)


def test_a_broker_without_a_wheel_keeps_no_times(asked):
    one = asked("5.3", timerWheelEnable=False)
    reply = sent(one, properties={"TIMER_DELAY_SEC": "1"})
    assert (reply.code, reply.remark) == (
        1,
        "accurate timer message is not enabled, timerWheelEnable is false",
    )


@pytest.mark.parametrize("cleanly", [False, True])
def test_times_survive_a_restart(cleanly):
    lasting = Lasting("5.3")
    sent(lasting.one, body=b"day", properties={"TIMER_DELAY_SEC": "86400"})
    sent(lasting.one, body=b"soon", properties={"TIMER_DELAY_SEC": "1"})
    lasting.one.pass_time(30_000)
    sent(lasting.one, body=b"later", properties={"TIMER_DELAY_SEC": "60"})
    one = lasting.restart(cleanly=cleanly)
    one.pass_time(86_500_000)
    assert [message.body for message in queue_of(one, "T")] == [b"soon", b"later", b"day"]


def test_a_list_of_timed_messages_that_cannot_be_read_is_made_again_from_the_store():
    lasting = Lasting("5.3")
    sent(lasting.one, properties={"TIMER_DELAY_SEC": "5"})
    lasting.one.broker.persist(TIMERS, b"[7")
    one = lasting.restart()
    one.pass_time(6_000)
    assert [message.body for message in queue_of(one, "T")] == [b"hello"]
