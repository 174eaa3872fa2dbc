"""Chapter topics: how topics and their queues are shown."""

from harness.conformance import (
    ANYTHING,
    Between,
    Including,
    Reply,
    case,
)
from harness.conformance.broker.expiring import OLD, begins_late
from harness.conformance.broker.tools import as_json, asked, queue_name, tables_of
from harness.conformance.broker.topics.topics import SUCCESS, SYSTEM, status
from harness.conformance.broker.whole import pulled
from harness.session import BrokerSession, Exchange
from harness.session.exchange import NotSo, View
from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import TopicList
from harness.wire.fastjson import document


def part(bk: BrokerSession, first: str | None, most: str | None, version: str | None = None) -> Exchange:
    """GET_ALL_TOPIC_CONFIG (21) of a part, seen as the names of its topics."""
    said = {"topicSeq": first, "maxTopicNum": most, "dataVersion": version}
    ext = {name: text for name, text in said.items() if text is not None}
    return asked(bk, RequestCode.GET_ALL_TOPIC_CONFIG, _names_of_topics, **ext)


def _names_of_topics(reply: Command) -> list[str]:
    return sorted(as_json(reply)["topicConfigTable"])


@case(
    kills=[
        "tables-are-shown-as-a-whole",
        "any-version-goes-on",
        "parts-do-not-show-the-total",
        "last-parts-are-refused",
    ]
)
def test_table_comes_in_parts(bk: BrokerSession) -> None:
    for hint in "xyz":
        bk.topic(hint)
    table = Including({"topicConfigTable": ANYTHING, "dataVersion": Including({"counter": ANYTHING})})
    whole = (asked(bk, RequestCode.GET_ALL_TOPIC_CONFIG) >> Reply(SUCCESS, table)).value
    names, version = sorted(whole["topicConfigTable"]), document(whole["dataVersion"]).decode()
    other = document({**whole["dataVersion"], "counter": 1_000_000}).decode()
    total = Including({"totalTopicNum": str(len(names))})
    part(bk, None, None) >> Reply(SUCCESS, names, ext=total)
    part(bk, "0", "5") >> Reply(SUCCESS, names[:5], ext=total)
    part(bk, "3", "4", version) >> Reply(SUCCESS, names[3:7], ext=total)
    for told in (other, "", None):
        part(bk, "3", "4", told) >> Reply(SUCCESS, names[:4], ext=total)
    part(bk, str(len(names) - 2), "5", version) >> Reply(SUCCESS, names[-2:], ext=total)
    part(bk, "3", None, version) >> Reply(SUCCESS, names[3:], ext=total)
    part(bk, str(len(names)), "4", version) >> Reply(SUCCESS, [], ext=total)


@case(kills=["parts-may-be-nothing"])
def test_part_that_cannot_be_is_refused(bk: BrokerSession) -> None:
    part(bk, "0", "1") >> Reply(SUCCESS, [ANYTHING])
    part(bk, "0", "0") >> Reply(ResponseCode.SYSTEM_ERROR)
    part(bk, None, "4") >> Reply(ResponseCode.SYSTEM_ERROR)
    part(bk, None, None, "") >> Reply(ResponseCode.SYSTEM_ERROR)


@case(kills=["status-is-empty", "status-without-offsets"])
def test_status_shows_each_queue(bk: BrokerSession) -> None:
    topic = bk.topic(queues=2)
    bk.send(topic, queue=1) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 1)
    status(bk, topic) >> Reply(SUCCESS, {0: (0, 0), 1: (0, 1)})


def whole_status(bk: BrokerSession, **of_line: object) -> None:
    """A queue has two messages, stored a second apart, the other one none."""
    topic = bk.topic(queues=2)
    bk.send(topic, queue=1) >> Reply(SUCCESS)
    bk.advance(1)
    bk.send(topic, queue=1) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 2)
    none = {"lastUpdateTimestamp": 0, "maxOffset": 0, "minOffset": 0}
    time = pulled(bk, topic, 1, 1)["store_timestamp"]
    two = {**none, "lastUpdateTimestamp": time, "maxOffset": 2}
    table = {queue_name(bk, topic, 0): none, queue_name(bk, topic, 1): two}
    shown = asked(bk, RequestCode.GET_TOPIC_STATS_INFO, tables_of, topic=topic)
    shown >> Reply(SUCCESS, {"offsetTable": table, **of_line})


@case(kills=["status-without-times", "status-of-the-message-before", "tables-of-another-broker"], clock=True)
def test_status_has_times(bk: BrokerSession) -> None:
    whole_status(bk)
    for writable in (0, 1):
        topic = bk.name("T")
        bk.create_topic(topic, 3, write_queues=writable) >> Reply(SUCCESS)
        status(bk, topic) >> Reply(SUCCESS, dict.fromkeys(range(writable), (0, 0)))


@case(kills=["status-of-queues-to-write"])
def test_status_has_queues_to_read(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.create_topic(topic, 3, write_queues=1) >> Reply(SUCCESS)
    bk.send(topic, queue=2) >> Reply(SUCCESS)
    status(bk, topic).eventually() >> Reply(SUCCESS, {0: (0, 0), 1: (0, 0), 2: (0, 1)})
    other = bk.name("T")
    bk.create_topic(other, 0, write_queues=2) >> Reply(SUCCESS)
    status(bk, other) >> Reply(SUCCESS, {0: (0, 0), 1: (0, 0)})


@case(kills=["status-without-times", "status-of-the-message-before", "status-without-rate"], clock=True)
def test_status_has_a_rate(bk: BrokerSession) -> None:
    whole_status(bk, topicPutTps=Between(0, 0.5))  # of two messages, over ten seconds or more


@case(kills=["status-of-unknown-is-empty"])
def test_status_of_unknown_topic(bk: BrokerSession) -> None:
    topic = bk.name("T")
    status(bk, topic) >> Reply(ResponseCode.TOPIC_NOT_EXIST, remark=f"topic[{topic}] not exist")


@case(kills=["newest-topic-is-shown", "topic-is-shown-without-attributes"])
def test_one_is_shown(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.create_topic(topic, 3, 4, write_queues=2, filter_type="MULTI_TAG", order=True) >> Reply(SUCCESS)
    bk.create_topic(bk.name("U"), 5) >> Reply(SUCCESS)
    made = {
        "topicName": topic,
        "readQueueNums": 3,
        "writeQueueNums": 2,
        "perm": 4,
        "topicFilterType": "MULTI_TAG",
        "topicSysFlag": 0,
        "order": True,
    }
    bk.topic_config(topic).json >> Reply(SUCCESS, {**made, "attributes": {}})


@case(kills=["unknown-topics-are-shown"])
def test_unknown_one_is_not_shown(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.topic_config(topic) >> Reply(
        ResponseCode.TOPIC_NOT_EXIST, remark=f"No topic in this broker. topic: {topic}"
    )


def listed(bk: BrokerSession, *names: str) -> Exchange:
    """GET_SYSTEM_TOPIC_LIST_FROM_BROKER (305), seen as those of these names that are listed."""

    def read(reply: Command) -> list[str] | None:
        if not reply.body:
            return None
        try:
            return sorted({*TopicList.decode(reply.body).topic_list} & {*names})
        except WireError as problem:
            raise NotSo(str(problem)) from problem

    asked = bk.call(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
    return asked.seen_as(View("topics", read, ("topicList",), said="names of this case in body.topicList"))


@case(
    kills=[
        "clients-topics-are-system-topics",
        "cluster-is-no-system-topic",
        "replies-have-no-system-topic",
    ]
)
def test_system_topics_are_listed(bk: BrokerSession) -> None:
    replies = f"{bk.cluster_name}_REPLY_TOPIC"
    tests = ("BenchmarkTest", "SELF_TEST_TOPIC")
    transactions = ("RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC")
    others = ("TBW102", "OFFSET_MOVED_EVENT", "RMQ_SYS_TRACE_TOPIC")
    names = (SYSTEM, *tests, *transactions, *others, bk.broker_name, bk.cluster_name, replies)
    listed(bk, *names, bk.topic()) >> Reply(SUCCESS, sorted(names))


@case(kills=["topics-of-the-timer-are-not-listed", "checkpoints-have-no-topic"])
def test_system_topics_of_5x_are_listed(bk: BrokerSession) -> None:
    of_members = f"rmq_sys_SYNC_BROKER_MEMBER_{bk.broker_name}"
    names = (
        f"rmq_sys_REVIVE_LOG_{bk.cluster_name}",
        of_members,
        "rmq_sys_wheel_timer",
        "CHECKPOINT_TOPIC",
    )
    listed(bk, *names) >> Reply(SUCCESS, sorted(names))


@case(kills=["status-begins-at-zero"], clock=True, own_server=True, setup=OLD)
def test_status_begins_with_the_first_message(bk: BrokerSession) -> None:
    topic = bk.topic(queues=2)
    low = begins_late(bk, topic)
    status(bk, topic) >> Reply(SUCCESS, {0: (0, 0), 1: (low, 6)})
