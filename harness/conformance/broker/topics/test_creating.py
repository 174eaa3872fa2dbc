"""Chapter topics: topics that are created and changed, and what is announced of them."""

from typing import Any

from harness.conformance import (
    ABSENT,
    Containing,
    Including,
    Matching,
    Reply,
    Request,
    Silence,
    case,
)
from harness.conformance.broker.topics.topics import (
    BLANK,
    CHARACTERS,
    CONFLICT,
    ILLEGAL,
    RESERVED,
    SUCCESS,
    SYSTEM,
    create_topics,
    status,
    told,
)
from harness.session import Answer, BrokerSession, Exchange
from harness.session.broker.requests import consuming
from harness.session.exchange import View
from harness.session.probing.received import ReceivedExchange
from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.messages import decode_offset_id
from harness.wire.view import json_value

REGISTER = RequestCode.REGISTER_BROKER
LONG, LONG_RETRY, LONG_DEAD = "x" * 128, "%RETRY%".ljust(256, "x"), "%DLQ%".ljust(256, "x")
OF_A_GROUP = "The specified topic is DLQ or Retry topic"
ILLEGAL_IN_55 = {
    "": BLANK,
    "a b": f"The specified topic: a b, {CHARACTERS}",
    LONG: f"The specified topic: {LONG}, is longer than topic max length: 127",
    LONG_RETRY: f"{OF_A_GROUP}: {LONG_RETRY}, and it's longer than topic max length: 255",
    LONG_DEAD: f"{OF_A_GROUP}: {LONG_DEAD}, and it's longer than topic max length: 255",
    SYSTEM: CONFLICT,
    RESERVED: ILLEGAL[RESERVED],
}
"""The members of each topic, by name."""


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


@case(
    kills=[
        "illegal-topics-are-made",
        "illegal-topics-are-code-29",
        "beginnings-of-system-topics-are-free",
        "longest-topics-are-too-long",
    ]
)
def test_illegal_name_is_refused(bk: BrokerSession) -> None:
    for topic, remark in ILLEGAL.items():
        bk.create_topic(topic) >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
    bk.create_topic(bk.name("T").ljust(127, "x")) >> Reply(SUCCESS)


@case(
    kills=[
        "illegal-topics-are-made",
        "illegal-is-code-1",
        "beginnings-of-system-topics-are-free",
        "longest-topics-are-too-long",
    ]
)
def test_illegal_name_is_an_invalid_parameter(bk: BrokerSession) -> None:
    for topic, remark in ILLEGAL.items():
        bk.create_topic(topic) >> Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
    bk.create_topic(bk.name("T").ljust(127, "x")) >> Reply(SUCCESS)


@case(kills=["illegal-topics-are-made", "illegal-is-code-1", "topics-of-groups-have-short-names"])
def test_refusal_names_the_topic(bk: BrokerSession) -> None:
    for topic, remark in ILLEGAL_IN_55.items():
        bk.create_topic(topic) >> Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
    for longest in (bk.name("T").ljust(127, "x"), f"%RETRY%{bk.name('G')}".ljust(255, "x")):
        bk.create_topic(longest) >> Reply(SUCCESS)
        bk.delete_topic(longest) >> Reply(SUCCESS)


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


@case(kills=["attributes-are-not-kept", "updates-without-attributes-drop-them"])
def test_attributes_are_kept(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.create_topic(topic, ext={"attributes": "+message.type=FIFO"}) >> Reply(SUCCESS)
    bk.create_topic(topic, ext={"attributes": "+message.type=DELAY"}) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, told(topic, attributes={"message.type": "DELAY"}))
    bk.create_topic(topic, 6, write_queues=7) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, told(topic, attributes={"message.type": "DELAY"}, writeQueueNums=7))
    bk.create_topic(topic, ext={"attributes": "-message.type"}) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, told(topic, attributes={}))


REFUSED_OF_NEW = {
    "message.type=FIFO": "add/alter attribute format is wrong: message.type",
    "message.type": "delete attribute format is wrong: message.type",
    "+message.type=FIFO,+message.type=DELAY": "key duplication: +message.type",
    "+message.type=FIFO,-message.type": Matching("^(alter duplication key|only add attribute is supported)"),
    "-message.type": "only add attribute is supported while creating topic. key: message.type",
    "++message.type=FIFO": "kv string format wrong.",
    "+message-type=FIFO": "kv string format wrong.",
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
    "+reserve.time=5,-reserve.time": "alter duplication key. key: reserve.time",
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


@case(kills=["topics-have-no-priority", "any-attribute-is-taken"])
def test_priority_is_a_type(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.create_topic(topic, ext={"attributes": "+message.type=PRIORITY"}) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, told(topic, attributes={"message.type": "PRIORITY"}))
    small = {"attributes": "+message.type=priority"}
    bk.create_topic(bk.name("T"), ext=small) >> Reply(ResponseCode.SYSTEM_ERROR)


@case(kills=["any-attribute-is-taken"])
def test_unknown_attribute_is_refused(bk: BrokerSession) -> None:
    topic = bk.name("T")
    reply = Reply(ResponseCode.SYSTEM_ERROR, remark="unsupported key: nonsense")
    bk.create_topic(topic, ext={"attributes": "+nonsense=1"}) >> reply
    status(bk, topic) >> Reply(ResponseCode.TOPIC_NOT_EXIST)


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


@case(
    kills=[
        "restarts-forget-topics",
        "restarts-lose-members-of-topics",
        "changed-topics-are-not-written",
        "deleted-topics-are-not-written",
        "topics-begin-with-the-backup",
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
    if bk.profile.has("state-version"):
        bk.topics().json >> Reply(SUCCESS, Including({"dataVersion": Including({"stateVersion": 0})}))


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


@case(kills=["transactions-in-rocksdb-have-one-topic"])
def test_are_there_for_transactions_in_rocksdb(bk: BrokerSession) -> None:
    for name in ("RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"):
        bk.topics().json >> Reply(SUCCESS, told(name, readQueueNums=1, writeQueueNums=1, perm=6))


@case(kills=["every-broker-has-a-trace-topic"])
def test_no_trace_topic_by_default(bk: BrokerSession) -> None:
    none = Including({"RMQ_SYS_TRACE_TOPIC": ABSENT})
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": none}))


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


@case(
    kills=["known-retry-topics-are-put-again"], own_server=True, setup={"transactionCheckInterval": "3600000"}
)
def test_known_retry_topic_is_left_alone(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    wants = consuming(group, [topic])
    bk.heartbeat(bk.name("client"), consumers=[wants], on=bk.connect()) >> Reply(SUCCESS)
    (sent,) = (bk.send(topic, b"again").ids >> Reply(SUCCESS)).value
    again = decode_offset_id(sent)[1], 3
    bk.send_back(group, *again, topic=topic) >> Reply(SUCCESS)
    before = (bk.topics().json >> Reply(SUCCESS, told(f"%RETRY%{group}", order=False))).value
    bk.heartbeat(bk.name("client"), consumers=[wants], on=bk.connect()) >> Reply(SUCCESS)
    bk.send_back(group, *again, topic=topic) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, before)
