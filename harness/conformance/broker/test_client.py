"""Chapter client: how a Broker tracks its clients, and how it notifies them (34, 35, 38, 40)."""

from typing import Any

import msgspec

from harness.conformance import (
    ABSENT,
    ANYTHING,
    AnyOf,
    Between,
    Closed,
    Containing,
    Including,
    Reply,
    Request,
    Silence,
    case,
)
from harness.session import BrokerSession, Exchange
from harness.session.broker.requests import Consuming, consuming
from harness.session.connection import Connection
from harness.wire import FLAG_ONEWAY, RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR
CHANGED = RequestCode.NOTIFY_CONSUMER_IDS_CHANGED
WITHOUT_GROUPS = {"autoCreateSubscriptionGroup": "false"}
NO_PRODUCERS = AnyOf(Reply(SYSTEM_ERROR), Reply(SUCCESS, body=b'{"connectionSet":[]}'))
EXPIRY = 120
"""Protocol seconds until a silent client is removed."""


def joined(bk: BrokerSession, wants: Consuming) -> tuple[str, Connection]:
    """A new client that consumes."""
    name, connection = bk.client()
    bk.heartbeat(name, consumers=[wants], on=connection) >> Reply(SUCCESS)
    return name, connection


def told(group: str) -> Request:
    """The notification that members of a group get when it changes."""
    return Request(CHANGED, ext=Including({"consumerGroup": group}), flag=FLAG_ONEWAY)


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


@case(kills=["broadcasting-groups-are-told"])
def test_broadcasting_groups_are_not_notified(bk: BrokerSession) -> None:
    shares = consuming(bk.group(), [bk.topic()])
    broadcasts = consuming(bk.group(), [bk.topic()], broadcasts=True)
    (_, notified), (_, first) = joined(bk, shares), joined(bk, broadcasts)
    joined(bk, shares)
    joined(bk, broadcasts)
    notified.next_request() >> told(shares["groupName"])
    first.next_request() >> Silence()


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


@case(kills=["silent-clients-stay"], clock=True)
def test_without_heartbeats_is_removed(bk: BrokerSession) -> None:
    group = bk.group()
    wants = consuming(group, [bk.topic()])
    connections = [joined(bk, wants)[1] for _ in range(2)]
    bk.advance_past(EXPIRY)
    bk.consumers(group) >> Reply(SYSTEM_ERROR)
    for connection in connections:
        connection.closes() >> Closed()


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


@case(kills=["short-heartbeats-are-not-known"])
def test_short_heartbeats_are_known(bk: BrokerSession) -> None:
    known = Including({"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": "true"})
    bk.heartbeat(bk.name("client"), producers=[bk.group()]) >> Reply(SUCCESS, ext=known)


@case(kills=["fingerprints-never-change"])
def test_changed_fingerprint_is_reported(bk: BrokerSession) -> None:
    wants = [consuming(bk.group(), [bk.topic()])]
    (one, first), (other, second) = bk.client(), bk.client()
    for name, connection, fingerprint, changed in (
        (one, first, 7, "false"),
        (one, first, 7, "false"),
        (other, second, 8, "true"),
    ):
        more = {"heartbeatFingerprint": fingerprint}
        beat = bk.heartbeat(name, consumers=wants, more=more, on=connection)
        beat >> Reply(SUCCESS, ext=Including({"IS_SUB_CHANGE": changed}))


@case(kills=["subscriptions-only-grow"])
def test_subscription_that_is_given_up_is_gone(bk: BrokerSession) -> None:
    kept, given_up, group = bk.topic(), bk.topic("U"), bk.group()
    name, connection = joined(bk, consuming(group, [kept, given_up]))
    fewer = consuming(group, [kept], version=2)
    bk.heartbeat(name, consumers=[fewer], on=connection) >> Reply(SUCCESS)
    shown = bk.consumer_connections(group).json
    shown >> Reply(SUCCESS, Including({"subscriptionTable": Including({kept: ANYTHING, given_up: ABSENT})}))


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


def no_member_is_notified(bk: BrokerSession, group: str) -> None:
    """A member hears nothing of another one that joins and leaves."""
    wants = consuming(group, [bk.topic()])
    stays, first = joined(bk, wants)
    name, second = joined(bk, wants)
    bk.leave(name, consumer_group=group, on=second) >> Reply(SUCCESS)
    bk.consumers(group).ids >> Reply(SUCCESS, [stays])
    first.next_request() >> Silence()


@case(kills=["quiet-groups-are-told-who-leaves", "quiet-groups-are-told-who-joins"])
def test_members_of_quiet_groups_are_not_notified(bk: BrokerSession) -> None:
    group = bk.group()
    bk.create_group(group, notifyConsumerIdsChangedEnable=False) >> Reply(SUCCESS)
    no_member_is_notified(bk, group)


@case(kills=["brokers-are-never-quiet"], setup={"notifyConsumerIdsChangedEnable": "false"})
def test_members_are_not_notified_by_a_quiet_broker(bk: BrokerSession) -> None:
    no_member_is_notified(bk, bk.group())


@case(kills=["consumers-need-no-group", "producers-need-no-group"])
def test_group_without_name_is_refused(bk: BrokerSession) -> None:
    group, (name, connection) = bk.group(), bk.client()
    wants = consuming(group, [bk.topic()])
    nameless = {one: value for one, value in wants.items() if one != "groupName"}
    bk.heartbeat(name, consumers=[nameless], on=connection) >> Reply(SYSTEM_ERROR)
    more: dict[str, object] = {"producerDataSet": [{}]}
    bk.heartbeat(name, more=more, on=connection) >> Reply(SYSTEM_ERROR)
    bk.heartbeat(name, consumers=[wants], producers=[group], on=connection) >> Reply(SUCCESS)


@case(kills=["first-heartbeats-of-producers-count", "silent-clients-stay"], clock=True)
def test_heartbeats_keep_producers(bk: BrokerSession) -> None:
    group, (stays, first), (goes, second) = bk.group(), bk.client(), bk.client()
    for name, connection in ((stays, first), (goes, second)):
        bk.heartbeat(name, producers=[group], on=connection) >> Reply(SUCCESS)
    bk.advance(70)
    bk.heartbeat(stays, producers=[group], on=first) >> Reply(SUCCESS)
    bk.advance_past(70)
    second.closes() >> Closed()
    left = Reply(SUCCESS, body=Containing(stays.encode()))
    bk.call(RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": group}) >> left
    bk.advance_past(EXPIRY - 70)
    first.closes() >> Closed()
    bk.call(RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": group}) >> NO_PRODUCERS


@case(kills=["clients-are-kept-for-120-s"], clock=True, setup={"channelExpiredTimeout": "40000"})
def test_time_without_heartbeats_is_a_setting(bk: BrokerSession) -> None:
    group, (client, connection) = bk.group(), bk.client()
    wants = consuming(group, [bk.topic()])
    bk.heartbeat(client, consumers=[wants], producers=[group], on=connection) >> Reply(SUCCESS)
    producers = (RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": group})
    bk.advance(30)
    bk.consumers(group).ids >> Reply(SUCCESS, [client])
    bk.call(*producers) >> Reply(SUCCESS, body=Containing(client.encode()))
    bk.advance_past(10)
    bk.consumers(group) >> Reply(SYSTEM_ERROR)
    bk.call(*producers) >> NO_PRODUCERS
    connection.closes() >> Closed()


@case(kills=["short-heartbeats-count-in-49", "heartbeats-49-are-told-of-the-short-form"])
def test_short_heartbeats_are_unknown(bk: BrokerSession) -> None:
    kept, given_up, group = bk.topic(), bk.topic("U"), bk.group()
    name, connection = joined(bk, consuming(group, [kept, given_up]))
    fewer, more = [consuming(group, [kept], version=2)], {"heartbeatFingerprint": 7, "withoutSub": True}
    bk.heartbeat(name, consumers=fewer, more=more, on=connection) >> Reply(SUCCESS, ext=ABSENT)
    shown = bk.consumer_connections(group).json
    shown >> Reply(SUCCESS, Including({"subscriptionTable": Including({kept: ANYTHING, given_up: ABSENT})}))


@case(kills=["short-heartbeats-are-whole"])
def test_short_heartbeats_keep_subscriptions(bk: BrokerSession) -> None:
    kept, given_up, group = bk.topic(), bk.topic("U"), bk.group()
    name, connection = joined(bk, consuming(group, [kept, given_up]))
    fewer, more = [consuming(group, [kept], version=2)], {"heartbeatFingerprint": 7, "withoutSub": True}
    bk.heartbeat(name, consumers=fewer, more=more, on=connection) >> Reply(SUCCESS)
    both = Including({"subscriptionTable": Including({kept: ANYTHING, given_up: ANYTHING})})
    bk.consumer_connections(group).json >> Reply(SUCCESS, both)
    subscription = f"{{'topic':'{kept}','subString':'*','subVersion':3}}"
    wants = f"{{'groupName':'{group}','subscriptionDataSet':[{subscription}]}}"
    short = f"{{'clientID':'{name}','heartbeatFingerprint':7,'withoutSub':true,'consumerDataSet':[{wants}]}}"
    bk.call(RequestCode.HEART_BEAT, None, short.encode(), on=connection) >> Reply(SUCCESS)
    bk.consumer_connections(group).json >> Reply(SUCCESS, both)


@case(kills=["heartbeats-without-a-fingerprint-are-short", "heartbeats-with-a-fingerprint-are-short"])
def test_short_heartbeats_say_so(bk: BrokerSession) -> None:
    kept, given_up = bk.topic(), bk.topic("U")
    forms: tuple[dict[str, int], ...] = (
        {"withoutSub": True},
        {"heartbeatFingerprint": 7},
        {"heartbeatFingerprint": 7, "withoutSub": False},
    )
    for number, more in enumerate(forms):
        group = bk.group(str(number))
        name, connection = joined(bk, consuming(group, [kept, given_up]))
        fewer = [consuming(group, [kept], version=2)]
        bk.heartbeat(name, consumers=fewer, more=more, on=connection) >> Reply(SUCCESS)
        table = Including({kept: ANYTHING, given_up: ABSENT})
        bk.consumer_connections(group).json >> Reply(SUCCESS, Including({"subscriptionTable": table}))


@case(kills=["heartbeats-are-strict-json", "subscriptions-without-version-are-oldest"])
def test_heartbeat_in_loose_json(bk: BrokerSession) -> None:
    group, client, connection = bk.group(), *bk.client()
    for wrong in ("{}", "7", '"x"'):
        body = f"{{'clientID':'{client}','consumerDataSet':{wrong}}}"
        bk.call(RequestCode.HEART_BEAT, None, body.encode(), on=connection) >> Reply(SYSTEM_ERROR)
    sets = ",".join(
        f"{{'topic':'{topic}','subString':'*'{more}}}"
        for topic, more in (
            ("one", ",'subVersion':7,'codeSet':[1,2],'tagsSet':['a','b']"),
            ("two", ""),
            ("three", ",'subVersion':8,'classFilterMode':true,'expressionType':'CLASS'"),
        )
    )
    # 5.5 reads these three words in double quotes only.
    how = "'consumeType':\"CONSUME_ACTIVELY\",'messageModel':\"BROADCASTING\",'unitMode':true"
    how += ",'consumeFromWhere':\"CONSUME_FROM_TIMESTAMP\""
    began = bk.broker_time()
    consumes, produces = (
        f"{{'groupName':'{group}',{how},'subscriptionDataSet':[{sets}]}}",
        f"{{'groupName':'{group}'}}",
    )
    body = f"{{'clientID':'{client}','consumerDataSet':[{consumes}],'producerDataSet':[{produces}]}}"
    bk.call(RequestCode.HEART_BEAT, None, body.encode(), on=connection) >> Reply(SUCCESS)
    bk.consumers(group).ids >> Reply(SUCCESS, [client])
    shown = Reply(SUCCESS, body=Containing(client.encode()))
    bk.call(RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": group}) >> shown
    said = {"subString": "*", "classFilterMode": False, "expressionType": "TAG", "codeSet": [], "tagsSet": []}
    own: dict[str, dict[str, object]] = {
        "one": {"subVersion": 7, "codeSet": [1, 2], "tagsSet": ["a", "b"]},
        "two": {"subVersion": Between(began, bk.broker_time())},
        "three": {"subVersion": 8, "classFilterMode": True, "expressionType": "CLASS"},
    }
    table = {topic: {"topic": topic, **said, **more} for topic, more in own.items()}
    of_group = {
        "consumeType": "CONSUME_ACTIVELY",
        "messageModel": "BROADCASTING",
        "consumeFromWhere": "CONSUME_FROM_TIMESTAMP",
        "subscriptionTable": table,
    }
    bk.consumer_connections(group).json >> Reply(SUCCESS, Including(of_group))
    of_units = Including({f"%RETRY%{group}": Including({"topicSysFlag": 2})})
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": of_units}))


def beat_without_quotes(bk: BrokerSession, answer: int) -> None:
    """A name without quotes is answered so; with quotes, or with the client twice, a heartbeat counts."""
    group, client, connection = bk.group(), *bk.client()
    for name, expected in (("groupName", answer), ("'groupName'", SUCCESS)):
        body = f"{{'clientID':'{client}','producerDataSet':[{{{name}:'{group}'}}]}}"
        bk.call(RequestCode.HEART_BEAT, None, body.encode(), on=connection) >> Reply(expected)
    twice = f'{{"clientID":"{client}","clientID":"{client}","producerDataSet":[{{"groupName":"{group}"}}]}}'
    bk.call(RequestCode.HEART_BEAT, None, twice.encode(), on=connection) >> Reply(SUCCESS)
    shown = Reply(SUCCESS, body=Containing(client.encode()))
    bk.call(RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": group}) >> shown


@case(kills=["bodies-of-brokers-are-read-as-in-5.5"])
def test_heartbeat_without_quotes_is_read(bk: BrokerSession) -> None:
    beat_without_quotes(bk, SUCCESS)


@case(kills=["bodies-of-brokers-are-read-as-in-5.3", "members-given-twice-are-refused"])
def test_heartbeat_without_quotes_is_refused(bk: BrokerSession) -> None:
    beat_without_quotes(bk, SYSTEM_ERROR)


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


@case(kills=["groups-consume-as-at-first"])
def test_last_heartbeat_says_how_its_group_consumes(bk: BrokerSession) -> None:
    group, topic = bk.group(), bk.topic()
    name, connection = joined(bk, consuming(group, [topic]))
    for kind, broadcasts, start in (
        ("CONSUME_ACTIVELY", True, "CONSUME_FROM_FIRST_OFFSET"),
        ("CONSUME_PASSIVELY", False, "CONSUME_FROM_TIMESTAMP"),
    ):
        wants = consuming(group, [topic], kind=kind, broadcasts=broadcasts, start=start)
        bk.heartbeat(name, consumers=[wants], on=connection) >> Reply(SUCCESS)
        model = "BROADCASTING" if broadcasts else "CLUSTERING"
        said = {"consumeType": kind, "messageModel": model, "consumeFromWhere": start}
        bk.consumer_connections(group).json >> Reply(SUCCESS, Including(said))


@case(kills=["first-heartbeats-of-consumers-count", "silent-clients-stay"], clock=True)
def test_heartbeats_keep_consumers(bk: BrokerSession) -> None:
    wants = consuming(bk.group(), [bk.topic()])
    (stays, first), (_, second) = joined(bk, wants), joined(bk, wants)
    bk.advance(70)
    bk.heartbeat(stays, consumers=[wants], on=first) >> Reply(SUCCESS)
    bk.advance_past(70)
    second.closes() >> Closed()
    bk.consumers(wants["groupName"]).ids >> Reply(SUCCESS, [stays])
    bk.advance_past(EXPIRY - 70)
    first.closes() >> Closed()
    bk.consumers(wants["groupName"]) >> Reply(SYSTEM_ERROR)


def checked(bk: BrokerSession, **subscription: Any) -> Exchange:
    """CHECK_CLIENT_CONFIG (46) for a subscription with these members, but for those that are None."""
    said: dict[str, Any] = {"clientId": "Verbraucher-Ä", "group": "Gruppe-Ä"}
    if subscription:
        whole = {**consuming("", ["Thema-Ä"])["subscriptionDataSet"][0], **subscription}
        said["subscriptionData"] = {name: value for name, value in whole.items() if value is not None}
    return bk.call(RequestCode.CHECK_CLIENT_CONFIG, None, msgspec.json.encode(said))


@case(kills=["tags-cannot-be-checked", "nothing-cannot-be-checked"])
def test_tags_can_be_checked(bk: BrokerSession) -> None:
    checked(bk, subString="Grün || Blau", subVersion=7, classFilterMode=True) >> Reply(SUCCESS)
    checked(bk, expressionType=None, subVersion=8) >> Reply(SUCCESS)
    checked(bk) >> Reply(SUCCESS)


@case(kills=["every-filter-passes"])
def test_other_filters_are_refused_when_they_are_checked(bk: BrokerSession) -> None:
    for kind in ("SQL92", "Prüfung"):
        refused = Reply(SYSTEM_ERROR, remark=Containing(kind))
        checked(bk, expressionType=kind, subString="a > 1") >> refused
    checked(bk, subString="A || B") >> Reply(SUCCESS)


@case(kills=["checks-need-no-json"])
def test_check_that_cannot_be_read_is_refused(bk: BrokerSession) -> None:
    bk.call(RequestCode.CHECK_CLIENT_CONFIG, None, b"junk") >> Reply(SYSTEM_ERROR)
    checked(bk, subString="*") >> Reply(SUCCESS)


@case(kills=["checks-need-a-body"])
def test_check_of_nothing_succeeds(bk: BrokerSession) -> None:
    bk.call(RequestCode.CHECK_CLIENT_CONFIG) >> Reply(SUCCESS)
