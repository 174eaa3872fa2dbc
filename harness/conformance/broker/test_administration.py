"""Chapter administration: groups, connections, progress, settings and state as tools see and change them."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from harness.conformance import ABSENT, ANYTHING, Between, Containing, Including, Matching, Reply, case
from harness.session import BrokerSession, Exchange
from harness.session.broker.requests import consuming
from harness.session.exchange import NotSo, View
from harness.session.views import body_member
from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import ConsumeStats, ConsumeStatsList, KvTable, QueueOffsets, TopicList
from harness.wire.fastjson import ParseError, parse

SUCCESS = ResponseCode.SUCCESS
ERROR = ResponseCode.SYSTEM_ERROR


class _Producer(msgspec.Struct):
    id: str = msgspec.field(name="clientId")


class _Producers(msgspec.Struct):
    data: dict[str, list[_Producer]]


def asked(bk: BrokerSession, code: int, read: Callable[[Command], Any] | None = None, **ext: str) -> Exchange:
    """A request of a tool, seen as `read` sees its reply; without it, as JSON."""
    exchange = bk.call(code, ext, about=", ".join(ext.values()))
    return exchange.seen_as(View("body", _readable(read or _json)))


def _readable(read: Callable[[Command], Any]) -> Callable[[Command], Any]:
    def readable(reply: Command) -> Any:
        try:
            return read(reply) if reply.body else None
        except (WireError, ParseError, msgspec.MsgspecError) as problem:
            raise NotSo(str(problem)) from problem

    return readable


def _json(reply: Command) -> Any:
    return parse(reply.body)


def _progress(reply: Command) -> dict[int, tuple[int, int]]:
    table = ConsumeStats.decode(reply.body).offset_table
    return {queue.queue_id: (state.consumer_offset, state.broker_offset) for queue, state in table.items()}


def _offsets(reply: Command) -> dict[int, int]:
    table = QueueOffsets.decode(reply.body).offset_table
    return {queue.queue_id: offset for queue, offset in table.items()}


def _topics(reply: Command) -> list[str]:
    return sorted(TopicList.decode(reply.body).topic_list)


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


def _state(reply: Command) -> Mapping[str, str]:
    return KvTable.decode(reply.body).table


def make_group(bk: BrokerSession, group: str, **members: object) -> Exchange:
    """UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200)."""
    body = json.dumps({"groupName": group, **members}).encode()
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTION_GROUP
    return bk.call(code, None, body, about=group)


def groups(bk: BrokerSession) -> Exchange:
    """GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201)."""
    return asked(bk, RequestCode.GET_ALL_SUBSCRIPTION_GROUP_CONFIG)


# -- groups --------------------------------------------------------------------------------------------------


@case(kills=["groups-are-made-with-defaults"])
def test_group_is_created_as_requested(bk: BrokerSession) -> None:
    group = bk.group()
    make_group(bk, group, retryQueueNums=3, retryMaxTimes=5) >> Reply(SUCCESS)
    made = Including({group: Including({"retryQueueNums": 3, "retryMaxTimes": 5, "consumeEnable": True})})
    groups(bk) >> Reply(SUCCESS, Including({"subscriptionGroupTable": made}))


@case(kills=["empty-groups-are-made"])
def test_group_without_body_is_refused(bk: BrokerSession) -> None:
    make_group(bk, bk.group()) >> Reply(SUCCESS)
    bk.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTION_GROUP) >> Reply(ERROR)


@case(kills=["groups-are-not-deleted"])
def test_deleted_group_is_gone(bk: BrokerSession) -> None:
    group = bk.group()
    make_group(bk, group) >> Reply(SUCCESS)
    bk.call(RequestCode.DELETE_SUBSCRIPTION_GROUP, {"groupName": group}) >> Reply(SUCCESS)
    groups(bk) >> Reply(SUCCESS, Including({"subscriptionGroupTable": Including({group: ABSENT})}))


# -- who is online -------------------------------------------------------------------------------------------


@case(kills=["no-consumers-are-shown", "subscriptions-are-not-shown"])
def test_consumers_are_shown(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    client, connection = bk.client()
    bk.heartbeat(client, consumers=[consuming(group, {topic: "A"})], on=connection) >> Reply(SUCCESS)
    shown = bk.consumer_connections(group).json
    member = Including({"clientId": client, "clientAddr": Matching(r":\d+$"), "language": "JAVA"})
    shown >> Reply(
        SUCCESS,
        Including(
            {
                "connectionSet": [member],
                "consumeType": "CONSUME_PASSIVELY",
                "messageModel": "CLUSTERING",
                "subscriptionTable": Including({topic: Including({"subString": "A"})}),
            }
        ),
    )


@case(kills=["nobody-online-is-success"])
def test_no_consumer_online(bk: BrokerSession) -> None:
    group = bk.group()
    remark = f"the consumer group[{group}] not online"
    bk.consumer_connections(group) >> Reply(ResponseCode.CONSUMER_NOT_ONLINE, remark=remark)


@case(kills=["no-producers-are-shown"])
def test_producers_are_shown(bk: BrokerSession) -> None:
    group = bk.group()
    client, connection = bk.client()
    bk.heartbeat(client, producers=[group], on=connection) >> Reply(SUCCESS)
    shown = asked(bk, RequestCode.GET_PRODUCER_CONNECTION_LIST, producerGroup=group)
    shown >> Reply(SUCCESS, Including({"connectionSet": [Including({"clientId": client})]}))


@case(kills=["unknown-producers-are-success"])
def test_unknown_producers(bk: BrokerSession) -> None:
    group = bk.group()
    remark = f"the producer group[{group}] not exist"
    asked(bk, RequestCode.GET_PRODUCER_CONNECTION_LIST, producerGroup=group) >> Reply(ERROR, remark=remark)


@case(kills=["who-produces-no-more-is-shown", "who-leaves-takes-all-producers-along"])
def test_producer_that_left_is_not_shown(bk: BrokerSession) -> None:
    group = bk.group()
    (one, on_one), (two, on_two) = bk.client(), bk.client()
    for client, connection in ((one, on_one), (two, on_two)):
        bk.heartbeat(client, producers=[group], on=connection) >> Reply(SUCCESS)
    bk.leave(one, producer_group=group, on=on_one) >> Reply(SUCCESS)
    shown = asked(bk, RequestCode.GET_PRODUCER_CONNECTION_LIST, producerGroup=group)
    shown >> Reply(SUCCESS, {"connectionSet": [Including({"clientId": two})]})
    bk.leave(two, producer_group=group, on=on_two) >> Reply(SUCCESS)
    remark = f"the producer group[{group}] not exist"
    asked(bk, RequestCode.GET_PRODUCER_CONNECTION_LIST, producerGroup=group) >> Reply(ERROR, remark=remark)


# -- progress ------------------------------------------------------------------------------------------------


@case(kills=["progress-is-empty", "progress-without-offsets"])
def test_progress_is_shown(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=2), bk.group()
    make_group(bk, group) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 0, 1) >> Reply(SUCCESS)
    bk.max_offset(topic, 0).offset.eventually() >> Reply(SUCCESS, 2)
    shown = asked(bk, RequestCode.GET_CONSUME_STATS, _progress, consumerGroup=group)
    shown >> Reply(SUCCESS, {0: (1, 2), 1: (0, 0)})


@case(kills=["progress-of-unknown-is-refused"])
def test_progress_of_unknown_group_is_empty(bk: BrokerSession) -> None:
    asked(bk, RequestCode.GET_CONSUME_STATS, _progress, consumerGroup=bk.group()) >> Reply(SUCCESS, {})


@case(kills=["groups-of-topic-not-shown"])
def test_groups_of_a_topic(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    make_group(bk, group) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 0, 0) >> Reply(SUCCESS)
    shown = asked(bk, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, topic=topic)
    shown >> Reply(SUCCESS, {"groupList": Including([group])})


@case(kills=["resets-change-nothing"])
def test_reset_sets_offsets(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=2), bk.group()
    make_group(bk, group) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.max_offset(topic, 0).offset.eventually() >> Reply(SUCCESS, 1)
    reset = {"topic": topic, "group": group, "timestamp": "-1", "isForce": "true"}
    asked(bk, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, _offsets, **reset) >> Reply(SUCCESS, {0: 1, 1: 0})
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 1)


@case(kills=["resets-are-told-for-ever"])
def test_reset_is_told_once(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=1), bk.group()
    make_group(bk, group) >> Reply(SUCCESS)
    for body in (b"first", b"second"):
        bk.send(topic, body) >> Reply(SUCCESS)
    bk.max_offset(topic, 0).offset.eventually() >> Reply(SUCCESS, 2)
    bk.commit_offset(group, topic, 0, 2) >> Reply(SUCCESS)
    reset = {"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}
    asked(bk, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, _offsets, **reset) >> Reply(SUCCESS, {0: 0})
    bk.pull(topic, offset=2, group=group).next_offset >> Reply(ResponseCode.PULL_OFFSET_MOVED, 0)
    bk.pull(topic, offset=0, group=group).bodies >> Reply(SUCCESS, [b"first", b"second"])


@case(kills=["one-reset-queue-is-told", "resets-are-told-to-all-groups", "commits-undo-resets"])
def test_reset_is_told_of_each_queue(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(queues=2), bk.group(), bk.group("other")
    for queue, body in ((0, b"first"), (0, b"second"), (1, b"third")):
        bk.send(topic, body, queue) >> Reply(SUCCESS)
    for member in (group, other):
        make_group(bk, member) >> Reply(SUCCESS)
        bk.commit_offset(member, topic, 0, 2) >> Reply(SUCCESS)
    bk.max_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, 1)
    reset = {"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}
    asked(bk, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, _offsets, **reset) >> Reply(SUCCESS, {0: 0, 1: 0})
    bk.pull(topic, 0, 1, group=other).bodies >> Reply(SUCCESS, [b"second"])
    bk.commit_offset(group, topic, 0, 2) >> Reply(SUCCESS, remark="Offset has been previously reset")
    moved = Reply(ResponseCode.PULL_OFFSET_MOVED, (0, 1), ext=Including({"nextBeginOffset": "0"}))
    bk.pull(topic, 1, 1, group=group).bounds >> moved
    bk.pull(topic, 1, 0, group=group).bodies >> Reply(SUCCESS, [b"third"])
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
    make_group(bk, group) >> Reply(SUCCESS)
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


@case(kills=["resets-need-queues"])
def test_reset_needs_a_queue(bk: BrokerSession) -> None:
    topic, group = bk.name("T"), bk.group()
    make_group(bk, group) >> Reply(SUCCESS)
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


# -- settings and state --------------------------------------------------------------------------------------


@case(kills=["broker-settings-are-not-shown"])
def test_settings_are_shown(bk: BrokerSession) -> None:
    bk.config().among("brokerName", "autoCreateTopicEnable") >> Reply(
        SUCCESS, {"brokerName": bk.broker_name, "autoCreateTopicEnable": "true"}
    )


@case(kills=["broker-settings-do-not-change"], own_server=True)
def test_settings_change(bk: BrokerSession) -> None:
    bk.update_config({"autoCreateTopicEnable": "false"}) >> Reply(SUCCESS)
    bk.config().among("autoCreateTopicEnable") >> Reply(SUCCESS, {"autoCreateTopicEnable": "false"})
    bk.send(bk.name("T")) >> Reply(ResponseCode.TOPIC_NOT_EXIST)


@case(kills=["broker-black-list-ignored"])
def test_black_list_holds(bk: BrokerSession) -> None:
    remark = "Can not update config in black list."
    bk.update_config({"brokerConfigPath": "/tmp/x", "maxMessageSize": "7"}) >> Reply(
        ResponseCode.NO_PERMISSION, remark=remark
    )
    bk.config().among("maxMessageSize") >> Reply(SUCCESS, {"maxMessageSize": "4194304"})


@case(kills=["broken-settings-are-taken"])
def test_settings_that_cannot_be_read_are_refused(bk: BrokerSession) -> None:
    refused = Reply(ERROR, remark="string2Properties error")
    bk.update_config(b"maxMessageSize=7\nname=\\u12xy") >> refused
    bk.config().among("maxMessageSize") >> Reply(SUCCESS, {"maxMessageSize": "4194304"})


@case(kills=["settings-of-the-later-line-are-unknown"], own_server=True)
def test_settings_of_the_later_line_change(bk: BrokerSession) -> None:
    topic = bk.topic()
    names = ("litePullMessageEnable", "popPollingSize")
    bk.config().among(*names) >> Reply(SUCCESS, dict(zip(names, ("true", "1024"), strict=True)))
    changed = dict(zip(names, ("false", "7"), strict=True))
    bk.update_config(changed) >> Reply(SUCCESS)
    bk.config().among(*names) >> Reply(SUCCESS, changed)
    bk.pull(topic, code=361) >> Reply(ResponseCode.NO_PERMISSION)


@case(kills=["settings-of-the-later-line-are-taken"])
def test_settings_of_the_later_line_are_unknown(bk: BrokerSession) -> None:
    bk.update_config({"litePullMessageEnable": "false"}) >> Reply(SUCCESS)
    bk.config().among("litePullMessageEnable") >> Reply(SUCCESS, {"litePullMessageEnable": None})


@case(kills=["state-is-not-shown", "state-without-version"])
def test_state_is_shown(bk: BrokerSession) -> None:
    number = Matching(r"^-?[0-9]+$")
    names = ("brokerVersion", "bootTimestamp", "earliestMessageTimeStamp", "sendThreadPoolQueueSize")
    shown = Including({"brokerVersionDesc": Matching("^V[0-9]"), **dict.fromkeys(names, number)})
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, _state) >> Reply(SUCCESS, shown)


@case(kills=["levels-are-not-among-the-state"], clock=True)
def test_state_has_delay_levels(bk: BrokerSession) -> None:
    topic = bk.topic(queues=1)
    bk.send(topic, properties={"DELAY": "2"}) >> Reply(SUCCESS)
    bk.advance(5 + 1 + bk.jitter)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"hello"])
    shown = Including({"scheduleMessageOffset_2": Matching("^[1-9][0-9]*,[1-9][0-9]*$")})
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, _state).eventually() >> Reply(SUCCESS, shown)


@case(kills=["settings-need-a-body"])
def test_no_settings_change_nothing(bk: BrokerSession) -> None:
    bk.update_config(None) >> Reply(SUCCESS)
    bk.config().among("maxMessageSize") >> Reply(SUCCESS, {"maxMessageSize": "4194304"})


@case(kills=["unknown-codes-are-not-answered"])
def test_unknown_code_is_answered(bk: BrokerSession) -> None:
    unknown = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    bk.call(29_999) >> Reply(unknown, remark=" request type 29999 not supported")


# -- queues --------------------------------------------------------------------------------------------------


@case(kills=["cleaning-removes-queues-in-use", "cleaning-of-queues-is-refused"])
def test_cleaning_keeps_queues_in_use(bk: BrokerSession) -> None:
    topic = bk.topic()
    for body in (b"first", b"second"):
        bk.send(topic, body) >> Reply(SUCCESS)
    bk.clean_queues() >> Reply(SUCCESS)
    bk.max_offset(topic).offset >> Reply(SUCCESS, 2)
    bk.pull(topic).bodies >> Reply(SUCCESS, [b"first", b"second"])


# -- one group, and all of them ------------------------------------------------------------------------------


def shown_group(bk: BrokerSession, group: str) -> Exchange:
    """GET_SUBSCRIPTION_GROUP_CONFIG (352)."""
    return asked(bk, RequestCode.GET_SUBSCRIPTION_GROUP_CONFIG, group=group)


@case(kills=["newest-group-is-shown"])
def test_group_is_shown(bk: BrokerSession) -> None:
    group = bk.group()
    make_group(bk, group, retryQueueNums=3, retryMaxTimes=5) >> Reply(SUCCESS)
    make_group(bk, bk.group(), retryMaxTimes=7) >> Reply(SUCCESS)
    made = {"groupName": group, "retryQueueNums": 3, "retryMaxTimes": 5, "consumeEnable": True}
    shown_group(bk, group) >> Reply(SUCCESS, Including(made))


@case(kills=["group-that-is-asked-for-is-unknown"])
def test_group_that_is_asked_for_is_created(bk: BrokerSession) -> None:
    group = bk.group()
    shown_group(bk, group) >> Reply(SUCCESS, Including({"groupName": group, "retryMaxTimes": 16}))
    groups(bk) >> Reply(SUCCESS, Including({"subscriptionGroupTable": Including({group: ANYTHING})}))


@case(kills=["unknown-group-is-shown"], setup={"autoCreateSubscriptionGroup": "false"})
def test_unknown_group_is_not_shown(bk: BrokerSession) -> None:
    shown_group(bk, bk.group()) >> Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)


@case(kills=["one-producer-of-a-group-is-shown", "producers-of-the-newest-group-are-shown"])
def test_all_producers_are_shown(bk: BrokerSession) -> None:
    group, other = bk.group(), bk.group("other")
    (one, on_one), (two, on_two) = bk.client(), bk.client()
    bk.heartbeat(one, producers=[group, other], on=on_one, version=400) >> Reply(SUCCESS)
    bk.heartbeat(two, producers=[group], on=on_two) >> Reply(SUCCESS)

    def clients(reply: Command) -> dict[str, list[str]]:
        data = msgspec.json.decode(reply.body, type=_Producers).data
        return {name: sorted(client.id for client in data.get(name, ())) for name in (group, other)}

    code = RequestCode.GET_ALL_PRODUCER_INFO
    asked(bk, code, clients) >> Reply(SUCCESS, {group: sorted([one, two]), other: [one]})
    client = {
        "clientId": one,
        "language": "JAVA",
        "version": 400,
        "remoteIP": Matching(r"^/.+:\d+$"),
        "lastUpdateTimestamp": Between(1, 2**63),
    }
    asked(bk, code) >> Reply(SUCCESS, {"data": Including({other: [client]})})


@case(kills=["groups-without-producers-are-shown", "lost-producers-are-shown"])
def test_producers_that_left_are_not_shown(bk: BrokerSession) -> None:
    group, other = bk.group(), bk.group("other")
    (one, on_one), (two, on_two) = bk.client(), bk.client()
    bk.heartbeat(one, producers=[group, other], on=on_one) >> Reply(SUCCESS)
    bk.heartbeat(two, producers=[group], on=on_two) >> Reply(SUCCESS)

    def clients(reply: Command) -> dict[str, list[str]]:
        data = msgspec.json.decode(reply.body, type=_Producers).data
        return {name: [client.id for client in data[name]] for name in (group, other) if name in data}

    shown = asked(bk, RequestCode.GET_ALL_PRODUCER_INFO, clients)
    bk.leave(one, producer_group=other, on=on_one) >> Reply(SUCCESS)
    on_two.close()
    shown.eventually() >> Reply(SUCCESS, {group: [one]})
    on_one.close()
    asked(bk, RequestCode.GET_ALL_PRODUCER_INFO, clients).eventually() >> Reply(SUCCESS, {})


@case(kills=["topics-of-all-groups-are-shown"])
def test_topics_of_a_group(bk: BrokerSession) -> None:
    topics, group, other, idle = [bk.topic() for _ in range(3)], bk.group(), bk.group(), bk.group()
    for member in (group, other, idle):
        make_group(bk, member) >> Reply(SUCCESS)
    bk.commit_offset(group, topics[0], 0, 0) >> Reply(SUCCESS)
    bk.commit_offset(group, topics[2], 1, 0) >> Reply(SUCCESS)
    bk.commit_offset(other, topics[1], 0, 0) >> Reply(SUCCESS)
    code = RequestCode.QUERY_TOPICS_BY_CONSUMER
    asked(bk, code, _topics, group=group) >> Reply(SUCCESS, sorted([topics[0], topics[2]]))
    asked(bk, code, _topics, group=idle) >> Reply(SUCCESS, [])


@case(kills=["any-subscription-is-shown", "subscription-of-group-is-hidden"])
def test_subscription_of_a_group(bk: BrokerSession) -> None:
    topic, other, group = bk.topic(), bk.topic(), bk.group()
    client, connection = bk.client()
    code = RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER
    offline = {"group": group, "topic": topic, "subscriptionData": ABSENT}
    asked(bk, code, group=group, topic=topic) >> Reply(SUCCESS, Including(offline))
    bk.heartbeat(client, consumers=[consuming(group, {topic: "A || B"})], on=connection) >> Reply(SUCCESS)
    wanted = Including({"topic": topic, "subString": "A || B", "expressionType": "TAG", "subVersion": 1})
    online = {"group": group, "topic": topic, "subscriptionData": wanted}
    asked(bk, code, group=group, topic=topic) >> Reply(SUCCESS, Including(online))
    none = {"group": group, "topic": other, "subscriptionData": ABSENT}
    asked(bk, code, group=group, topic=other) >> Reply(SUCCESS, Including(none))


@case(kills=["progress-of-one-group-is-shown", "total-difference-is-left-out"])
def test_progress_of_all_groups(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(queues=2), bk.group(), bk.group()
    for member in (group, other):
        make_group(bk, member) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 0, 1) >> Reply(SUCCESS)
    bk.max_offset(topic, 0).offset.eventually() >> Reply(SUCCESS, 2)
    code = RequestCode.GET_BROKER_CONSUME_STATS
    progress = {(topic, 0): (1, 2), (topic, 1): (0, 0)}
    asked(bk, code, _progress_of_all, isOrder="false") >> Reply(
        SUCCESS, Including({group: progress, other: {}})
    )
    asked(bk, code, _total, isOrder="false") >> Reply(SUCCESS, (bk.broker_address, 0))


@case(kills=["progress-in-all-topics-is-shown"])
def test_progress_in_order_topics_only(bk: BrokerSession) -> None:
    topic, ordered, group = bk.topic(queues=1), bk.name("ordered"), bk.group()
    bk.create_topic(ordered, 1, order=True) >> Reply(SUCCESS)
    make_group(bk, group) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 0, 0) >> Reply(SUCCESS)
    bk.commit_offset(group, ordered, 0, 0) >> Reply(SUCCESS)
    shown = asked(bk, RequestCode.GET_BROKER_CONSUME_STATS, _progress_of_all, isOrder="true")
    shown >> Reply(SUCCESS, Including({group: {(ordered, 0): (0, 0)}}))


# -- all that a group is -------------------------------------------------------------------------------------


DEFAULTS = {
    "consumeEnable": True,
    "consumeFromMinEnable": True,
    "consumeBroadcastEnable": True,
    "retryQueueNums": 1,
    "retryMaxTimes": 16,
    "brokerId": 0,
    "whichBrokerWhenConsumeSlowly": 1,
    "notifyConsumerIdsChangedEnable": True,
}
DEFAULTS_5X = {
    **DEFAULTS,
    "consumeMessageOrderly": False,
    "groupRetryPolicy": {"type": "CUSTOMIZED"},
    "groupSysFlag": 0,
    "consumeTimeoutMinute": 15,
    "attributes": {},
}
OTHERS = {
    "consumeEnable": False,
    "consumeFromMinEnable": False,
    "consumeBroadcastEnable": False,
    "retryQueueNums": 3,
    "retryMaxTimes": 5,
    "brokerId": 2,
    "whichBrokerWhenConsumeSlowly": 4,
    "notifyConsumerIdsChangedEnable": False,
}
OTHERS_5X = {**OTHERS, "consumeMessageOrderly": True, "groupSysFlag": 6, "consumeTimeoutMinute": 7}


def made_groups(bk: BrokerSession, defaults: Mapping[str, Any], others: Mapping[str, Any]) -> Including:
    """Two groups, one without any member and one with these; the table that shows them."""
    plain, other = bk.group("plain"), bk.group("other")
    make_group(bk, plain) >> Reply(SUCCESS)
    make_group(bk, other, **others) >> Reply(SUCCESS)
    shown = {plain: {"groupName": plain, **defaults}, other: {"groupName": other, **defaults, **others}}
    table = Including({"subscriptionGroupTable": Including(shown)})
    bk.groups().json >> Reply(SUCCESS, table)
    return table


@case(kills=["groups-are-made-with-defaults", "groups-lose-members-of-5x"])
def test_group_has_all_members_of_5x(bk: BrokerSession) -> None:
    made_groups(bk, DEFAULTS_5X, OTHERS_5X)


@case(kills=["groups-are-made-with-defaults", "groups-have-members-of-5x"])
def test_group_has_all_members_of_4_9(bk: BrokerSession) -> None:
    made_groups(bk, DEFAULTS, OTHERS)


@case(kills=["restarts-forget-groups"], own_server=True)
def test_groups_of_5x_survive_a_kill(bk: BrokerSession) -> None:
    table = made_groups(bk, DEFAULTS_5X, OTHERS_5X)
    bk.restart("kill")
    bk.groups().json.eventually() >> Reply(SUCCESS, table)


@case(kills=["restarts-forget-groups"], own_server=True)
def test_groups_of_4_9_survive_a_kill(bk: BrokerSession) -> None:
    table = made_groups(bk, DEFAULTS, OTHERS)
    bk.restart("kill")
    bk.groups().json.eventually() >> Reply(SUCCESS, table)


# -- groups that are refused, and deleted --------------------------------------------------------------------


def delete_group(bk: BrokerSession, group: str, **ext: str) -> Exchange:
    """DELETE_SUBSCRIPTIONGROUP (207)."""
    return bk.call(RequestCode.DELETE_SUBSCRIPTION_GROUP, {"groupName": group, **ext}, about=group)


@case(kills=["groups-need-no-name"])
def test_group_without_name_is_refused(bk: BrokerSession) -> None:
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTION_GROUP
    bk.call(code, None, b'{"retryMaxTimes":5}') >> Reply(ERROR)
    make_group(bk, bk.group(), retryMaxTimes=5) >> Reply(SUCCESS)


@case(kills=["deletion-keeps-offsets-of-groups", "deletion-always-forgets-offsets-of-groups"])
def test_deletion_of_a_group_forgets_offsets_on_request(bk: BrokerSession) -> None:
    topics, (first, second, third) = [bk.topic(), bk.topic("U")], [bk.group(), bk.group(), bk.group()]
    for number, group in enumerate((first, second, third), 5):
        make_group(bk, group) >> Reply(SUCCESS)
        for topic in topics:
            bk.commit_offset(group, topic, 1, number) >> Reply(SUCCESS)
    delete_group(bk, first, removeOffset="true", cleanOffset="true") >> Reply(SUCCESS)
    delete_group(bk, second) >> Reply(SUCCESS)
    table: dict[str, Any] = {}
    for topic in topics:
        kept = {f"{topic}@{second}": {"1": 6}, f"{topic}@{third}": {"1": 7}}
        table |= {f"{topic}@{first}": ABSENT, **kept}
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": Including(table)}))


@case(kills=["deletion-of-unknown-groups-is-a-change"], own_server=True)
def test_deletion_of_an_unknown_group_changes_nothing(bk: BrokerSession) -> None:
    group = bk.group()
    make_group(bk, group) >> Reply(SUCCESS)
    version = body_member("dataVersion", "counter", of=int)
    before: int = (bk.groups().seen_as(version) >> Reply(SUCCESS)).value
    delete_group(bk, bk.group()) >> Reply(SUCCESS)
    bk.groups().seen_as(version) >> Reply(SUCCESS, before)
    delete_group(bk, group) >> Reply(SUCCESS)
    bk.groups().seen_as(version) >> Reply(SUCCESS, before + 1)


@case(kills=["first-group-of-topic-is-hidden", "last-group-of-topic-is-hidden"], own_server=True)
def test_groups_of_a_topic_are_all_shown(bk: BrokerSession) -> None:
    topic, other = bk.topic(), bk.topic("U")
    groups = [bk.group(f"offline{number}") for number in range(3)]
    for group, name in zip(groups, (topic, other, topic), strict=True):
        make_group(bk, group) >> Reply(SUCCESS)
        bk.commit_offset(group, name, 0, 0) >> Reply(SUCCESS)
    for name, shown in ((topic, [groups[0], groups[2]]), (other, [groups[1]])):
        asked(bk, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, _group_list, topic=name) >> Reply(SUCCESS, shown)


@case(kills=["first-group-of-topic-is-hidden", "last-group-of-topic-is-hidden"], own_server=True)
def test_groups_of_a_topic_that_are_online(bk: BrokerSession) -> None:
    topic, other = bk.topic(), bk.topic("U")
    groups = [bk.group(f"online{number}") for number in range(3)]
    for group, name in zip(groups, (topic, other, topic), strict=True):
        wants = [consuming(group, [name])]
        bk.heartbeat(bk.name("client"), consumers=wants, on=bk.connect()) >> Reply(SUCCESS)
    for name, shown in ((topic, [groups[0], groups[2]]), (other, [groups[1]])):
        asked(bk, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, _group_list, topic=name) >> Reply(SUCCESS, shown)


def _group_list(reply: Command) -> list[str]:
    found = _json(reply)
    if not isinstance(found, dict) or not isinstance(found.get("groupList"), list):
        raise NotSo("there is no groupList")
    return sorted(map(str, found["groupList"]))


NUMBER, DECIMAL, RATES = r"^\d+$", r"^\d+\.\d+$", r"^(\d+\.\d+(E-\d+)?| )*$"
STATE = {
    "EndTransactionQueueSize": NUMBER,
    "EndTransactionThreadPoolQueueCapacity": NUMBER,
    "bootTimestamp": r"^\d{13}$",
    "brokerVersion": NUMBER,
    "brokerVersionDesc": r"^V[45]_\d+_\d+$",
    "commitLogDirCapacity": r"^Total : \S+ \S+, Free : \S+ \S+$",
    "commitLogMaxOffset": NUMBER,
    "commitLogMinOffset": r"^(-1|\d+)$",
    "dispatchBehindBytes": NUMBER,
    "dispatchMaxBuffer": NUMBER,
    "earliestMessageTimeStamp": r"^(-1|\d{13})$",
    "getFoundTps": RATES,
    "getMessageEntireTimeMax": NUMBER,
    "getMissTps": RATES,
    "getTotalTps": RATES,
    "msgGetTotalTodayMorning": NUMBER,
    "msgGetTotalTodayNow": NUMBER,
    "msgGetTotalYesterdayMorning": NUMBER,
    "msgPutTotalTodayMorning": NUMBER,
    "msgPutTotalTodayNow": NUMBER,
    "msgPutTotalYesterdayMorning": NUMBER,
    "pageCacheLockTimeMills": NUMBER,
    "pullThreadPoolQueueCapacity": NUMBER,
    "pullThreadPoolQueueHeadWaitTimeMills": NUMBER,
    "pullThreadPoolQueueSize": NUMBER,
    "putMessageAverageSize": DECIMAL,
    "putMessageEntireTimeMax": NUMBER,
    "putMessageSizeTotal": NUMBER,
    "putMessageTimesTotal": NUMBER,
    "putTps": RATES,
    "queryThreadPoolQueueCapacity": NUMBER,
    "queryThreadPoolQueueHeadWaitTimeMills": NUMBER,
    "queryThreadPoolQueueSize": NUMBER,
    "remainHowManyDataToFlush": r"^\d+(\.\d+)? \S+$",
    "remainTransientStoreBufferNumbs": NUMBER,
    "runtime": r"^\[ \d+ days, \d+ hours, \d+ minutes, \d+ seconds \]$",
    "sendThreadPoolQueueCapacity": NUMBER,
    "sendThreadPoolQueueHeadWaitTimeMills": NUMBER,
    "sendThreadPoolQueueSize": NUMBER,
    "startAcceptSendRequestTimeStamp": NUMBER,
}


@case(kills=["state-swaps-totals"])
def test_state_is_shown_in_its_forms(bk: BrokerSession) -> None:
    shown = Including({name: Matching(form) for name, form in STATE.items()})
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, _state) >> Reply(SUCCESS, shown)


@case(kills=["state-counts-one-topic"], own_server=True)
def test_state_counts_messages(bk: BrokerSession) -> None:
    topic, other = bk.topic(), bk.topic("U")
    names = ("msgPutTotalTodayNow", "putMessageTimesTotal", "commitLogMinOffset")
    before = dict(zip(names, ("0", "1", "-1"), strict=True))
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, _state) >> Reply(SUCCESS, Including(before))
    for name, queue in ((topic, 0), (topic, 1), (topic, 1), (other, 2), (other, 2)):
        bk.send(name, queue=queue) >> Reply(SUCCESS)
    after = Including(dict(zip(names, ("5", "5", "0"), strict=True)))
    asked(bk, RequestCode.GET_BROKER_RUNTIME_INFO, _state).eventually() >> Reply(SUCCESS, after)


@case(kills=["null-in-quotes-is-false"])
def test_null_in_quotes_is_no_boolean(bk: BrokerSession) -> None:
    group, names = bk.group(), ("consumeEnable", "consumeFromMinEnable", "consumeBroadcastEnable")
    make_group(bk, group, **dict(zip(names, ("null", "NULL", ""), strict=True))) >> Reply(SUCCESS)
    made = Including({group: Including(dict.fromkeys(names, True))})
    groups(bk) >> Reply(SUCCESS, Including({"subscriptionGroupTable": made}))
    make_group(bk, group, consumeEnable="false") >> Reply(SUCCESS)
    made = Including({group: Including({"consumeEnable": False})})
    groups(bk) >> Reply(SUCCESS, Including({"subscriptionGroupTable": made}))
