"""Chapter administration: progress of groups, and offsets that tools reset."""

from typing import Any

from harness.conformance import ANYTHING, Between, Containing, Including, Matching, Reply, case
from harness.conformance.broker.expiring import OLD, begins_late
from harness.conformance.broker.tools import (
    ERROR,
    SUCCESS,
    SYSTEM_GROUPS,
    asked,
    queue_name,
    tables_of,
)
from harness.conformance.broker.whole import pulled
from harness.session import BrokerSession
from harness.session.broker.requests import consuming
from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import ConsumeStats, ConsumeStatsList, QueueOffsets


def _progress(reply: Command) -> dict[int, tuple[int, int]]:
    table = ConsumeStats.decode(reply.body).offset_table
    return {queue.queue_id: (state.consumer_offset, state.broker_offset) for queue, state in table.items()}


def _offsets(reply: Command) -> dict[int, int]:
    table = QueueOffsets.decode(reply.body).offset_table
    return {queue.queue_id: offset for queue, offset in table.items()}


@case(
    kills=[
        "progress-is-empty",
        "progress-without-offsets",
        "progress-in-queues-to-write",
        "progress-in-a-blank-topic",
    ]
)
def test_progress_is_shown(bk: BrokerSession) -> None:
    for read, write in ((2, 1), (2, 3)):
        topic, group = bk.name(f"T{read}{write}"), bk.group(f"G{read}{write}")
        bk.create_topic(topic, read, write_queues=write) >> Reply(SUCCESS)
        bk.create_group(group) >> Reply(SUCCESS)
        for _ in range(2):
            bk.send(topic) >> Reply(SUCCESS)
        bk.commit_offset(group, topic, 0, 1) >> Reply(SUCCESS)
        bk.max_offset(topic, 0).offset.eventually() >> Reply(SUCCESS, 2)
        for asked_for in ({}, {"topic": ""}, {"topic": " "}):
            shown = asked(bk, RequestCode.GET_CONSUME_STATS, _progress, consumerGroup=group, **asked_for)
            shown >> Reply(SUCCESS, {0: (1, 2), 1: (0, 0)})


def whole_progress(bk: BrokerSession, **of_line: int) -> None:
    """A group has consumed one message of two in a queue, and the other queue has none."""
    topic, group, other = bk.topic(queues=2), bk.group(), bk.group("other")
    for member in (group, other):
        bk.create_group(member) >> Reply(SUCCESS)
    for _ in range(2):
        bk.send(topic, queue=1) >> Reply(SUCCESS)
        bk.advance(2)
    bk.commit_offset(group, topic, 1, 1) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 2)
    time = pulled(bk, topic, 1)["store_timestamp"]
    none: dict[str, object] = dict.fromkeys(("brokerOffset", "consumerOffset", "lastTimestamp", *of_line), 0)
    done = {"brokerOffset": 2, "consumerOffset": 1, "lastTimestamp": time, **of_line}
    table: dict[str, dict[str, object]] = {queue_name(bk, topic, 0): none, queue_name(bk, topic, 1): done}
    stats = {"consumeTps": 0.0, "offsetTable": table}
    asked(bk, RequestCode.GET_CONSUME_STATS, tables_of, consumerGroup=group) >> Reply(SUCCESS, stats)
    table[queue_name(bk, topic, 1)] = {**done, **dict.fromkeys(of_line, Between(0, 1))}
    of_all = asked(bk, RequestCode.GET_BROKER_CONSUME_STATS, _stats_of_groups, isOrder="false")
    of_all >> Reply(SUCCESS, Including({group: [stats], other: []}))


def _stats_of_groups(reply: Command) -> dict[str, Any]:
    entries = tables_of(reply)["consumeStatsList"]
    return {group: stats for entry in entries for group, stats in entry.items()}


@case(
    kills=["progress-without-times", "tables-of-another-broker", "progress-has-the-time-of-the-next"],
    clock=True,
)
def test_progress_has_times(bk: BrokerSession) -> None:
    whole_progress(bk)


@case(
    kills=[
        "progress-without-times",
        "progress-without-pulled-offsets",
        "progress-has-the-time-of-the-next",
    ],
    clock=True,
)
def test_progress_has_pulled_offsets(bk: BrokerSession) -> None:
    whole_progress(bk, pullOffset=1)


@case(kills=["unconsumed-is-in-flight"])
def test_progress_adds_up_what_is_in_flight(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=1), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    bk.commit_offset(group, topic, 0, 1) >> Reply(SUCCESS)
    asked(bk, RequestCode.GET_BROKER_CONSUME_STATS, _in_flight, isOrder="false") >> Reply(SUCCESS, 0)


def _in_flight(reply: Command) -> int | None:
    """By how much `totalInflightDiff` differs from what the queues add up to."""
    said: int | None = tables_of(reply).get("totalInflightDiff")
    tables = (one["offsetTable"] for stats in _stats_of_groups(reply).values() for one in stats)
    pulled = (one["pullOffset"] - one["consumerOffset"] for table in tables for one in table.values())
    return None if said is None else said - sum(pulled)


@case(kills=["progress-of-unknown-is-refused"])
def test_progress_of_unknown_group_is_empty(bk: BrokerSession) -> None:
    asked(bk, RequestCode.GET_CONSUME_STATS, _progress, consumerGroup=bk.group()) >> Reply(SUCCESS, {})


@case(kills=["groups-of-topic-not-shown"])
def test_groups_of_a_topic(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 0, 0) >> Reply(SUCCESS)
    shown = asked(bk, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, topic=topic)
    shown >> Reply(SUCCESS, {"groupList": Including([group])})


@case(kills=["resets-change-nothing", "tables-of-another-broker"])
def test_reset_sets_offsets(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=2), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.max_offset(topic, 0).offset.eventually() >> Reply(SUCCESS, 1)
    reset = {"topic": topic, "group": group, "timestamp": "-1", "isForce": "true"}
    table = {queue_name(bk, topic, 0): 1, queue_name(bk, topic, 1): 0}
    shown = asked(bk, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, tables_of, **reset)
    shown >> Reply(SUCCESS, {"offsetTable": table})
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 1)


@case(kills=["resets-are-told-for-ever"])
def test_reset_is_told_once(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=1), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    for body in (b"first", b"second"):
        bk.send(topic, body) >> Reply(SUCCESS)
    bk.max_offset(topic, 0).offset.eventually() >> Reply(SUCCESS, 2)
    bk.commit_offset(group, topic, 0, 2) >> Reply(SUCCESS)
    reset = {"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}
    asked(bk, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, _offsets, **reset) >> Reply(SUCCESS, {0: 0})
    bk.pull(topic, offset=2, group=group).next_offset >> Reply(ResponseCode.PULL_OFFSET_MOVED, 0)
    bk.pull(topic, offset=0, group=group).bodies >> Reply(SUCCESS, [b"first", b"second"])
    bk.committed(group, topic).offset >> Reply(SUCCESS, 0)
    reset |= {"timestamp": "-1"}
    asked(bk, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, _offsets, **reset) >> Reply(SUCCESS, {0: 2})
    moved = bk.pull(topic, offset=1, group=group)
    moved.next_offset >> Reply(ResponseCode.PULL_OFFSET_MOVED, 2)
    moved.bounds >> Reply(ResponseCode.PULL_OFFSET_MOVED, (0, 2))


@case(
    kills=[
        "one-reset-queue-is-told",
        "resets-are-told-to-all-groups",
        "commits-undo-resets",
        "resets-block-commits-of-the-topic",
        "resets-block-commits-of-the-queue",
    ]
)
def test_reset_is_told_of_each_queue(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(queues=2), bk.group(), bk.group("other")
    for queue, body in ((0, b"first"), (0, b"second"), (1, b"third")):
        bk.send(topic, body, queue) >> Reply(SUCCESS)
    for member in (group, other):
        bk.create_group(member) >> Reply(SUCCESS)
        bk.commit_offset(member, topic, 0, 2) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 1)
    reset = {"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}
    asked(bk, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, _offsets, **reset) >> Reply(SUCCESS, {0: 0, 1: 0})
    bk.pull(topic, 0, 1, group=other).bodies >> Reply(SUCCESS, [b"second"])
    bk.commit_offset(group, topic, 0, 2) >> Reply(SUCCESS, remark="Offset has been previously reset")
    moved = Reply(ResponseCode.PULL_OFFSET_MOVED, (0, 1), ext=Including({"nextBeginOffset": "0"}))
    bk.pull(topic, 1, 1, group=group).bounds >> moved
    bk.pull(topic, 1, 0, group=group).bodies >> Reply(SUCCESS, [b"third"])
    for member, queue in ((group, 1), (other, 0)):
        bk.commit_offset(member, topic, queue, 1) >> Reply(SUCCESS, remark=None)
        bk.committed(member, topic, queue).offset >> Reply(SUCCESS, 1)
    bk.pull(topic, 0, 2, group=group).next_offset >> Reply(
        ResponseCode.PULL_OFFSET_MOVED, 0, remark="OFFSET_RESET"
    )
    bk.commit_offset(group, topic, 0, 1) >> Reply(SUCCESS)
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 1)


@case(kills=["resets-of-unknown-succeed"])
def test_reset_of_unknown(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    reset = {"timestamp": "0", "isForce": "true"}
    code = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
    missing = asked(bk, code, _offsets, topic=bk.name("none"), group=group, **reset)
    missing >> Reply(ResponseCode.TOPIC_NOT_EXIST)
    missing = asked(bk, code, _offsets, topic=topic, group=group, **reset)
    missing >> Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)


@case(kills=["resets-are-of-all-queues", "resets-go-anywhere"])
def test_reset_of_one_queue(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=3), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    for queue in (1, 1, 1, 2):
        bk.send(topic, queue=queue) >> Reply(SUCCESS)
        bk.commit_offset(group, topic, queue, 1) >> Reply(SUCCESS)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 1)
    code = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
    reset = {"topic": topic, "group": group, "timestamp": "-1", "isForce": "true", "queueId": "1"}
    for beyond in ("-2", "5"):
        refused = asked(bk, code, _offsets, **reset, offset=beyond)
        remark = f"Target offset {beyond} not in consume queue range [0-3]"
        refused >> Reply(ERROR, remark=remark)
    bk.committed(group, topic, 1).offset >> Reply(SUCCESS, 1)
    for said, offset in ({"offset": "2"}, 2), ({"offset": "4"}, 4), ({"offset": "-1"}, 3), ({}, 3):
        asked(bk, code, _offsets, **reset, **said) >> Reply(SUCCESS, {1: offset})
        bk.committed(group, topic, 1).offset >> Reply(SUCCESS, offset)
    bk.committed(group, topic, 2).offset >> Reply(SUCCESS, 1)


@case(kills=["resets-go-to-what-is-gone"], clock=True, own_server=True, setup=OLD)
def test_reset_to_what_is_gone_is_refused(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    low = begins_late(bk, topic)
    code = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
    reset = {"topic": topic, "group": group, "timestamp": "-1", "isForce": "true", "queueId": "1"}
    refused = Reply(ERROR, remark=Matching("."))
    asked(bk, code, _offsets, **reset, offset=str(low - 1)) >> refused
    asked(bk, code, _offsets, **reset, offset=str(low)) >> Reply(SUCCESS, {1: low})
    bk.committed(group, topic, 1).offset >> Reply(SUCCESS, low)


@case(kills=["resets-need-queues"])
def test_reset_needs_a_queue(bk: BrokerSession) -> None:
    topic, group = bk.name("T"), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    bk.create_topic(topic, 0, write_queues=2) >> Reply(SUCCESS)
    reset = {"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}
    refused = Reply(ERROR, remark="No queues to reset.")
    asked(bk, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, _offsets, **reset) >> refused


@case(kills=["resets-need-nobody"])
def test_reset_needs_a_member(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=1), bk.group()
    bk.commit_offset(group, topic, 0, 0) >> Reply(SUCCESS)
    reset = {"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}
    code = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
    refused = Reply(ResponseCode.CONSUMER_NOT_ONLINE, remark=Containing("Consumer not online"))
    asked(bk, code, _offsets, **reset) >> refused


def _progress_of_all(reply: Command) -> dict[str, dict[tuple[str | None, int], tuple[int, int]]]:
    found = ConsumeStatsList.decode(reply.body)
    return {
        group: {
            (queue.topic, queue.queue_id): (state.consumer_offset, state.broker_offset)
            for one in stats
            for queue, state in one.offset_table.items()
        }
        for entry in found.consume_stats_list
        for group, stats in entry.items()
    }


def _total(reply: Command) -> tuple[str, int]:
    """The address, and by how much `totalDiff` differs from what the queues add up to."""
    found = ConsumeStatsList.decode(reply.body)
    table = _progress_of_all(reply)
    lags = (behind - done for queues in table.values() for done, behind in queues.values())
    return found.broker_addr, found.total_diff - sum(lags)


@case(
    kills=[
        "progress-of-one-group-is-shown",
        "progress-lacks-the-first-group",
        "total-difference-is-left-out",
        "progress-of-all-in-queues-to-read",
    ]
)
def test_progress_of_all_groups(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(queues=2), bk.group(), bk.group()
    for member in (group, other):
        bk.create_group(member) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    second = bk.topic("second", queues=1)
    bk.commit_offset(group, topic, 0, 1) >> Reply(SUCCESS)
    bk.commit_offset(group, second, 0, 3) >> Reply(SUCCESS)
    bk.max_offset(topic, 0).offset.eventually() >> Reply(SUCCESS, 2)
    code = RequestCode.GET_BROKER_CONSUME_STATS
    progress = {(topic, 0): (1, 2), (topic, 1): (0, 0), (second, 0): (3, 0)}
    for read, write in ((2, 1), (1, 2)):
        uneven = bk.name(f"T{read}{write}")
        bk.create_topic(uneven, read, write_queues=write) >> Reply(SUCCESS)
        bk.commit_offset(group, uneven, 0, 4) >> Reply(SUCCESS)
        progress |= {(uneven, queue): (0 if queue else 4, 0) for queue in range(write)}
    table = {**dict.fromkeys(SYSTEM_GROUPS, ANYTHING), group: progress, other: {}}
    asked(bk, code, _progress_of_all, isOrder="false") >> Reply(SUCCESS, Including(table))
    asked(bk, code, _total, isOrder="false") >> Reply(SUCCESS, (bk.broker_address, 0))


@case(kills=["progress-in-all-topics-is-shown"])
def test_progress_in_order_topics_only(bk: BrokerSession) -> None:
    topic, ordered, group = bk.topic(queues=1), bk.name("ordered"), bk.group()
    bk.create_topic(ordered, 1, order=True) >> Reply(SUCCESS)
    bk.create_group(group) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 0, 0) >> Reply(SUCCESS)
    bk.commit_offset(group, ordered, 0, 0) >> Reply(SUCCESS)
    shown = asked(bk, RequestCode.GET_BROKER_CONSUME_STATS, _progress_of_all, isOrder="true")
    shown >> Reply(SUCCESS, Including({group: {(ordered, 0): (0, 0)}}))


@case(
    kills=["progress-in-topics-given-up-is-shown", "groups-without-subscriptions-show-no-progress"],
)
def test_progress_of_a_group_that_is_online(bk: BrokerSession) -> None:
    topic, given_up, group = bk.topic(queues=1), bk.topic("U"), bk.group()
    bk.heartbeat(bk.name("client"), consumers=[consuming(group, [topic])]) >> Reply(SUCCESS)
    for name in (given_up, topic):
        bk.commit_offset(group, name, 0, 3) >> Reply(SUCCESS)
    shown = asked(bk, RequestCode.GET_CONSUME_STATS, _progress, consumerGroup=group)
    shown >> Reply(SUCCESS, {0: (3, 0)})
    none = asked(bk, RequestCode.GET_CONSUME_STATS, _progress, consumerGroup=group, topic=given_up)
    none >> Reply(SUCCESS, {})
    assigned, progress = bk.group("assigned"), {(topic, 0): (3, 0)}
    bk.heartbeat(bk.name("client"), consumers=[consuming(assigned)], on=bk.connect()) >> Reply(SUCCESS)
    bk.commit_offset(assigned, topic, 0, 3) >> Reply(SUCCESS)
    for ext in ({}, {"topic": topic}):
        shown = asked(bk, RequestCode.GET_CONSUME_STATS, _progress, consumerGroup=assigned, **ext)
        shown >> Reply(SUCCESS, {0: (3, 0)})
    of_all = asked(bk, RequestCode.GET_BROKER_CONSUME_STATS, _progress_of_all, isOrder="false")
    of_all >> Reply(SUCCESS, Including({group: progress, assigned: progress}))


@case(kills=["resets-to-a-time-go-to-the-beginning"], clock=True)
def test_reset_to_a_time(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=2), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    for number in range(4):
        bk.send(topic, queue=min(number, 1)) >> Reply(SUCCESS)
        bk.advance(2)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 3)
    time = pulled(bk, topic, 1, 1)["store_timestamp"]
    reset = {"topic": topic, "group": group, "timestamp": str(time), "isForce": "true"}
    shown = asked(bk, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, _offsets, **reset)
    shown >> Reply(SUCCESS, {0: 1, 1: 1})
    bk.committed(group, topic, 1).offset >> Reply(SUCCESS, 1)
