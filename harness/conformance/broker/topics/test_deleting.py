"""Chapter topics: what a deletion takes along, and what stays."""

from harness.conformance import (
    Reply,
    case,
)
from harness.conformance.broker.topics.topics import BLANK, ILLEGAL, RESERVED, SUCCESS, SYSTEM, status
from harness.session import BrokerSession
from harness.session.broker.requests import consuming
from harness.wire import RequestCode, ResponseCode


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
    for topic in (SYSTEM, RESERVED):
        bk.delete_topic(topic) >> Reply(refused, remark=ILLEGAL[topic])


@case(kills=["cleaning-removes-existing-topics"])
def test_cleaning_keeps_existing_ones(bk: BrokerSession) -> None:
    topic = bk.topic()
    for body in (b"first", b"second"):
        bk.send(topic, body) >> Reply(SUCCESS)
    bk.call(RequestCode.CLEAN_UNUSED_TOPIC) >> Reply(SUCCESS)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 2)
    bk.pull(topic).bodies >> Reply(SUCCESS, [b"first", b"second"])


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


def takes_along(bk: BrokerSession, between: str) -> None:
    """A deletion takes along what comes again; the name of its topic has this between group and topic."""
    topic, group = bk.topic(), bk.group()
    bk.send(topic) >> Reply(SUCCESS)
    bk.pop(topic, group, invisible=10).bodies.eventually() >> Reply(SUCCESS, [b"hello"])
    bk.advance(10 + 30 + bk.jitter)
    again = f"%RETRY%{group}{between}{topic}"
    bk.max_offset(again).offset.eventually() >> Reply(SUCCESS, 1)
    bk.delete_topic(topic) >> Reply(SUCCESS)
    bk.topic_config(again) >> Reply(ResponseCode.TOPIC_NOT_EXIST)
    bk.max_offset(again).offset >> Reply(SUCCESS, 0)


@case(kills=["deleted-topics-leave-what-comes-again"], clock=True)
def test_deletion_takes_what_comes_again_along(bk: BrokerSession) -> None:
    takes_along(bk, "_")


@case(
    kills=["deleted-topics-leave-newer-retry-topics"],
    clock=True,
    own_server=True,
    setup={"enableRetryTopicV2": "true"},
)
def test_deletion_takes_newer_retry_topics_along(bk: BrokerSession) -> None:
    takes_along(bk, "+")


@case(kills=["deleted-topics-take-what-is-no-topic-along"], clock=True)
def test_deletion_leaves_what_is_no_topic(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    again = f"%RETRY%{group}_{topic}"
    bk.create_group(group) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 0, 7) >> Reply(SUCCESS)
    bk.create_topic(again) >> Reply(SUCCESS)
    bk.send(again, properties={"DELAY": "2"}) >> Reply(SUCCESS)
    bk.delete_topic(again) >> Reply(SUCCESS)
    bk.advance(5 + 1 + bk.jitter)
    bk.max_offset(again).offset.eventually() >> Reply(SUCCESS, 1)
    bk.topic_config(again) >> Reply(ResponseCode.TOPIC_NOT_EXIST)
    bk.delete_topic(topic) >> Reply(SUCCESS)
    bk.max_offset(again).offset >> Reply(SUCCESS, 1)
