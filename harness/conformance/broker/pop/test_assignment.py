"""Chapter pop: which queues a member is assigned, and whether it pops or pulls."""

from harness.conformance import Including, Reply, Request, case
from harness.conformance.broker.pop.popping import (
    NO_PERMISSION,
    ROUTE,
    SUCCESS,
    members,
)
from harness.conformance.broker.registrations import of_topic
from harness.session import BrokerSession
from harness.session.broker.requests import consuming
from harness.wire import ResponseCode
from harness.wire.bodies import BrokerData, QueueData, TopicRoute

ERROR = ResponseCode.SYSTEM_ERROR


@case(kills=["modes-need-no-topic"])
def test_mode_needs_a_topic(bk: BrokerSession) -> None:
    group = bk.group()
    bk.request_mode(bk.name("T"), group, "POP") >> Reply(ResponseCode.TOPIC_NOT_EXIST)
    remark = "retry topic is not allowed to set mode"
    bk.request_mode(f"%RETRY%{group}", group, "POP") >> Reply(NO_PERMISSION, remark=remark)
    bk.request_mode(bk.topic(), group, "POP") >> Reply(SUCCESS)


@case(kills=["modes-need-no-group", "modes-of-unknown-groups-are-set"])
def test_mode_without_topic_or_group_is_refused(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.request_mode(None, group, "POP") >> Reply(ERROR)
    bk.request_mode(topic, None, "POP") >> Reply(ERROR)
    bk.request_mode(topic, "no group*", "POP") >> Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)
    bk.request_mode(topic, group, "POP") >> Reply(SUCCESS)


ROUTED = {"serverLoadBalancerEnable": "true"}
"""A Broker for the cases that control the answers of its NameServer."""
POPS = {"defaultMessageRequestMode": "POP", "defaultPopShareQueueNum": "1"}
ROUTE_WITHIN = 3
"""Protocol seconds that a NameServer has to answer with a route."""


@case(kills=["queues-are-everybodys", "members-beyond-the-queues-pull"], setup=ROUTED)
def test_pulled_queues_are_shared(bk: BrokerSession) -> None:
    topic, group, (one, other) = members(bk)
    bk.assignment(topic, group, one).queues >> Reply(SUCCESS, [(0, "PULL"), (1, "PULL")])
    bk.assignment(topic, group, other).queues >> Reply(SUCCESS, [(2, "PULL"), (3, "PULL")])
    in_turn = bk.assignment(topic, group, other, strategy="AVG_BY_CIRCLE")
    in_turn.queues >> Reply(SUCCESS, [(1, "PULL"), (3, "PULL")])
    topic, group, ids = members(bk, 3, queues=2)
    for strategy in ("AVG", "AVG_BY_CIRCLE"):
        for client, queues in zip(ids, ([(0, "PULL")], [(1, "PULL")], []), strict=True):
            bk.assignment(topic, group, client, strategy=strategy).queues >> Reply(SUCCESS, queues)


@case(kills=["assignments-are-for-ascii-names"], setup=ROUTED)
def test_assignment_knows_ids_beyond_ascii(bk: BrokerSession) -> None:
    topic, group, _ = members(bk, 0)
    clients = [f"{bk.name('client')}@{ending}" for ending in ("é中", "ö文")]
    for client in clients:
        bk.heartbeat(client, consumers=[consuming(group, [topic])], on=bk.connect()) >> Reply(SUCCESS)
    for client, queues in zip(sorted(clients), ((0, 1), (2, 3)), strict=True):
        shared = [(queue, "PULL") for queue in queues]
        bk.assignment(topic, group, client).queues >> Reply(SUCCESS, shared)


@case(kills=["modes-do-not-count"], setup=ROUTED)
def test_members_that_pop_get_all_queues(bk: BrokerSession) -> None:
    topic, group, (one, other) = members(bk)
    bk.request_mode(topic, group, "POP") >> Reply(SUCCESS)
    for client in (one, other):
        bk.assignment(topic, group, client).queues >> Reply(SUCCESS, [(-1, "POP")])
    topic, group, (one, _) = members(bk)
    names = ("broker-b", "broker-a")
    datas = [BrokerData(bk.cluster_name, name, {0: "127.0.0.1:1"}) for name in names]
    queues = [QueueData(name, 1, 1, 6) for name in names]
    bk.nameserver.answers(ROUTE, body=TopicRoute(queues, datas).encode())
    bk.request_mode(topic, group, "POP") >> Reply(SUCCESS)
    assigned = [
        {"messageQueue": {"brokerName": name, "queueId": -1, "topic": topic}, "mode": "POP"} for name in names
    ]
    shown = bk.assignment(topic, group, one).json
    shown >> Reply(SUCCESS, {"messageQueueAssignments": Including(assigned)})


@case(kills=["who-is-no-member-gets-all"], setup=ROUTED)
def test_without_members_there_is_no_assignment(bk: BrokerSession) -> None:
    topic, group, (one, _) = members(bk)
    bk.assignment(topic, group, one).queues >> Reply(SUCCESS, [(0, "PULL"), (1, "PULL")])
    bk.assignment(topic, bk.group(), one).queues >> Reply(SUCCESS, None)
    bk.assignment(topic, group, one, strategy="NONE").queues >> Reply(SUCCESS, None)


@case(kills=["assignments-need-no-group", "assignments-need-no-model"], setup=ROUTED)
def test_assignment_needs_topic_group_and_model(bk: BrokerSession) -> None:
    topic, group, (one, _) = members(bk)
    bk.assignment(None, group, one) >> Reply(ERROR)
    bk.assignment(topic, None, one) >> Reply(ERROR)
    for model in (None, "NONE"):
        bk.assignment(topic, group, one, model=model) >> Reply(ERROR)
    bk.assignment(topic, group, one).queues >> Reply(SUCCESS, [(0, "PULL"), (1, "PULL")])


@case(kills=["unreadable-routes-are-none"], setup=ROUTED)
def test_assignment_needs_a_readable_route(bk: BrokerSession) -> None:
    topic, group, (one, _) = members(bk)
    bk.assignment(topic, group, one).queues >> Reply(SUCCESS, [(0, "PULL"), (1, "PULL")])
    bk.nameserver.answers(ROUTE, body=b"no route")
    unreadable = bk.name("unreadable")
    bk.assignment(unreadable, group, one) >> Reply(ERROR)
    bk.nameserver.next(ROUTE, where=of_topic(unreadable)) >> Request(ROUTE)


@case(kills=["who-is-no-member-pulls-all", "who-is-no-member-pops-all"], setup=ROUTED)
def test_who_is_no_member_is_assigned_nothing(bk: BrokerSession) -> None:
    topic, group, _ = members(bk, 3)
    stranger = bk.name("stranger")
    bk.assignment(topic, group, stranger).queues >> Reply(SUCCESS, [])
    bk.request_mode(topic, group, "POP", 1) >> Reply(SUCCESS)
    bk.assignment(topic, group, stranger).queues >> Reply(SUCCESS, [])


@case(
    kills=[
        "pop-queues-are-not-shared",
        "pop-queues-of-as-many-members-are-not-shared",
        "pop-queues-are-always-shared-evenly",
    ],
    setup=ROUTED,
)
def test_members_that_pop_share_queues(bk: BrokerSession) -> None:
    topic, group, ids = members(bk, 3)
    bk.request_mode(topic, group, "POP", 1) >> Reply(SUCCESS)
    for client, queues in zip(ids, ([0, 1, 2], [2, 3], [0, 1, 3]), strict=True):
        bk.assignment(topic, group, client).queues >> Reply(SUCCESS, [(queue, "POP") for queue in queues])
    for client, queues in zip(ids, ([0, 1, 3], [1, 2], [0, 2, 3]), strict=True):
        shared = bk.assignment(topic, group, client, strategy="AVG_BY_CIRCLE").queues
        shared >> Reply(SUCCESS, [(queue, "POP") for queue in queues])
    bk.request_mode(topic, group, "POP", 2) >> Reply(SUCCESS)
    bk.assignment(topic, group, ids[1]).queues >> Reply(SUCCESS, [(-1, "POP")])
    topic, group, ids = members(bk, 3, queues=3)
    bk.request_mode(topic, group, "POP", 1) >> Reply(SUCCESS)
    for client, queues in zip(ids, ([0, 1], [1, 2], [0, 2]), strict=True):
        bk.assignment(topic, group, client).queues >> Reply(SUCCESS, [(queue, "POP") for queue in queues])


@case(kills=["members-beyond-the-queues-pop-nothing"], setup=ROUTED)
def test_members_beyond_the_queues_share_them(bk: BrokerSession) -> None:
    topic, group, ids = members(bk, 3, queues=2)
    bk.request_mode(topic, group, "POP", 1) >> Reply(SUCCESS)
    for client, queue in zip(ids, (0, 1, 0), strict=True):
        bk.assignment(topic, group, client).queues >> Reply(SUCCESS, [(queue, "POP")])


@case(
    kills=["default-mode-is-pull", "default-mode-shares-nothing", "retry-topics-have-the-default-mode"],
    setup=POPS,
)
def test_default_mode_is_configured(bk: BrokerSession) -> None:
    topic, group, (_, two, _) = members(bk, 3)
    bk.assignment(topic, group, two).queues >> Reply(SUCCESS, [(2, "POP"), (3, "POP")])
    topic, group, (one, other) = members(bk)
    bk.assignment(topic, group, other).queues >> Reply(SUCCESS, [(-1, "POP")])
    bk.assignment(f"%RETRY%{group}", group, other).queues >> Reply(SUCCESS, [(2, "PULL"), (3, "PULL")])
    bk.request_mode(topic, group, "PULL") >> Reply(SUCCESS)
    bk.assignment(topic, group, one).queues >> Reply(SUCCESS, [(0, "PULL"), (1, "PULL")])


@case(kills=["unknown-topics-have-no-queues", "errors-have-routes"], clock=True, setup=ROUTED)
def test_unknown_topic_has_no_assignment(bk: BrokerSession) -> None:
    topic, group, (one, _) = members(bk)
    named = [BrokerData(bk.cluster_name, bk.broker_name, {0: bk.broker_address})]
    route = TopicRoute([QueueData(bk.broker_name, 4, 4, 6)], named).encode()
    for code in (ResponseCode.TOPIC_NOT_EXIST, ERROR):
        for body in (b"", route):
            bk.nameserver.answers(ROUTE, code, body=body)
            bk.assignment(bk.name("none"), group, one).queues >> Reply(SUCCESS, None)
    bk.nameserver.ignores(ROUTE)
    asking = bk.assignment(topic, group, one)
    bk.advance(ROUTE_WITHIN + bk.jitter)
    asking.queues >> Reply(SUCCESS, None)


@case(kills=["broadcasting-members-share-queues", "queues-of-one-broker-are-assigned"], setup=ROUTED)
def test_broadcasting_members_get_all_queues(bk: BrokerSession) -> None:
    topic, group, (one, _) = members(bk)
    brokers = [("other", QueueData("other", 3, 2, 4)), ("unread", QueueData("unread", 5, 5, 2))]
    own = QueueData(bk.broker_name, 2, 4, 6)
    datas = [BrokerData(bk.cluster_name, name, {0: "127.0.0.1:1"}) for name, _ in brokers]
    datas.append(BrokerData(bk.cluster_name, bk.broker_name, {0: bk.broker_address}))
    route = TopicRoute([*(queue for _, queue in brokers), own], datas)
    bk.nameserver.answers(ROUTE, body=route.encode())
    everything = [(0, "PULL"), (0, "PULL"), (1, "PULL"), (1, "PULL"), (2, "PULL")]
    bk.assignment(topic, group, one, model="BROADCASTING").queues >> Reply(SUCCESS, everything)


@case(kills=["queues-are-always-balanced"], setup={"serverLoadBalancerEnable": "false"})
def test_all_queues_without_balancing(bk: BrokerSession) -> None:
    topic, group, (_, other) = members(bk)
    everything = [(queue, "PULL") for queue in range(4)]
    bk.assignment(topic, group, other).queues >> Reply(SUCCESS, everything)


@case(
    kills=["modes-are-forgotten", "changed-modes-are-not-written", "modes-begin-with-the-backup"],
    own_server=True,
    setup=ROUTED,
)
def test_mode_survives(bk: BrokerSession) -> None:
    topic, group, _ = members(bk)
    for mode in ("PULL", "POP"):
        bk.request_mode(topic, group, mode) >> Reply(SUCCESS)
    bk.restart("kill")
    client, connection = bk.client()
    bk.heartbeat(client, consumers=[consuming(group, [topic])], on=connection) >> Reply(SUCCESS)
    bk.assignment(topic, group, client).queues >> Reply(SUCCESS, [(-1, "POP")])


@case(kills=["modes-are-hidden", "one-mode-of-a-topic-is-shown"])
def test_modes_are_shown(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(), bk.group(), bk.group("other")
    bk.request_mode(topic, group, "POP", 3) >> Reply(SUCCESS)
    bk.request_mode(topic, other, "PULL") >> Reply(SUCCESS)
    modes = {
        group: {"topic": topic, "consumerGroup": group, "mode": "POP", "popShareQueueNum": 3},
        other: {"topic": topic, "consumerGroup": other, "mode": "PULL", "popShareQueueNum": 0},
    }
    bk.request_modes().json >> Reply(SUCCESS, {"messageRequestModeMap": Including({topic: modes})})


@case(kills=["assigned-queues-are-mixed"], setup=ROUTED)
def test_queues_of_a_broker_are_assigned_together(bk: BrokerSession) -> None:
    topic, group, (one, other) = members(bk)
    names = ("broker-b", "broker-a")
    queues = [QueueData(name, 2, 2, 6) for name in names]
    datas = [BrokerData(bk.cluster_name, name, {0: "127.0.0.1:1"}) for name in names]
    bk.nameserver.answers(ROUTE, body=TopicRoute(queues, datas).encode())
    for client, name in ((one, "broker-a"), (other, "broker-b")):
        assigned = [
            {"messageQueue": {"brokerName": name, "queueId": queue, "topic": topic}, "mode": "PULL"}
            for queue in (0, 1)
        ]
        shown = bk.assignment(topic, group, client).json
        shown >> Reply(SUCCESS, {"messageQueueAssignments": Including(assigned)})
