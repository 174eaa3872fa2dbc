"""Chapter calls: offsets that members are to go back to (code 222)."""

from collections.abc import Mapping
from typing import Any

from harness.conformance import ANYTHING, Containing, Including, Matching, Reply, Request, Silence, case
from harness.conformance.broker.calls.members import ERROR, OLD, SUCCESS, TABLE, _readable, online
from harness.conformance.broker.tools import queue_name
from harness.session import BrokerSession, Exchange
from harness.session.exchange import View
from harness.session.requests import fields
from harness.wire import FLAG_ONEWAY, Command, RequestCode, ResponseCode
from harness.wire.bodies import QueueOffsets
from harness.wire.fastjson import parse

RESET = RequestCode.RESET_CONSUMER_CLIENT_OFFSET
BY_MEMBERS = {"useServerSideResetOffset": "false"}
"""With this setting 5.x lets the members of a group reset offsets, as 4.9 always does."""
REMARK = "[reset-offset] reset offset failed, no topic in this broker. topic="


def _offsets(command: Command) -> dict[int, int]:
    table = QueueOffsets.decode(command.body).offset_table
    return {queue.queue_id: offset for queue, offset in table.items()}


def _listed(command: Command) -> Any:
    found = parse(command.body)
    listed: Any = found.get("offsetTable") if isinstance(found, Mapping) else None
    return sorted(listed, key=lambda one: one["queueId"]) if isinstance(listed, list) else listed


OFFSETS = View("offsets", _readable(_offsets), said="body.offsetTable by queueId")
LISTED = View("offsets", _readable(_listed), said="body.offsetTable")


def resets(bk: BrokerSession, topic: str, group: str, timestamp: int, force: bool, **header: Any) -> Exchange:
    """An administrator moves the offsets of a group."""
    ext = fields(topic=topic, group=group, timestamp=timestamp, isForce=force)
    asking = bk.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, ext, **header)
    return asking.seen_as(OFFSETS)


def consumed(bk: BrokerSession, offset: int) -> tuple[str, str]:
    """A topic with two messages in queue 0 and three in queue 1, and a group that has committed this offset
    of the first queue and 2 of the second.
    """
    topic, group = bk.name("T"), bk.group()
    bk.create_topic(topic, 3, write_queues=2) >> Reply(SUCCESS)
    online(bk, group)
    for queue in (0, 0, 1, 1, 1):
        bk.send(topic, queue=queue) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 3)
    for queue, committed in ((0, offset), (1, 2)):
        bk.commit_offset(group, topic, queue, committed) >> Reply(SUCCESS)
    return topic, group


@case(
    kills=["resets-tell-nobody", "resets-tell-one-member", "resets-by-members-set-offsets", "forced-resets"],
    setup=BY_MEMBERS,
)
def test_reset_tells_every_member(bk: BrokerSession) -> None:
    topic, group = consumed(bk, 2)
    members = [online(bk, group), online(bk, group)]
    resets(bk, topic, group, 7, True) >> Reply(SUCCESS, {0: 0, 1: 0})
    said = Including({"topic": topic, "group": group, "timestamp": "7", "isForce": "false"})
    for _, connection in members:
        table = {"offsetTable": {queue_name(bk, topic, queue): 0 for queue in (0, 1)}}
        told = Request(RESET, table, flag=FLAG_ONEWAY, ext=said)
        connection.next_request(RESET).seen_as(TABLE) >> told
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 2)


@case(kills=["resets-leave-the-queue-out", "resets-repeat-the-queue"], setup=BY_MEMBERS)
def test_reset_names_no_queue(bk: BrokerSession) -> None:
    topic, group = consumed(bk, 2)
    _, connection = online(bk, group)
    said = {"topic": topic, "group": group, "timestamp": "0", "isForce": "false", "queueId": "-1"}
    asked = fields(topic=topic, group=group, timestamp=0, isForce=True)
    for queue in ({}, {"queueId": "0"}):
        bk.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, {**asked, **queue}).seen_as(OFFSETS) >> Reply(
            SUCCESS, {0: 0, 1: 0}
        )
        connection.next_request(RESET).seen_as(OFFSETS) >> Request(RESET, {0: 0, 1: 0}, ext=said)


@case(kills=["resets-49-name-a-queue"], setup=BY_MEMBERS)
def test_reset_says_no_queue(bk: BrokerSession) -> None:
    topic, group = consumed(bk, 2)
    _, connection = online(bk, group)
    resets(bk, topic, group, 0, True) >> Reply(SUCCESS, {0: 0, 1: 0})
    said = {"topic": topic, "group": group, "timestamp": "0", "isForce": "false"}
    connection.next_request(RESET).seen_as(OFFSETS) >> Request(RESET, {0: 0, 1: 0}, ext=said)


@case(kills=["resets-know-no-times"], setup=BY_MEMBERS)
def test_reset_to_a_time_goes_to_the_first_message_since(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=1), bk.group()
    online(bk, group)
    for _ in range(3):
        bk.send(topic) >> Reply(SUCCESS)
        bk.pause(0.05)
    stored = bk.pull(topic).seen("store times", lambda one: one.store_timestamp)
    times = (stored.eventually() >> Reply(SUCCESS, [ANYTHING] * 3)).value
    bk.commit_offset(group, topic, 0, 3) >> Reply(SUCCESS)
    resets(bk, topic, group, times[1], True) >> Reply(SUCCESS, {0: 1})


@case(kills=["resets-need-no-force", "resets-heed-no-force"], setup=BY_MEMBERS)
def test_reset_goes_back_only(bk: BrokerSession) -> None:
    topic, group = consumed(bk, 1)
    resets(bk, topic, group, -1, False) >> Reply(SUCCESS, {0: 1, 1: 2})
    resets(bk, topic, group, -1, True) >> Reply(SUCCESS, {0: 2, 1: 3})
    resets(bk, topic, group, 7, False) >> Reply(SUCCESS, {0: 0, 1: 0})


@case(kills=["resets-by-cpp-have-a-table"], setup=BY_MEMBERS)
def test_reset_by_cpp_has_a_list(bk: BrokerSession) -> None:
    topic, group = consumed(bk, 2)
    _, connection = online(bk, group)
    resets(bk, topic, group, -1, True, language="CPP") >> Reply(SUCCESS, {0: 2, 1: 3})
    told = connection.next_request(RESET).seen_as(LISTED)
    first = {"brokerName": bk.broker_name, "offset": 2, "queueId": 0, "topic": topic}
    second = {**first, "offset": 3, "queueId": 1}
    told >> Request(RESET, [Including(first), Including(second)])


@case(kills=["old-members-are-asked"], setup=BY_MEMBERS)
def test_reset_needs_newer_members(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=1), bk.group()
    _, connection = online(bk, group, version=OLD)
    bk.commit_offset(group, topic, 0, 0) >> Reply(SUCCESS)
    refused = Reply(ERROR, remark=Containing("the client does not support this feature"))
    resets(bk, topic, group, 0, True) >> refused
    connection.next_request(RESET) >> Silence()


@case(kills=["resets-need-no-offsets"], setup=BY_MEMBERS)
def test_reset_needs_offsets(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=2), bk.group()
    online(bk, group)
    missing = Reply(ERROR, remark=f"THe consumer group <{group}> not exist")
    resets(bk, topic, group, 0, True) >> missing
    bk.commit_offset(group, topic, 0, 0) >> Reply(SUCCESS)
    resets(bk, topic, group, 0, True) >> missing


@case(kills=["resets-49-name-unknown-topics"])
def test_reset_of_unknown_topic_is_an_error(bk: BrokerSession) -> None:
    topic = bk.name("none")
    resets(bk, topic, bk.group(), 0, True) >> Reply(ERROR, remark=REMARK + topic)


@case(
    kills=["resets-53-do-not-name-unknown-topics"],
    setup=BY_MEMBERS,
)
def test_reset_of_unknown_topic_says_so(bk: BrokerSession) -> None:
    topic = bk.name("none")
    resets(bk, topic, bk.group(), 0, True) >> Reply(ResponseCode.TOPIC_NOT_EXIST, remark=REMARK + topic)


@case(kills=["resets-in-any-language"], setup=BY_MEMBERS)
def test_reset_in_an_unknown_language_is_refused(bk: BrokerSession) -> None:
    topic, group = consumed(bk, 2)
    _, connection = online(bk, group)
    resets(bk, topic, group, 0, True, language="KLINGON") >> Reply(ERROR, remark=Matching("."))
    connection.next_request(RESET) >> Silence()
    resets(bk, topic, group, 0, True, language="PYTHON") >> Reply(SUCCESS, {0: 0, 1: 0})
    connection.next_request(RESET).seen_as(OFFSETS) >> Request(RESET, {0: 0, 1: 0})
