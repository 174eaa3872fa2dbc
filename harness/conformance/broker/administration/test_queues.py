"""Chapter administration: queues, entry by entry and by the times of their messages."""

from datetime import datetime
from typing import Any

from harness.conformance import ABSENT, ANYTHING, Between, Including, Reply, case
from harness.conformance.broker.expiring import OLD, begins_late
from harness.conformance.broker.tools import ERROR, SUCCESS, as_json, asked
from harness.session import BrokerSession, Exchange
from harness.session.broker.requests import consuming
from harness.session.exchange import NotSo
from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.messages import Message, tag_hash


def entries(bk: BrokerSession, topic: str, queue: int, index: int, count: int = 9, **ext: str) -> Exchange:
    """QUERY_CONSUME_QUEUE (321)."""
    where = {"topic": topic, "queueId": str(queue), "index": str(index), "count": str(count)}
    return asked(bk, RequestCode.QUERY_CONSUME_QUEUE, None, **where, **ext)


def _entry(message: Message) -> dict[str, object]:
    """The entry of a stored message."""
    tags = message.properties.get("TAGS")
    hashed = 0 if tags is None else tag_hash(tags)
    return {
        "eval": False,
        "physicOffset": message.physical_offset,
        "physicSize": message.size,
        "tagsCode": hashed,
    }


@case(kills=["entries-from-the-beginning", "entries-without-end", "entries-without-tags"])
def test_entries_of_a_queue_are_shown(bk: BrokerSession) -> None:
    topic = bk.topic()
    for tags in (None, "A", "straße"):
        bk.send(topic, queue=2, tags=tags) >> Reply(SUCCESS)
    stored = bk.pull(topic, 2).seen("entries", _entry).eventually() >> Reply(SUCCESS, [ANYTHING] * 3)
    bounds = {"maxQueueIndex": 3, "minQueueIndex": 0}
    entries(bk, topic, 2, 0) >> Reply(SUCCESS, {**bounds, "queueData": stored.value})
    entries(bk, topic, 2, 1, 1) >> Reply(SUCCESS, {**bounds, "queueData": stored.value[1:2]})
    entries(bk, topic, 2, 0, 0) >> Reply(SUCCESS, {**bounds, "queueData": []})


@case(kills=["entries-of-any-queue", "entries-beyond-the-end-are-an-error"])
def test_entries_beyond_a_queue_are_none(bk: BrokerSession) -> None:
    topic, unknown = bk.topic(queues=4), bk.name("unknown")
    for _ in range(2):
        bk.send(topic, queue=1) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 2)
    for index in (2, -1):
        remark = f"Index {index} of 1@{topic} is not exist!"
        entries(bk, topic, 1, index) >> Reply(SUCCESS, None, remark=remark)
    for name, queue in ((topic, 4), (unknown, 1)):
        entries(bk, name, queue, 0) >> Reply(ERROR, remark=f"{queue}@{name} is not exist!")


@case(kills=["entries-with-any-subscription", "entries-without-subscription"])
def test_entries_with_the_subscription_of_a_group(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(), bk.group(), bk.group("other")
    bk.send(topic) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    client, connection = bk.client()
    wanted = consuming(group, {topic: "A || B"}, version=7)
    bk.heartbeat(client, consumers=[wanted], on=connection) >> Reply(SUCCESS)
    (subscription,) = wanted["subscriptionDataSet"]
    shown = {"filterData": "null", "subscriptionData": Including(subscription)}
    entries(bk, topic, 0, 0, consumerGroup=group) >> Reply(SUCCESS, Including(shown))
    offline = {"filterData": f"{other}@{topic} is not online!", "subscriptionData": ABSENT}
    entries(bk, topic, 0, 0, consumerGroup=other) >> Reply(SUCCESS, Including(offline))
    entries(bk, topic, 0, 0) >> Reply(SUCCESS, Including({"filterData": ABSENT, "subscriptionData": ABSENT}))


TIMES = ("minTimeStamp", "maxTimeStamp", "consumeTimeStamp")


def _spans(reply: Command) -> dict[int, tuple[object, ...]]:
    """Times of the first, last and consumed message and the delay, by queue. Texts must say the same."""
    shown = {}
    for span in as_json(reply)["consumeTimeSpanSet"]:
        for name in TIMES:
            _judge_text(span[name], span[f"{name}Str"])
        shown[span["messageQueue"]["queueId"]] = (*(span[name] for name in TIMES), span["delayTime"])
    return shown


def _judge_text(time: int, text: str) -> None:
    """A time as a text is that time in some time zone, all of which differ by quarters of an hour."""
    try:
        told = datetime.strptime(f"{text}000+0000", "%Y-%m-%d#%H:%M:%S:%f%z")
    except ValueError as problem:
        raise NotSo(f"{text!r} is no time: {problem}") from None
    if round(told.timestamp() * 1000 - time) % 900_000:
        raise NotSo(f"{text!r} is not the time {time}")


def spans(bk: BrokerSession, topic: str, group: str) -> Exchange:
    """QUERY_CONSUME_TIME_SPAN (303)."""
    return asked(bk, RequestCode.QUERY_CONSUME_TIME_SPAN, _spans, topic=topic, group=group)


@case(
    kills=["spans-swap-their-ends", "spans-forget-the-group", "spans-are-late", "spans-without-delay"],
    clock=True,
)
def test_times_of_queues_are_shown(bk: BrokerSession) -> None:
    topic, group, none = bk.name("T"), bk.group(), (-1, -1, -1)
    bk.create_topic(topic, 3, write_queues=2) >> Reply(SUCCESS)
    bk.create_group(group) >> Reply(SUCCESS)
    for _ in range(3):
        bk.send(topic, queue=1) >> Reply(SUCCESS)
        bk.advance(2)
    stored = bk.pull(topic, 1).seen("store times", lambda one: one.store_timestamp).eventually()
    first, second, third = (stored >> Reply(SUCCESS, [ANYTHING] * 3)).value
    bk.commit_offset(group, topic, 1, 2) >> Reply(SUCCESS)
    delay = Between(2_000, bk.broker_time() - third + 60_000)
    spans(bk, topic, group) >> Reply(SUCCESS, {0: (*none, ANYTHING), 1: (first, third, second, delay)})
    for queue, offset in ((0, 0), (1, 3)):
        bk.commit_offset(group, topic, queue, offset) >> Reply(SUCCESS)
    done: dict[int, Any] = {0: (*none, 0), 1: (first, third, third, 0)}
    spans(bk, topic, group) >> Reply(SUCCESS, done)


@case(kills=["spans-of-any-topic"])
def test_times_of_an_unknown_topic_are_refused(bk: BrokerSession) -> None:
    topic, known = bk.name("T"), bk.topic()
    refused = Reply(ResponseCode.TOPIC_NOT_EXIST, remark=f"topic[{topic}] not exist")
    spans(bk, topic, bk.group()) >> refused
    spans(bk, known, bk.group()) >> Reply(SUCCESS, dict.fromkeys(range(4), (-1, -1, -1, ANYTHING)))


@case(
    "bk.administration.entries-begin-with-the-first-message",
    "bk.administration.times-begin-with-the-first-message",
    kills=["entries-begin-at-zero", "spans-begin-at-zero"],
    clock=True,
    own_server=True,
    setup=OLD,
)
def test_entries_and_times_begin_with_the_first_message(bk: BrokerSession) -> None:
    """Entries and times of a queue begin with the first message that is left."""
    topic, group = bk.topic(queues=2), bk.group()
    low = begins_late(bk, topic)
    shown = Including({"minQueueIndex": low, "maxQueueIndex": 6})
    entries(bk, topic, 1, low, 1) >> Reply(SUCCESS, shown)
    stored = bk.pull(topic, 1, low).seen("store times", lambda one: one.store_timestamp)
    times = (stored >> Reply(SUCCESS, [ANYTHING] * (6 - low))).value
    of_one = (times[0], times[-1], times[0], ANYTHING)
    spans(bk, topic, group) >> Reply(SUCCESS, Including({1: of_one}))
