"""Messages that come back: tried again later, and in the end dead letters."""

import pytest

from harness.wire import RequestCode
from harness.wire.messages import offset_id

from .messages import place, queue_of, sent


def back(one, offset, *, version=409, **changes):
    ext = {
        "group": "G",
        "offset": offset,
        "delayLevel": 0,
        "maxReconsumeTimes": 2,
        "originTopic": "T",
    } | changes
    ext = {name: value for name, value in ext.items() if value is not None}
    return one.ask(RequestCode.CONSUMER_SEND_MSG_BACK, ext, version=version)


def test_a_message_is_tried_again_after_the_third_level(asked, profile):
    one = asked(profile)
    offset = place(sent(one, properties={"TAGS": "A", "UNIQ_KEY": "U"}))
    assert back(one, offset).code == 0
    one.pass_time(9_999)
    assert queue_of(one, "%RETRY%G") == []
    one.pass_time(1)
    [message] = queue_of(one, "%RETRY%G")
    assert (message.body, message.reconsume_times) == (b"hello", 1)
    assert message.properties["RETRY_TOPIC"] == "T"
    assert message.properties["ORIGIN_MESSAGE_ID"] == offset_id("127.0.0.1:10911", offset)
    assert message.properties["DELAY"] == "3"
    assert message.properties["UNIQ_KEY"] == "U"


def test_the_delay_grows_and_the_first_topic_and_id_stay(asked, profile):
    one = asked(profile)
    offset = place(sent(one))
    back(one, offset)
    one.pass_time(10_000)
    [again] = queue_of(one, "%RETRY%G")
    back(one, again.physical_offset)
    one.pass_time(29_999)
    assert len(queue_of(one, "%RETRY%G")) == 1
    one.pass_time(1)
    third = queue_of(one, "%RETRY%G")[1]
    assert third.reconsume_times == 2
    assert third.properties["RETRY_TOPIC"] == "T"
    assert third.properties["ORIGIN_MESSAGE_ID"] == offset_id("127.0.0.1:10911", offset)
    back(one, third.physical_offset)
    [dead] = queue_of(one, "%DLQ%G")
    assert dead.reconsume_times == 3


def test_a_negative_level_makes_a_dead_letter_at_once(asked, profile):
    one = asked(profile)
    back(one, place(sent(one)), delayLevel=-1)
    assert len(queue_of(one, "%DLQ%G")) == 1
    topic = one.broker.topics.get("%DLQ%G")
    assert (topic.write_queue_nums, topic.perm) == (1, 6)


def test_the_level_that_is_asked_for_is_kept(asked, profile):
    one = asked(profile)
    back(one, place(sent(one)), delayLevel=1)
    one.pass_time(1_000)
    assert len(queue_of(one, "%RETRY%G")) == 1


@pytest.mark.parametrize(("version", "limit"), [(121, 2), (120, 16)])
def test_an_old_consumer_has_the_limit_of_its_group(asked, profile, version, limit):
    one = asked(profile)
    tried = place(sent(one, topic="X", times=2))
    back(one, tried, version=version)
    assert len(queue_of(one, "%DLQ%G")) == (limit == 2)


@pytest.mark.parametrize("offset", [1, 10**12, -1])
def test_a_missing_message_cannot_come_back(asked, profile, offset):
    one = asked(profile)
    sent(one)
    reply = back(one, offset)
    assert (reply.code, reply.remark) == (1, f"look message by offset failed, {offset}")


def test_a_group_without_retry_queues_loses_what_comes_back(asked, profile):
    one = asked(profile)
    one.broker.groups.find("G", one.now).retry_queue_nums = 0
    assert back(one, place(sent(one))).code == 0
    one.pass_time(100_000)
    assert queue_of(one, "%RETRY%G") == []


def test_what_is_refused(asked, profile):
    one = asked(profile, autoCreateSubscriptionGroup=False)
    offset = place(sent(one))
    unknown = back(one, offset, group="none")
    assert (unknown.code, unknown.remark.partition("\n")[0]) == (
        26,
        "subscription group not exist, none ",
    )
    known = asked(profile, brokerPermission=4)
    reply = back(known, 0)
    assert (reply.code, reply.remark) == (16, "the broker[127.0.0.1] sending message is forbidden")
    for missing in ("group", "delayLevel"):
        assert back(asked(profile), 0, **{missing: None}).code == 1
    assert back(asked(profile), None).code == 1


def test_a_retry_topic_that_is_not_writable_is_refused(asked, profile):
    one = asked(profile)
    one.broker.topics.create("%RETRY%G", 1, 4, one.now)
    reply = back(one, place(sent(one)))
    assert (reply.code, reply.remark) == (16, "the topic[%RETRY%G] sending message is forbidden")


@pytest.mark.parametrize("times", [15, 16, 17])
def test_a_send_to_the_retry_topic_has_the_same_limit(asked, profile, times):
    one = asked(profile)
    sent(one, topic="%RETRY%G", times=times, properties={"DELAY": "1"})
    one.pass_time(1_000)
    dead = times > 16 or (times == 16 and profile == "4.9")
    assert len(queue_of(one, "%DLQ%G")) == dead
    assert len(queue_of(one, "%RETRY%G")) == (not dead)
