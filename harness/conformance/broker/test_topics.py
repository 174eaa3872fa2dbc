"""Chapter topics: topics as administrators make, change, see and delete them."""

import json
from typing import Any

from harness.conformance import (
    ABSENT,
    ANYTHING,
    Between,
    Containing,
    Including,
    Matching,
    Reply,
    Request,
    Silence,
    case,
)
from harness.conformance.broker.tools import as_json, asked, queue_name, tables_of
from harness.conformance.broker.whole import pulled
from harness.session import Answer, BrokerSession, Exchange
from harness.session.broker.requests import consuming
from harness.session.exchange import NotSo, View
from harness.session.probing.received import ReceivedExchange
from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import TopicList, TopicStats
from harness.wire.fastjson import document
from harness.wire.messages import decode_offset_id
from harness.wire.view import json_value

SUCCESS = ResponseCode.SUCCESS
REGISTER = RequestCode.REGISTER_BROKER
SYSTEM = "SCHEDULE_TOPIC_XXXX"
BLANK = "The specified topic is blank."
CHARACTERS = "contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"
CONFLICT = f"The topic[{SYSTEM}] is conflict with system topic."
ILLEGAL = {
    "": BLANK,
    "a b": f"The specified topic {CHARACTERS}",
    "x" * 128: "The specified topic is longer than topic max length.",
    SYSTEM: CONFLICT,
}
LONG, LONG_RETRY, LONG_DEAD = "x" * 128, "%RETRY%".ljust(256, "x"), "%DLQ%".ljust(256, "x")
OF_A_GROUP = "The specified topic is DLQ or Retry topic"
ILLEGAL_IN_55 = {
    "": BLANK,
    "a b": f"The specified topic: a b, {CHARACTERS}",
    LONG: f"The specified topic: {LONG}, is longer than topic max length: 127",
    LONG_RETRY: f"{OF_A_GROUP}: {LONG_RETRY}, and it's longer than topic max length: 255",
    LONG_DEAD: f"{OF_A_GROUP}: {LONG_DEAD}, and it's longer than topic max length: 255",
    SYSTEM: CONFLICT,
}
"""The members of each topic, by name."""


def _bounds(reply: Command) -> dict[int, tuple[int, int]] | None:
    if not reply.body:
        return None
    try:
        table = TopicStats.decode(reply.body).offset_table
    except WireError as problem:
        raise NotSo(str(problem)) from problem
    return {queue.queue_id: (state.min_offset, state.max_offset) for queue, state in table.items()}


def status(bk: BrokerSession, topic: str) -> Exchange:
    """GET_TOPIC_STATS_INFO (202), seen as the offsets of each queue."""
    asked = bk.call(RequestCode.GET_TOPIC_STATS_INFO, {"topic": topic}, about=topic)
    return asked.seen_as(
        View("offsets", _bounds, ("offsetTable",), ("minOffset", "maxOffset"), "body.offsetTable by queueId")
    )


def told(topic: str, **members: Any) -> Including:
    """A table of all topics in which this one has these members."""
    return Including({"topicConfigTable": Including({topic: Including(members)})})


@case(kills=["topics-are-made-with-eight-queues", "new-topics-are-not-told"])
def test_created_as_requested(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.create_topic(topic, 3, 4, write_queues=2, filter_type="MULTI_TAG") >> Reply(SUCCESS)
    made = told(topic, readQueueNums=3, writeQueueNums=2, perm=4, topicFilterType="MULTI_TAG")
    bk.topics().json >> Reply(SUCCESS, made)


@case(kills=["topics-do-not-change"])
def test_changed_as_requested(bk: BrokerSession) -> None:
    topic = bk.topic(queues=4)
    bk.create_topic(topic, 8, 6) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, told(topic, readQueueNums=8, writeQueueNums=8))


def announced(
    bk: BrokerSession, topic: str, since: Answer | None = None, within: float = 5
) -> ReceivedExchange:
    """The next registration that has this topic and no system topics."""

    def is_alone(command: Command) -> bool:
        return topic.encode() in command.body and b"TBW102" not in command.body

    return bk.nameserver.next(REGISTER, since=since, within=within, where=is_alone)


@case(kills=["new-topics-are-not-announced", "new-topics-announced-with-all"])
def test_announced_by_itself(bk: BrokerSession) -> None:
    topic = bk.topic(queues=3)
    announced(bk, topic).topics >> Request(REGISTER, {topic: (3, 3, 6)})


@case(kills=["same-topic-announced-again"])
def test_same_again_is_not_announced(bk: BrokerSession) -> None:
    topic = bk.topic(queues=3)
    announced(bk, topic).topics >> Request(REGISTER, {topic: (3, 3, 6)})
    again = bk.create_topic(topic, 3) >> Reply(SUCCESS)
    announced(bk, topic, since=again, within=3) >> Silence()


@case(kills=["illegal-topics-are-made", "illegal-topics-are-code-29"])
def test_illegal_name_is_refused(bk: BrokerSession) -> None:
    for topic, remark in ILLEGAL.items():
        bk.create_topic(topic) >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)


@case(kills=["illegal-topics-are-made", "illegal-is-code-1"])
def test_illegal_name_is_an_invalid_parameter(bk: BrokerSession) -> None:
    for topic, remark in ILLEGAL.items():
        bk.create_topic(topic) >> Reply(ResponseCode.INVALID_PARAMETER, remark=remark)


@case(kills=["illegal-topics-are-made", "illegal-is-code-1", "topics-of-groups-have-short-names"])
def test_refusal_names_the_topic(bk: BrokerSession) -> None:
    for topic, remark in ILLEGAL_IN_55.items():
        bk.create_topic(topic) >> Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
    for longest in (bk.name("T").ljust(127, "x"), f"%RETRY%{bk.name('G')}".ljust(255, "x")):
        bk.create_topic(longest) >> Reply(SUCCESS)
        bk.delete_topic(longest) >> Reply(SUCCESS)


def part(bk: BrokerSession, first: str | None, most: str | None, version: str | None = None) -> Exchange:
    """GET_ALL_TOPIC_CONFIG (21) of a part, seen as the names of its topics."""
    said = {"topicSeq": first, "maxTopicNum": most, "dataVersion": version}
    ext = {name: text for name, text in said.items() if text is not None}
    return asked(bk, RequestCode.GET_ALL_TOPIC_CONFIG, _names_of_topics, **ext)


def _names_of_topics(reply: Command) -> list[str]:
    return sorted(as_json(reply)["topicConfigTable"])


@case(kills=["tables-are-shown-as-a-whole", "any-version-goes-on", "parts-do-not-show-the-total"])
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
    part(bk, str(len(names)), "4", version) >> Reply(SUCCESS, [], ext=total)


@case(kills=["parts-may-be-nothing"])
def test_part_that_cannot_be_is_refused(bk: BrokerSession) -> None:
    part(bk, "0", "1") >> Reply(SUCCESS, [ANYTHING])
    part(bk, "0", "0") >> Reply(ResponseCode.SYSTEM_ERROR)
    part(bk, None, "4") >> Reply(ResponseCode.SYSTEM_ERROR)
    part(bk, None, None, "") >> Reply(ResponseCode.SYSTEM_ERROR)


@case(kills=["any-filter-type-is-taken"])
def test_unknown_filter_type_is_refused(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.create_topic(topic, filter_type="NO_TAG") >> Reply(ResponseCode.SYSTEM_ERROR)
    status(bk, topic) >> Reply(ResponseCode.TOPIC_NOT_EXIST)


@case(kills=["order-is-not-kept"])
def test_order_is_kept(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.create_topic(topic, order=True) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, told(topic, order=True))


@case(kills=["order-is-kept-in-4-9"])
def test_order_comes_from_the_nameserver(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.create_topic(topic, order=True) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, told(topic, order=False))


@case(kills=["attributes-are-not-kept"])
def test_attributes_are_kept(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.create_topic(topic, ext={"attributes": "+message.type=FIFO"}) >> Reply(SUCCESS)
    bk.create_topic(topic, ext={"attributes": "+message.type=DELAY"}) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, told(topic, attributes={"message.type": "DELAY"}))
    bk.create_topic(topic, ext={"attributes": "-message.type"}) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, told(topic, attributes={}))


REFUSED_OF_NEW = {
    "message.type=FIFO": "add/alter attribute format is wrong: message.type",
    "message.type": "delete attribute format is wrong: message.type",
    "+message.type=FIFO,+message.type=DELAY": "key duplication: +message.type",
    "+message.type=FIFO,-message.type": Matching("^(alter duplication key|only add attribute is supported)"),
    "-message.type": "only add attribute is supported while creating topic. key: message.type",
    "++message.type=FIFO": "kv string format wrong.",
    "+=FIFO": "kv string format wrong.",
    "+message.type=fifo": Matching("^value is not in set: "),
    "+reserve.time=-2": f"value is not in range(-1, {2**63 - 1})",
    f"+reserve.time={2**63}": Matching("."),
}
REFUSED_OF_OLD = {
    "-queue.type": "attempt to delete a nonexistent key: queue.type",
    "+queue.type=SimpleCQ": "attempt to update an unchangeable attribute. key: queue.type",
    "-cleanup.policy": "attempt to update an unchangeable attribute. key: cleanup.policy",
    "+message.type=DELAY,+reserve.time=x": Matching("."),
}
"""Remarks by attributes."""


@case(kills=["wrong-attributes-are-taken", "any-attribute-is-taken"])
def test_wrong_attributes_are_refused(bk: BrokerSession) -> None:
    topic = bk.name("T")
    for attributes, remark in REFUSED_OF_NEW.items():
        bk.create_topic(topic, ext={"attributes": attributes}) >> Reply(
            ResponseCode.SYSTEM_ERROR, remark=remark
        )
    status(bk, topic) >> Reply(ResponseCode.TOPIC_NOT_EXIST)
    for time in ("-1", str(2**63 - 1)):
        made = {"cleanup.policy": "DELETE", "reserve.time": time}
        attributes = ",".join(f"+{name}={value}" for name, value in made.items())
        topic = bk.name("T")
        bk.create_topic(topic, ext={"attributes": attributes}) >> Reply(SUCCESS)
    for attributes, remark in REFUSED_OF_OLD.items():
        bk.create_topic(topic, ext={"attributes": attributes}) >> Reply(
            ResponseCode.SYSTEM_ERROR, remark=remark
        )
    bk.topics().json >> Reply(SUCCESS, told(topic, attributes=made))


@case(kills=["any-attribute-is-taken"])
def test_unknown_attribute_is_refused(bk: BrokerSession) -> None:
    topic = bk.name("T")
    reply = Reply(ResponseCode.SYSTEM_ERROR, remark="unsupported key: nonsense")
    bk.create_topic(topic, ext={"attributes": "+nonsense=1"}) >> reply
    status(bk, topic) >> Reply(ResponseCode.TOPIC_NOT_EXIST)


@case(kills=["status-is-empty", "status-without-offsets"])
def test_status_shows_each_queue(bk: BrokerSession) -> None:
    topic = bk.topic(queues=2)
    bk.send(topic, queue=1) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 1)
    status(bk, topic) >> Reply(SUCCESS, {0: (0, 0), 1: (0, 1)})


def whole_status(bk: BrokerSession, **of_line: object) -> None:
    """A queue has two messages, the other one none."""
    topic = bk.topic(queues=2)
    for _ in range(2):
        bk.send(topic, queue=1) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 2)
    none = {"lastUpdateTimestamp": 0, "maxOffset": 0, "minOffset": 0}
    time = pulled(bk, topic, 1, 1)["store_timestamp"]
    two = {**none, "lastUpdateTimestamp": time, "maxOffset": 2}
    table = {queue_name(bk, topic, 0): none, queue_name(bk, topic, 1): two}
    shown = asked(bk, RequestCode.GET_TOPIC_STATS_INFO, tables_of, topic=topic)
    shown >> Reply(SUCCESS, {"offsetTable": table, **of_line})


@case(kills=["status-without-times", "tables-of-another-broker"])
def test_status_has_times(bk: BrokerSession) -> None:
    whole_status(bk)


@case(kills=["status-of-queues-to-write"])
def test_status_has_queues_to_read(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.create_topic(topic, 3, write_queues=1) >> Reply(SUCCESS)
    bk.send(topic, queue=2) >> Reply(SUCCESS)
    status(bk, topic).eventually() >> Reply(SUCCESS, {0: (0, 0), 1: (0, 0), 2: (0, 1)})


@case(kills=["status-without-times", "status-without-rate"])
def test_status_has_a_rate(bk: BrokerSession) -> None:
    whole_status(bk, topicPutTps=Between(0, 0.5))  # of two messages, over ten seconds or more


@case(kills=["status-of-unknown-is-empty"])
def test_status_of_unknown_topic(bk: BrokerSession) -> None:
    topic = bk.name("T")
    status(bk, topic) >> Reply(ResponseCode.TOPIC_NOT_EXIST, remark=f"topic[{topic}] not exist")


@case(kills=["topics-are-not-deleted"])
def test_deleted_is_gone(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic) >> Reply(SUCCESS)
    bk.delete_topic(topic) >> Reply(SUCCESS)
    status(bk, topic) >> Reply(ResponseCode.TOPIC_NOT_EXIST)
    bk.pull(topic) >> Reply(ResponseCode.TOPIC_NOT_EXIST)


@case(kills=["deleted-topics-keep-messages"])
def test_created_again_is_empty(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic) >> Reply(SUCCESS)
    bk.max_offset(topic, 0).offset.eventually() >> Reply(SUCCESS, 1)
    bk.delete_topic(topic) >> Reply(SUCCESS)
    bk.create_topic(topic) >> Reply(SUCCESS)
    bk.max_offset(topic, 0).offset >> Reply(SUCCESS, 0)


@case(kills=["unknown-topics-cannot-be-deleted"])
def test_deletion_of_unknown_succeeds(bk: BrokerSession) -> None:
    bk.delete_topic(bk.name("T")) >> Reply(SUCCESS)


@case(kills=["system-topics-are-deleted"])
def test_system_topics_stay(bk: BrokerSession) -> None:
    refused = (ResponseCode.SYSTEM_ERROR, ResponseCode.INVALID_PARAMETER)
    bk.delete_topic(SYSTEM) >> Reply(refused, remark=CONFLICT)


# -- several at once, and one of them (5.x) ------------------------------------------------------------------


def create_topics(bk: BrokerSession, *topics: dict[str, object]) -> Exchange:
    """UPDATE_AND_CREATE_TOPIC_LIST (18), each with all members that Apache's tool sends."""
    ordinary = {
        "readQueueNums": 4,
        "writeQueueNums": 4,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": False,
        "attributes": {},
    }
    body = json.dumps({"topicConfigList": [{**ordinary, **one} for one in topics]}).encode()
    code = RequestCode.UPDATE_AND_CREATE_TOPIC_LIST
    return bk.call(code, None, body, about=", ".join(str(one["topicName"]) for one in topics))


@case(kills=["only-the-first-of-several-topics-is-made"])
def test_several_are_created_at_once(bk: BrokerSession) -> None:
    one, other = bk.name("T"), bk.name("U")
    first = {"topicName": one, "readQueueNums": 3, "writeQueueNums": 2, "perm": 4}
    second = {"topicName": other, "readQueueNums": 5, "writeQueueNums": 7, "perm": 2}
    create_topics(bk, first, second) >> Reply(SUCCESS)
    bk.topic_config(one).json >> Reply(SUCCESS, Including(first))
    bk.topic_config(other).json >> Reply(SUCCESS, Including(second))


@case(kills=["several-topics-are-announced-one-by-one"])
def test_several_are_announced_together(bk: BrokerSession) -> None:
    one, other = bk.name("T"), bk.name("U")
    create_topics(bk, {"topicName": one, "perm": 4}, {"topicName": other, "readQueueNums": 3}) >> Reply(
        SUCCESS
    )
    announced(bk, one).topics >> Request(REGISTER, {one: (4, 4, 4), other: (3, 4, 6)})


@case(kills=["illegal-names-in-a-list-are-skipped"])
def test_several_are_created_or_none(bk: BrokerSession) -> None:
    one, other = bk.name("T"), bk.name("U")
    refused = Reply(ResponseCode.INVALID_PARAMETER, remark=Containing(CHARACTERS))
    create_topics(bk, {"topicName": one}, {"topicName": "a b"}, {"topicName": other}) >> refused
    for topic in (one, other):
        bk.topic_config(topic) >> Reply(ResponseCode.TOPIC_NOT_EXIST)


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


# -- those of the Broker, and those that nobody uses ---------------------------------------------------------


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
    names = (SYSTEM, "TBW102", "RMQ_SYS_TRANS_HALF_TOPIC", bk.broker_name, bk.cluster_name, replies)
    listed(bk, *names, bk.topic()) >> Reply(SUCCESS, sorted(names))


@case(kills=["topics-of-the-timer-are-not-listed"])
def test_system_topics_of_5x_are_listed(bk: BrokerSession) -> None:
    of_members = f"rmq_sys_SYNC_BROKER_MEMBER_{bk.broker_name}"
    names = (f"rmq_sys_REVIVE_LOG_{bk.cluster_name}", of_members, "rmq_sys_wheel_timer")
    listed(bk, *names) >> Reply(SUCCESS, sorted(names))


@case(kills=["cleaning-removes-existing-topics"])
def test_cleaning_keeps_existing_ones(bk: BrokerSession) -> None:
    topic = bk.topic()
    for body in (b"first", b"second"):
        bk.send(topic, body) >> Reply(SUCCESS)
    bk.call(RequestCode.CLEAN_UNUSED_TOPIC) >> Reply(SUCCESS)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 2)
    bk.pull(topic).bodies >> Reply(SUCCESS, [b"first", b"second"])


# -- deletion, and what outlives it --------------------------------------------------------------------------


def deleted_with_offsets(bk: BrokerSession) -> tuple[str, str]:
    """A group with offsets in a topic that is deleted and made again, and in another one; group, topic."""
    topic, other, group = bk.topic(), bk.topic("U"), bk.group()
    bk.heartbeat(bk.name("client"), consumers=[consuming(group, [topic, other])]) >> Reply(SUCCESS)
    for name, queue, offset in ((topic, 0, 7), (topic, 2, 5), (other, 1, 3)):
        bk.commit_offset(group, name, queue, offset) >> Reply(SUCCESS)
    bk.delete_topic(topic) >> Reply(SUCCESS)
    bk.create_topic(topic) >> Reply(SUCCESS)
    bk.committed(group, other, 1).offset >> Reply(SUCCESS, 3)
    return group, topic


@case(kills=["deleted-topics-keep-offsets", "deletion-forgets-all-offsets"])
def test_deletion_forgets_offsets(bk: BrokerSession) -> None:
    group, topic = deleted_with_offsets(bk)
    bk.committed(group, topic, 0) >> Reply(ResponseCode.QUERY_NOT_FOUND)
    bk.committed(group, topic, 2) >> Reply(ResponseCode.QUERY_NOT_FOUND)


@case(kills=["deletion-forgets-offsets-in-4-9"])
def test_deletion_keeps_offsets(bk: BrokerSession) -> None:
    group, topic = deleted_with_offsets(bk)
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 7)
    bk.committed(group, topic, 2).offset >> Reply(SUCCESS, 5)


@case(kills=["illegal-topics-cannot-be-deleted", "topics-without-a-name-are-deleted"])
def test_illegal_name_can_be_deleted(bk: BrokerSession) -> None:
    for topic in ("a b", "x" * 128):
        bk.delete_topic(topic) >> Reply(SUCCESS)
    for blank in ("", " "):
        bk.delete_topic(blank) >> Reply(ResponseCode.INVALID_PARAMETER, remark=BLANK)


@case(kills=["illegal-topics-are-deleted-in-4-9"])
def test_illegal_name_cannot_be_deleted(bk: BrokerSession) -> None:
    for topic, remark in ILLEGAL.items():
        bk.delete_topic(topic) >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)


@case(
    kills=[
        "restarts-forget-topics",
        "restarts-lose-members-of-topics",
        "changed-topics-are-not-written",
        "deleted-topics-are-not-written",
    ],
    own_server=True,
)
def test_survive_a_kill(bk: BrokerSession) -> None:
    one, other = bk.name("T"), bk.name("U")
    ext = {"attributes": "+message.type=FIFO"}
    bk.create_topic(one, 3, 4, write_queues=2, filter_type="MULTI_TAG", order=True, ext=ext) >> Reply(SUCCESS)
    bk.create_topic(other, 5, 2) >> Reply(SUCCESS)
    bk.send(sent := bk.name("V"), default_queues=3) >> Reply(SUCCESS)
    bk.create_topic(other, 7, 4) >> Reply(SUCCESS)

    def shown() -> Exchange:
        return bk.topics().seen_as(
            View("topics", lambda reply: _of(reply, one, other, sent), said="topics of this case")
        )

    before = shown() >> Reply(SUCCESS)
    bk.restart("kill")
    shown().eventually() >> Reply(SUCCESS, before.value)
    bk.delete_topic(other) >> Reply(SUCCESS)
    bk.restart("kill")
    shown().eventually() >> Reply(SUCCESS, {**before.value, other: None})


def _of(reply: Command, *names: str) -> dict[str, Any]:
    table = json_value(reply.body)["topicConfigTable"]
    return {name: table.get(name) for name in names}


@case(kills=["topics-may-be-mixed"])
def test_mixed_type_is_refused(bk: BrokerSession) -> None:
    topic = bk.name("T")
    refused = Reply(ResponseCode.INVALID_PARAMETER, remark="MIXED message type is not supported.")
    bk.create_topic(topic, ext={"attributes": "+message.type=MIXED"}) >> refused
    table = Including({topic: ABSENT})
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": table}))
    bk.create_topic(topic, ext={"attributes": "+message.type=NORMAL"}) >> Reply(SUCCESS)


@case(kills=["trace-topic-is-never-made"], setup={"traceTopicEnable": "true", "msgTraceTopicName": "TRACES"})
def test_trace_topic_if_configured(bk: BrokerSession) -> None:
    bk.topics().json >> Reply(SUCCESS, told("TRACES", readQueueNums=1, writeQueueNums=1, perm=6))


@case(kills=["order-of-retry-topics-stays"])
def test_order_of_a_retry_topic_is_taken_back(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    retry, other = f"%RETRY%{group}", f"%RETRY%{bk.group()}"
    for one in (retry, other):
        bk.create_topic(one, order=True) >> Reply(SUCCESS)
    sent = bk.send(topic, b"dead").ids >> Reply(SUCCESS)
    bk.send_back(group, decode_offset_id(sent.value[0])[1], -1, topic=topic) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, told(retry, order=False))
    bk.topics().json >> Reply(SUCCESS, told(other, order=True))


@case(kills=["deleted-topics-leave-what-comes-again"], clock=True)
def test_deletion_takes_what_comes_again_along(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.send(topic) >> Reply(SUCCESS)
    bk.pop(topic, group, invisible=10).bodies.eventually() >> Reply(SUCCESS, [b"hello"])
    bk.advance(10 + 30 + bk.jitter)
    again = f"%RETRY%{group}_{topic}"
    bk.max_offset(again).offset.eventually() >> Reply(SUCCESS, 1)
    bk.delete_topic(topic) >> Reply(SUCCESS)
    bk.topic_config(again) >> Reply(ResponseCode.TOPIC_NOT_EXIST)
    bk.max_offset(again).offset >> Reply(SUCCESS, 0)
