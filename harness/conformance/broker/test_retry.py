"""Chapter retry: messages that consumers send back, for another try or as dead letters."""

import struct

from harness.conformance import ABSENT, ANYTHING, Between, Including, Matching, Reply, case
from harness.conformance.broker.whole import judge_copy, plain_properties, send_whole, sent_members
from harness.session import BrokerSession
from harness.wire import RequestCode, ResponseCode
from harness.wire.messages import MESSAGE_MAGIC, decode_offset_id

SUCCESS = ResponseCode.SUCCESS
LOCKED = 60
"""Protocol seconds for which a lock lasts."""
BODY_AT = 88
"""Bytes of a stored message before its body."""


def stored(bk: BrokerSession, topic: str, **more: object) -> int:
    """Sends a message and returns its offset in the log."""
    sent = bk.send(topic, **more).ids >> Reply(SUCCESS)  # type: ignore[arg-type]
    return decode_offset_id(sent.value[0])[1]


@case(kills=["sent-back-is-lost"], clock=True)
def test_comes_back_after_its_level(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.send_back(group, stored(bk, topic, body=b"again"), 2, topic=topic) >> Reply(SUCCESS)
    bk.advance(5 + 1 + bk.jitter)
    bk.pull(f"%RETRY%{group}", group=group).bodies.eventually() >> Reply(SUCCESS, [b"again"])


@case(kills=["sent-back-at-once"], clock=True)
def test_not_before_its_level(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    sent = bk.send_back(group, stored(bk, topic), 4, topic=topic) >> Reply(SUCCESS)
    bk.advance_short_of(29, since=sent)
    bk.max_offset(f"%RETRY%{group}", 0).offset >> Reply(SUCCESS, 0)


@case(kills=["sent-back-at-level-one", "sent-back-is-lost"], clock=True)
def test_first_delay_is_level_three(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    sent = bk.send_back(group, stored(bk, topic), 0, topic=topic) >> Reply(SUCCESS)
    bk.advance_short_of(9, since=sent)
    bk.max_offset(f"%RETRY%{group}", 0).offset >> Reply(SUCCESS, 0)
    bk.advance(3 + bk.jitter)
    pull = bk.pull(f"%RETRY%{group}", group=group)
    pull.properties.eventually() >> Reply(SUCCESS, [Including({"DELAY": "3"})])


@case(kills=["retry-delay-does-not-grow"], clock=True)
def test_delay_grows(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    offset = stored(bk, topic, reconsumed=1)
    bk.send_back(group, offset, 0, topic=topic) >> Reply(SUCCESS)
    bk.advance(30 + 1 + bk.jitter)
    pull = bk.pull(f"%RETRY%{group}", group=group)
    pull.properties.eventually() >> Reply(SUCCESS, [Including({"DELAY": "4"})])


@case(kills=["retries-not-counted"], clock=True)
def test_counts_how_often(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.send_back(group, stored(bk, topic, reconsumed=2), 1, topic=topic) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    times = bk.pull(f"%RETRY%{group}", group=group).seen("times", lambda one: one.reconsume_times)
    times.eventually() >> Reply(SUCCESS, [3])


@case(kills=["retry-loses-properties", "retry-loses-flag"], clock=True)
def test_keeps_what_was_sent(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    offset = stored(bk, topic, tags="A", keys="k", properties={"x": "y"}, flag_of_user=7)
    bk.send_back(group, offset, 1, topic=topic) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    pull = bk.pull(f"%RETRY%{group}", group=group)
    pull.properties.eventually() >> Reply(SUCCESS, [Including({"TAGS": "A", "KEYS": "k", "x": "y"})])
    pull.seen("flags", lambda one: one.flag) >> Reply(SUCCESS, [7])


@case(kills=["retry-without-origin"], clock=True)
def test_names_its_origin(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    sent = bk.send(topic).ids >> Reply(SUCCESS)
    bk.send_back(group, decode_offset_id(sent.value[0])[1], 1, topic=topic) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    origin = Including({"RETRY_TOPIC": topic, "ORIGIN_MESSAGE_ID": sent.value[0]})
    bk.pull(f"%RETRY%{group}", group=group).properties.eventually() >> Reply(SUCCESS, [origin])


@case(kills=["origin-of-last-retry"], clock=True)
def test_origin_stays(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    first = {"RETRY_TOPIC": "first", "ORIGIN_MESSAGE_ID": "0" * 32}
    bk.send_back(group, stored(bk, topic, properties=first), 1, topic=topic) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    pull = bk.pull(f"%RETRY%{group}", group=group)
    pull.properties.eventually() >> Reply(SUCCESS, [Including(first)])


@case(kills=["negative-level-is-retried"])
def test_negative_level_is_dead_letter(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.send_back(group, stored(bk, topic, body=b"dead"), -1, topic=topic) >> Reply(SUCCESS)
    bk.pull(f"%DLQ%{group}", group=group).bodies.eventually() >> Reply(SUCCESS, [b"dead"])


@case(kills=["no-limit-of-retries", "limit-of-no-retries-is-none"])
def test_limit_makes_dead_letter(bk: BrokerSession) -> None:
    topic = bk.topic()
    for limit in (3, 0):
        group = bk.group(f"limit{limit}")
        offset = stored(bk, topic, body=b"dead", reconsumed=limit)
        bk.send_back(group, offset, 1, topic=topic, most=limit) >> Reply(SUCCESS)
        bk.pull(f"%DLQ%{group}", group=group).bodies.eventually() >> Reply(SUCCESS, [b"dead"])


@case(kills=["retry-limit-one-less"])
def test_limit_is_not_reached_before(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    offset = stored(bk, topic, reconsumed=2)
    bk.send_back(group, offset, 1, topic=topic, most=3) >> Reply(SUCCESS)
    bk.max_offset(f"%DLQ%{group}", 0).offset >> Reply(SUCCESS, 0)


@case(kills=["limit-of-old-consumers-heeded", "groups-have-no-limit"])
def test_old_consumers_have_the_limit_of_the_group(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.create_group(group, retryMaxTimes=3) >> Reply(SUCCESS)
    twice, thrice = (stored(bk, topic, reconsumed=times) for times in (2, 3))
    bk.send_back(group, twice, 1, topic=topic, most=1, version=120) >> Reply(SUCCESS)
    bk.max_offset(f"%DLQ%{group}", 0).offset >> Reply(SUCCESS, 0)
    bk.send_back(group, twice, 1, topic=topic, most=1, version=121) >> Reply(SUCCESS)
    bk.send_back(group, thrice, 1, topic=topic, most=9, version=120) >> Reply(SUCCESS)
    bk.send_back(group, thrice, 1, topic=topic, most=None) >> Reply(SUCCESS)
    bk.max_offset(f"%DLQ%{group}", 0).offset.eventually() >> Reply(SUCCESS, 3)


@case(kills=["missing-message-comes-back"])
def test_unknown_message_is_an_error(bk: BrokerSession) -> None:
    group = bk.group()
    for offset in (10**12, -1):
        refused = Reply(ResponseCode.SYSTEM_ERROR, remark=f"look message by offset failed, {offset}")
        bk.send_back(group, offset, 1, topic="T") >> refused


@case(
    kills=["unknown-group-comes-back"],
    setup={"autoCreateSubscriptionGroup": "false"},
)
def test_unknown_group_is_refused(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    refused = Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)
    bk.send_back(group, stored(bk, topic), 1, topic=topic) >> refused


@case(kills=["sends-to-retry-have-no-limit", "limit-of-no-retries-of-sends-is-none"])
def test_send_beyond_the_limit_is_dead_letter(bk: BrokerSession) -> None:
    for limit in (3, 0):
        group = bk.group(f"limit{limit}")
        bk.send(f"%RETRY%{group}", b"dead", reconsumed=limit + 1, ext={"l": f"{limit}"}) >> Reply(SUCCESS)
        bk.pull(f"%DLQ%{group}", group=group).bodies.eventually() >> Reply(SUCCESS, [b"dead"])


@case(kills=["sends-to-retry-have-one-more"])
def test_send_at_the_limit_is_dead_letter(bk: BrokerSession) -> None:
    group = bk.group()
    bk.send(f"%RETRY%{group}", b"dead", reconsumed=3, ext={"l": "3"}) >> Reply(SUCCESS)
    bk.pull(f"%DLQ%{group}", group=group).bodies.eventually() >> Reply(SUCCESS, [b"dead"])


@case(kills=["sends-to-retry-have-one-less"])
def test_send_at_the_limit_is_tried_again(bk: BrokerSession) -> None:
    group = bk.group()
    bk.send(f"%RETRY%{group}", b"again", reconsumed=3, ext={"l": "3"}) >> Reply(SUCCESS)
    bk.pull(f"%RETRY%{group}", group=group).bodies.eventually() >> Reply(SUCCESS, [b"again"])


@case(kills=["sends-to-retry-know-no-group", "limit-of-old-producers-heeded"])
def test_send_has_the_limit_of_its_group(bk: BrokerSession) -> None:
    group = bk.group()
    retry, dead = f"%RETRY%{group}", f"%DLQ%{group}"
    bk.create_group(group, retryMaxTimes=3) >> Reply(SUCCESS)
    for body, times in ((b"2", 2), (b"4", 4)):
        bk.send(retry, body, reconsumed=times) >> Reply(SUCCESS)
    for body, version in ((b"120", 120), (b"121", 121)):
        bk.send(retry, body, reconsumed=4, ext={"l": "9"}, version=version) >> Reply(SUCCESS)
    bk.pull(retry, group=group).bodies.eventually() >> Reply(SUCCESS, [b"2", b"121"])
    bk.pull(dead, group=group).bodies.eventually() >> Reply(SUCCESS, [b"4", b"120"])


@case(kills=["locks-do-not-count-for-retries", "locks-that-are-over-count-for-retries"], clock=True)
def test_send_while_the_group_has_locks_is_dead_letter(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(), bk.group(), bk.group("other")

    def tried(retried: int, dead: int) -> None:
        bk.send(f"%RETRY%{group}", reconsumed=1, ext={"l": "3"}) >> Reply(SUCCESS)
        bk.max_offset(f"%RETRY%{group}").offset.eventually() >> Reply(SUCCESS, retried)
        bk.max_offset(f"%DLQ%{group}").offset.eventually() >> Reply(SUCCESS, dead)

    bk.lock(other, "one", [(topic, 0)]).queues >> Reply(SUCCESS, [(topic, 0)])
    tried(1, 0)
    bk.lock(group, "one", [(topic, 0)]).queues >> Reply(SUCCESS, [(topic, 0)])
    tried(1, 1)
    bk.unlock(group, "one", [(topic, 0)]) >> Reply(SUCCESS)
    tried(2, 1)
    locked = bk.lock(group, "one", [(topic, 1)]).queues >> Reply(SUCCESS, [(topic, 1)])
    bk.advance_past(LOCKED, since=locked)
    tried(3, 1)


@case(kills=["sends-to-retry-need-no-group"], setup={"autoCreateSubscriptionGroup": "false"})
def test_send_of_an_unknown_group_is_refused(bk: BrokerSession) -> None:
    group, known = bk.group(), bk.group("known")
    bk.create_group(known) >> Reply(SUCCESS)
    remark = Matching(f"^subscription group not exist, {group} ")
    refused = Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=remark)
    bk.send(f"%RETRY%{group}", b"lost") >> refused
    bk.max_offset(f"%RETRY%{group}").offset >> Reply(SUCCESS, 0)
    bk.send(f"%RETRY%{known}", b"again") >> Reply(SUCCESS)
    bk.pull(f"%RETRY%{known}", group=known).bodies.eventually() >> Reply(SUCCESS, [b"again"])


@case(kills=["anything-comes-back"], own_server=True)
def test_place_inside_a_message_is_an_error(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.send(topic) >> Reply(SUCCESS)
    end = bk.pull(topic).seen("end in the log", lambda one: one.physical_offset + one.size)
    offset = (end.eventually() >> Reply(SUCCESS, [ANYTHING])).value[0] + BODY_AT
    head = struct.pack(">II20xq", 40, MESSAGE_MAGIC, offset)
    bk.send(topic, head + bytes(100)) >> Reply(SUCCESS)
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=f"look message by offset failed, {offset}")
    bk.send_back(group, offset, -1, topic=topic) >> refused
    bk.send_back(group, offset - BODY_AT, -1, topic=topic) >> Reply(SUCCESS)
    bk.pull(f"%DLQ%{group}", group=group).bodies.eventually() >> Reply(SUCCESS, [head + bytes(100)])


@case(kills=["brokers-always-take-back"], own_server=True)
def test_broker_that_may_not_be_written(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    offset = stored(bk, topic, body=b"dead")
    bk.update_config({"brokerPermission": "4"}) >> Reply(SUCCESS)
    remark = Matching(r"^the broker\[[0-9.]+\] sending message is forbidden$")
    bk.send_back(group, offset, -1, topic=topic) >> Reply(ResponseCode.NO_PERMISSION, remark=remark)
    bk.max_offset(f"%DLQ%{group}").offset >> Reply(SUCCESS, 0)
    bk.update_config({"brokerPermission": "6"}) >> Reply(SUCCESS)
    bk.send_back(group, offset, -1, topic=topic) >> Reply(SUCCESS)
    bk.pull(f"%DLQ%{group}", group=group).bodies.eventually() >> Reply(SUCCESS, [b"dead"])


@case(kills=["groups-without-queues-retry"])
def test_group_without_retry_queues(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    offset = stored(bk, topic, body=b"dead")
    bk.create_group(group, retryQueueNums=0) >> Reply(SUCCESS)
    bk.send_back(group, offset, -1, topic=topic) >> Reply(SUCCESS)
    made = Including({f"%RETRY%{group}": ABSENT, f"%DLQ%{group}": ABSENT, topic: ANYTHING})
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": made}))
    bk.create_group(group, retryQueueNums=2) >> Reply(SUCCESS)
    bk.send_back(group, offset, -1, topic=topic) >> Reply(SUCCESS)
    bk.pull(f"%DLQ%{group}", group=group).bodies.eventually() >> Reply(SUCCESS, [b"dead"])


@case(kills=["retry-topics-are-always-open"])
def test_retry_topic_that_may_not_be_written(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    offset, retry = stored(bk, topic, body=b"dead"), f"%RETRY%{group}"
    bk.create_topic(retry, perm=4) >> Reply(SUCCESS)
    remark = f"the topic[{retry}] sending message is forbidden"
    bk.send_back(group, offset, -1, topic=topic) >> Reply(ResponseCode.NO_PERMISSION, remark=remark)
    bk.max_offset(f"%DLQ%{group}").offset >> Reply(SUCCESS, 0)
    bk.create_topic(retry, perm=6) >> Reply(SUCCESS)
    bk.send_back(group, offset, -1, topic=topic) >> Reply(SUCCESS)
    bk.pull(f"%DLQ%{group}", group=group).bodies.eventually() >> Reply(SUCCESS, [b"dead"])


@case(kills=["fields-of-what-comes-back-may-be-missing"])
def test_missing_or_wrong_field_is_refused(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    said = {"group": group, "offset": str(stored(bk, topic, body=b"dead")), "delayLevel": "-1"}
    code, origin = RequestCode.CONSUMER_SEND_MSG_BACK, {"originTopic": topic}
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    for name in said:
        bk.call(code, {**said, **origin, name: None}) >> refused
    for name in ("offset", "delayLevel"):
        bk.call(code, {**said, **origin, name: "one"}) >> refused
    bk.call(code, {**said, **origin}) >> Reply(SUCCESS)
    bk.pull(f"%DLQ%{group}", group=group).bodies.eventually() >> Reply(SUCCESS, [b"dead"])


@case(kills=["retry-topics-need-a-default"])
def test_send_without_a_default_creates_the_topic(bk: BrokerSession) -> None:
    group = bk.group()
    bk.send(f"%RETRY%{group}", b"again", default_topic=bk.name("none"), default_queues=3) >> Reply(SUCCESS)
    bk.pull(f"%RETRY%{group}", group=group).bodies.eventually() >> Reply(SUCCESS, [b"again"])
    made = Including({"readQueueNums": 1, "writeQueueNums": 1, "perm": 6})
    table = Including({f"%RETRY%{group}": made})
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": table}))


@case(kills=["dead-letters-are-delayed"])
def test_dead_letter_is_not_delayed(bk: BrokerSession) -> None:
    group, late = bk.group(), {"DELAY": "9", "mine": "x"}
    bk.send(f"%RETRY%{group}", b"dead", reconsumed=4, ext={"l": "3"}, properties=late) >> Reply(SUCCESS)
    pull = bk.pull(f"%DLQ%{group}", group=group)
    pull.properties.eventually() >> Reply(SUCCESS, [Including({"DELAY": "-1", "mine": "x"})])


@case(kills=["dead-letters-49-come-at-once"], clock=True)
def test_dead_letter_keeps_its_delay(bk: BrokerSession) -> None:
    group, late = bk.group(), {"DELAY": "2", "mine": "x"}
    sent = bk.send(f"%RETRY%{group}", b"dead", reconsumed=4, ext={"l": "3"}, properties=late)
    told = sent >> Reply(SUCCESS)
    bk.advance_short_of(4, since=told)
    bk.max_offset(f"%DLQ%{group}", 0).offset >> Reply(SUCCESS, 0)
    bk.advance(2 + bk.jitter)
    pull = bk.pull(f"%DLQ%{group}", group=group)
    pull.properties.eventually() >> Reply(SUCCESS, [Including(late)])
    pull.bodies >> Reply(SUCCESS, [b"dead"])


@case(kills=["dead-letters-have-two-queues", "retries-have-one-queue", "retry-topics-know-no-unit"])
def test_topics_of_a_group(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(), bk.group(), bk.group("other")
    bk.create_group(group, retryQueueNums=3) >> Reply(SUCCESS)
    offset = stored(bk, topic)
    for level in (1, -1):
        bk.send_back(group, offset, level, topic=topic, ext={"unitMode": "true"}) >> Reply(SUCCESS)
    bk.send(f"%RETRY%{other}", reconsumed=9, ext={"l": "3"}) >> Reply(SUCCESS)

    def made(queues: int, flag: int) -> Including:
        shown = {"readQueueNums": queues, "writeQueueNums": queues, "perm": 6, "topicSysFlag": flag}
        return Including(shown)

    table = {f"%RETRY%{group}": made(3, 2), f"%DLQ%{group}": made(1, 0), f"%DLQ%{other}": made(1, 0)}
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": Including(table)}))


@case(kills=["retries-come-from-the-broker", "retries-lose-their-bits"], clock=True)
def test_comes_back_as_a_whole(bk: BrokerSession) -> None:
    topic, group, connection = bk.topic(), bk.group(), bk.connect()
    plain = plain_properties(bk, connection)
    origin = send_whole(bk, topic, connection)
    place = decode_offset_id(origin)[1]
    bk.send_back(group, place, 1, topic=topic) >> Reply(SUCCESS)
    bk.send_back(group, place, -1, topic=topic) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    sent = sent_members(bk, topic, connection)
    for name, copy in (("RETRY", "sent back, to be retried"), ("DLQ", "sent back, dead")):
        pull = bk.pull(f"%{name}%{group}", group=group)
        judge_copy(pull, copy, sent, plain, group=group, origin=origin, level=1)


@case(kills=["dead-letters-of-sends-come-from-the-broker"])
def test_dead_letter_of_a_send_is_the_message(bk: BrokerSession) -> None:
    topic, group, connection = bk.topic(), bk.group(), bk.connect()
    plain, sent = plain_properties(bk, connection), sent_members(bk, topic, connection)
    send_whole(bk, f"%RETRY%{group}", connection, most_tries="2")
    pull = bk.pull(f"%DLQ%{group}", group=group)
    judge_copy(pull, "sent once too often, dead", sent, plain, group=group)


@case(kills=["marks-of-retry-topics-stay"])
def test_dead_letter_is_marked_as_its_topic(bk: BrokerSession) -> None:
    group = bk.group()
    bk.create_topic(f"%RETRY%{group}", 1, filter_type="MULTI_TAG") >> Reply(SUCCESS)
    for times in (1, 9):
        bk.send(f"%RETRY%{group}", reconsumed=times, ext={"l": "3"}) >> Reply(SUCCESS)
    for name, mark in (("RETRY", 2), ("DLQ", 0)):
        pull = bk.pull(f"%{name}%{group}", group=group)
        pull.seen("mark", lambda one: one.sys_flag & 2).eventually() >> Reply(SUCCESS, [mark])


@case(kills=["long-topics-lose-messages"])
def test_topic_that_is_too_long(bk: BrokerSession) -> None:
    topic, short, long = bk.topic(), bk.group().ljust(122, "x"), bk.group().ljust(123, "x")
    offset = stored(bk, topic, body=b"dead")
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark="MESSAGE_ILLEGAL")
    bk.send_back(long, offset, -1, topic=topic) >> refused
    bk.max_offset(f"%DLQ%{long}").offset >> Reply(SUCCESS, 0)
    bk.send_back(short, offset, -1, topic=topic) >> Reply(SUCCESS)
    bk.pull(f"%DLQ%{short}", group=short).bodies.eventually() >> Reply(SUCCESS, [b"dead"])


@case(kills=["delayed-topics-have-any-length"])
def test_retry_topic_that_is_too_long(bk: BrokerSession) -> None:
    topic, short, long = bk.topic(), bk.group().ljust(120, "x"), bk.group().ljust(121, "x")
    offset = stored(bk, topic, body=b"again")
    bk.send_back(long, offset, 1, topic=topic) >> Reply(ResponseCode.SYSTEM_ERROR, remark="MESSAGE_ILLEGAL")
    bk.send_back(short, offset, 1, topic=topic) >> Reply(SUCCESS)


@case(kills=["delayed-topics-have-any-length", "retry-topics-have-one-limit"], clock=True)
def test_long_retry_topic(bk: BrokerSession) -> None:
    topic, short, long = bk.topic(), bk.group().ljust(248, "x"), bk.group().ljust(249, "x")
    offset = stored(bk, topic, body=b"again")
    bk.send_back(long, offset, 1, topic=topic) >> Reply(ResponseCode.SYSTEM_ERROR, remark="MESSAGE_ILLEGAL")
    bk.send_back(short, offset, 1, topic=topic) >> Reply(SUCCESS)
    bk.advance(2 + bk.jitter)
    retry = f"%RETRY%{short}"
    pull = bk.pull(retry, group=short).seen("topic and body", lambda one: (one.topic, one.body))
    pull.eventually() >> Reply(SUCCESS, [(retry, b"again")])


@case(kills=["groups-have-long-names", "groups-have-shorter-names"], clock=True)
def test_group_with_a_long_name_is_unknown(bk: BrokerSession) -> None:
    topic, short, long = bk.topic(), bk.group().ljust(120, "x"), bk.group().ljust(121, "x")
    offset = stored(bk, topic, body=b"again")
    for level in (1, -1):
        bk.send_back(long, offset, level, topic=topic) >> Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)
        bk.send_back(short, offset, level, topic=topic) >> Reply(SUCCESS)
    bk.advance(2 + bk.jitter)
    for own in (f"%RETRY%{short}", f"%DLQ%{short}"):
        pull = bk.pull(own, group=short).seen("topic and body", lambda one: (one.topic, one.body))
        pull.eventually() >> Reply(SUCCESS, [(own, b"again")])


@case(kills=["messages-come-back-in-queue-zero"], clock=True)
def test_come_back_in_every_queue(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.create_group(group, retryQueueNums=2) >> Reply(SUCCESS)
    offset = stored(bk, topic)
    for _ in range(32):
        bk.send_back(group, offset, 1, topic=topic) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    for queue in (0, 1):
        bk.max_offset(f"%RETRY%{group}", queue).offset.eventually() >> Reply(SUCCESS, Between(1, 31))
