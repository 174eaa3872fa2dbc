"""Chapter client: who is a member of a group, and who is notified when that changes (34, 35, 38, 40)."""

from harness.conformance import ABSENT, ANYTHING, Containing, Including, Reply, Silence, case
from harness.conformance.broker.client.joining import SUCCESS, SYSTEM_ERROR, WITHOUT_GROUPS, joined, told
from harness.session import BrokerSession, Exchange
from harness.session.broker.requests import consuming
from harness.wire import RequestCode, ResponseCode


@case(kills=["connections-keep-their-first-name"])
def test_is_listed_under_its_last_name(bk: BrokerSession) -> None:
    group = bk.group()
    wants = consuming(group, [bk.topic()])
    _, connection = joined(bk, wants)
    other, _ = bk.client()
    bk.heartbeat(other, consumers=[wants], on=connection) >> Reply(SUCCESS)
    bk.consumers(group).ids >> Reply(SUCCESS, [other])


@case(kills=["only-the-first-member-is-listed"])
def test_is_listed_in_its_group(bk: BrokerSession) -> None:
    group = bk.group()
    wants = consuming(group, [bk.topic()])
    one, _ = joined(bk, wants)
    other, _ = joined(bk, wants)
    bk.consumers(group).ids >> Reply(SUCCESS, sorted([one, other]))


@case(kills=["nobody-is-an-empty-list"])
def test_empty_group_is_an_error(bk: BrokerSession) -> None:
    group = bk.group()
    bk.consumers(group) >> Reply(SYSTEM_ERROR, remark=f"no consumer for this group, {group}")


@case(kills=["nobody-is-told-of-changes"])
def test_members_are_notified_of_a_new_member(bk: BrokerSession) -> None:
    group = bk.group()
    wants = consuming(group, [bk.topic()])
    _, first = joined(bk, wants)
    first.next_request() >> told(group)
    joined(bk, wants)
    first.next_request() >> told(group)


@case(kills=["new-topics-are-no-change"])
def test_members_are_notified_of_new_topics(bk: BrokerSession) -> None:
    group, topic = bk.group(), bk.topic()
    name, connection = joined(bk, consuming(group, [topic]))
    connection.next_request() >> told(group)
    more = consuming(group, [topic, bk.topic()])
    bk.heartbeat(name, consumers=[more], on=connection) >> Reply(SUCCESS)
    connection.next_request() >> told(group)


@case(kills=["every-heartbeat-is-told"])
def test_heartbeats_without_news_are_quiet(bk: BrokerSession) -> None:
    group = bk.group()
    wants = consuming(group, [bk.topic()])
    name, connection = joined(bk, wants)
    connection.next_request() >> told(group)
    bk.heartbeat(name, consumers=[wants], on=connection) >> Reply(SUCCESS)
    connection.next_request() >> Silence()


@case(
    kills=[
        "lost-clients-stay-members",
        "lost-clients-leave-their-first-group",
        "nobody-is-told-of-departures",
    ]
)
def test_members_are_notified_of_a_departure(bk: BrokerSession) -> None:
    topic, groups = bk.topic(), [bk.group("first"), bk.group("second")]
    members = {group: joined(bk, consuming(group, [topic])) for group in groups}
    client, goes = bk.client()
    wants = [consuming(group, [topic]) for group in groups]
    bk.heartbeat(client, consumers=wants, on=goes) >> Reply(SUCCESS)
    for group, (_, connection) in members.items():
        for _ in range(2):
            connection.next_request() >> told(group)
    goes.close()
    for group, (stays, connection) in members.items():
        connection.next_request() >> told(group)
        bk.consumers(group).ids.eventually() >> Reply(SUCCESS, [stays])


@case(
    kills=[
        "broadcasting-groups-are-told",
        "broadcasting-groups-are-told-who-leaves",
        "broadcasting-groups-are-told-who-is-lost",
    ]
)
def test_broadcasting_groups_are_not_notified(bk: BrokerSession) -> None:
    shares = consuming(bk.group(), [bk.topic()])
    broadcasts = consuming(bk.group(), [bk.topic()], broadcasts=True)
    (_, notified), (stays, first) = joined(bk, shares), joined(bk, broadcasts)
    joined(bk, shares)
    (leaves, second), (_, third) = joined(bk, broadcasts), joined(bk, broadcasts)
    notified.next_request() >> told(shares["groupName"])
    bk.leave(leaves, consumer_group=broadcasts["groupName"], on=second) >> Reply(SUCCESS)
    third.close()
    bk.consumers(broadcasts["groupName"]).ids.eventually() >> Reply(SUCCESS, [stays])
    first.next_request() >> Silence()


@case(kills=["broadcasting-groups-of-4-9-are-not-told", "nobody-is-told-of-departures"])
def test_broadcasting_groups_are_notified(bk: BrokerSession) -> None:
    broadcasts = consuming(bk.group(), [bk.topic()], broadcasts=True)
    _, first = joined(bk, broadcasts)
    (leaves, second), (_, third) = joined(bk, broadcasts), joined(bk, broadcasts)
    for _ in range(3):
        first.next_request() >> told(broadcasts["groupName"])
    bk.leave(leaves, consumer_group=broadcasts["groupName"], on=second) >> Reply(SUCCESS)
    first.next_request() >> told(broadcasts["groupName"])
    third.close()
    first.next_request() >> told(broadcasts["groupName"])


@case(kills=["who-leaves-stays", "who-leaves-two-groups-stays-in-one", "who-produces-leaves-with-all-others"])
def test_leaves_its_group(bk: BrokerSession) -> None:
    topic, group, both, produces = bk.topic(), bk.group(), bk.group("both"), bk.group("produces")
    name, connection = joined(bk, consuming(group, [topic]))
    bk.leave(name, consumer_group=group, on=connection) >> Reply(SUCCESS)
    bk.consumers(group) >> Reply(SYSTEM_ERROR)
    wants, (stays, other) = [consuming(both, [topic])], bk.client()
    bk.heartbeat(stays, producers=[produces], on=other) >> Reply(SUCCESS)
    bk.heartbeat(name, consumers=wants, producers=[produces], on=connection) >> Reply(SUCCESS)
    bk.leave(name, consumer_group=both, producer_group=produces, on=connection) >> Reply(SUCCESS)
    bk.consumers(both) >> Reply(SYSTEM_ERROR)
    online = bk.call(RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": produces})
    online >> Reply(SUCCESS, body=Containing(stays.encode()))
    bk.leave(stays, producer_group=produces, on=other) >> Reply(SUCCESS)
    online = bk.call(RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": produces})
    online >> Reply(SYSTEM_ERROR)


@case(kills=["unknown-groups-cannot-be-left"])
def test_leaves_a_group_that_is_not_there(bk: BrokerSession) -> None:
    name, connection = bk.client()
    consumes, produces = bk.group("consumes"), bk.group("produces")
    bk.leave(name, consumer_group=consumes, on=connection) >> Reply(SUCCESS)
    bk.leave(name, producer_group=produces, on=connection) >> Reply(SUCCESS)
    bk.consumers(consumes) >> Reply(SYSTEM_ERROR)


@case(kills=["groups-have-no-retry-topic", "retry-topics-have-one-queue"])
def test_retry_topic_is_created(bk: BrokerSession) -> None:
    topic, group, wide = bk.topic(), bk.group(), bk.group("wide")
    bk.create_group(wide, retryQueueNums=3) >> Reply(SUCCESS)
    refused = (ResponseCode.SYSTEM_ERROR, ResponseCode.INVALID_PARAMETER)
    for name, queues in ((group, 1), (wide, 3)):
        joined(bk, consuming(name, [topic]))
        bk.pull(f"%RETRY%{name}", queues - 1) >> Reply(ResponseCode.PULL_NOT_FOUND)
        illegal = Reply(refused, remark=Containing(f"queueId[{queues}] is illegal"))
        bk.pull(f"%RETRY%{name}", queues) >> illegal


@case(kills=["consumers-of-no-group-are-none"], setup=WITHOUT_GROUPS)
def test_consumer_of_unknown_group_is_listed(bk: BrokerSession) -> None:
    group = bk.group()
    name, _ = joined(bk, consuming(group, [bk.topic()]))
    bk.consumers(group).ids >> Reply(SUCCESS, [name])
    bk.pull(f"%RETRY%{group}", group="TOOLS_CONSUMER") >> Reply(ResponseCode.TOPIC_NOT_EXIST)


@case(
    kills=["consumers-of-no-group-are-listed", "unknown-groups-end-a-heartbeat"],
    setup=WITHOUT_GROUPS,
)
def test_consumer_of_unknown_group_is_passed_over(bk: BrokerSession) -> None:
    unknown, known, produces = bk.group(), bk.group("known"), bk.group("PG")
    bk.create_group(known) >> Reply(SUCCESS)
    name, connection = bk.client()
    consumers = [consuming(unknown, [bk.topic()]), consuming(known, [bk.topic()])]
    bk.heartbeat(name, consumers=consumers, producers=[produces], on=connection) >> Reply(SUCCESS)
    bk.consumers(unknown) >> Reply(SYSTEM_ERROR)
    bk.consumers(known).ids >> Reply(SUCCESS, [name])
    bk.call(RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": produces}) >> Reply(SUCCESS)


@case(kills=["older-subscriptions-replace-newer", "subscriptions-replace-those-of-their-version"])
def test_older_subscription_does_not_replace(bk: BrokerSession) -> None:
    group, topic = bk.group(), bk.topic()
    for tag in ("a", "b"):
        bk.send(topic, tag.encode(), tags=tag) >> Reply(SUCCESS)
    name, connection = joined(bk, consuming(group, {topic: "a"}, version=5))
    for version, served in ((4, b"a"), (5, b"a"), (6, b"b")):
        wants = consuming(group, {topic: "b"}, version=version)
        bk.heartbeat(name, consumers=[wants], on=connection) >> Reply(SUCCESS)
        bk.pull(topic, group=group, sys_flag=0).bodies.eventually() >> Reply(SUCCESS, [served])


@case(kills=["subscriptions-only-grow", "subscriptions-shrink-by-one"])
def test_subscription_that_is_given_up_is_gone(bk: BrokerSession) -> None:
    kept, given_up, other, group = bk.topic(), bk.topic("U"), bk.topic("V"), bk.group()
    name, connection = joined(bk, consuming(group, [kept, given_up, other]))
    fewer = consuming(group, [kept], version=2)
    bk.heartbeat(name, consumers=[fewer], on=connection) >> Reply(SUCCESS)
    shown = bk.consumer_connections(group).json
    left = {kept: ANYTHING, given_up: ABSENT, other: ABSENT}
    shown >> Reply(SUCCESS, Including({"subscriptionTable": Including(left)}))


@case(kills=["nobody-is-told-who-leaves", "the-first-member-is-told-who-leaves"])
def test_members_are_notified_of_one_that_leaves(bk: BrokerSession) -> None:
    group = bk.group()
    wants = consuming(group, [bk.topic()])
    clients = [joined(bk, wants) for _ in range(3)]
    (_, first), (_, second), (name, third) = clients
    for connection, joins in ((first, 3), (second, 2), (third, 1)):
        for _ in range(joins):
            connection.next_request() >> told(group)
    bk.leave(name, consumer_group=group, on=third) >> Reply(SUCCESS)
    for connection in (first, second):
        connection.next_request() >> told(group)
    third.next_request() >> Silence()


@case(
    kills=["members-of-deleted-groups-are-not-notified"],
    setup={"autoCreateSubscriptionGroup": "false"},
)
def test_members_of_a_deleted_group_are_notified(bk: BrokerSession) -> None:
    group = bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    wants = consuming(group, [bk.topic()])
    (_, first), (name, second) = joined(bk, wants), joined(bk, wants)
    for connection in (first, first, second):
        connection.next_request() >> told(group)
    bk.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": group}) >> Reply(SUCCESS)
    bk.leave(name, consumer_group=group, on=second) >> Reply(SUCCESS)
    first.next_request() >> told(group)


def hears_of_a_loss(bk: BrokerSession, group: str) -> Exchange:
    """A member hears nothing when two others join and one of them leaves; what it gets when the connection of
    the other one ends.
    """
    wants = consuming(group, [bk.topic()])
    (stays, first), (name, second), (lost, third) = (joined(bk, wants) for _ in range(3))
    bk.leave(name, consumer_group=group, on=second) >> Reply(SUCCESS)
    bk.consumers(group).ids >> Reply(SUCCESS, sorted([stays, lost]))
    first.next_request() >> Silence()
    third.close()
    bk.consumers(group).ids.eventually() >> Reply(SUCCESS, [stays])
    return first.next_request()


@case(
    kills=[
        "quiet-groups-are-told-who-leaves",
        "quiet-groups-are-told-who-joins",
        "quiet-groups-are-not-told-who-is-lost",
    ]
)
def test_members_of_quiet_groups_are_not_notified(bk: BrokerSession) -> None:
    group = bk.group()
    bk.create_group(group, notifyConsumerIdsChangedEnable=False) >> Reply(SUCCESS)
    hears_of_a_loss(bk, group) >> told(group)


@case(
    kills=["brokers-are-never-quiet", "quiet-brokers-tell-who-is-lost"],
    setup={"notifyConsumerIdsChangedEnable": "false"},
)
def test_members_are_not_notified_by_a_quiet_broker(bk: BrokerSession) -> None:
    hears_of_a_loss(bk, bk.group()) >> Silence()


@case(kills=["retry-topics-are-never-ordered", "retry-topics-are-always-ordered"])
def test_retry_topic_is_ordered_like_its_topics(bk: BrokerSession) -> None:
    ordered, group, other = bk.name("ordered"), bk.group(), bk.group("other")
    bk.create_topic(ordered, order=True) >> Reply(SUCCESS)
    joined(bk, consuming(group, [ordered, bk.topic()]))
    joined(bk, consuming(other, [bk.topic()]))
    for name, order in ((group, True), (other, False)):
        shown = Including({"readQueueNums": 1, "writeQueueNums": 1, "perm": 6, "order": order})
        bk.topic_config(f"%RETRY%{name}").json >> Reply(SUCCESS, shown)


@case(kills=["retry-topics-of-heartbeats-know-no-unit"])
def test_retry_topic_knows_its_unit(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(), bk.group(), bk.group("other")
    for name, unit in ((group, True), (other, False)):
        wants = consuming(name, [topic])
        wants["unitMode"] = unit
        joined(bk, wants)
    flags = {f"%RETRY%{name}": Including({"topicSysFlag": flag}) for name, flag in ((group, 2), (other, 0))}
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": Including(flags)}))
