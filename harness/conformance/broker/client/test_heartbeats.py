"""Chapter client: what heartbeats say, and how long they count (34)."""

from harness.conformance import ABSENT, ANYTHING, Between, Closed, Containing, Including, Reply, Silence, case
from harness.conformance.broker.client.joining import (
    EXPIRY,
    NO_PRODUCERS,
    SUCCESS,
    SYSTEM_ERROR,
    joined,
    told,
)
from harness.session import BrokerSession
from harness.session.broker.requests import consuming
from harness.wire import RequestCode


@case(kills=["silent-clients-stay"], clock=True)
def test_without_heartbeats_is_removed(bk: BrokerSession) -> None:
    group = bk.group()
    wants = consuming(group, [bk.topic()])
    connections = [joined(bk, wants)[1] for _ in range(2)]
    bk.advance_past(EXPIRY)
    bk.consumers(group) >> Reply(SYSTEM_ERROR)
    for connection in connections:
        connection.closes() >> Closed()


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


@case(kills=["silent-members-are-told-of"], clock=True)
def test_silent_member_goes_without_notice(bk: BrokerSession) -> None:
    group = bk.group()
    wants = consuming(group, [bk.topic()])
    (stays, first), (_, second) = joined(bk, wants), joined(bk, wants)
    for _ in range(2):
        first.next_request() >> told(group)
    bk.advance(70)
    bk.heartbeat(stays, consumers=[wants], on=first) >> Reply(SUCCESS)
    bk.advance_past(70)
    second.closes() >> Closed()
    bk.consumers(group).ids >> Reply(SUCCESS, [stays])
    first.next_request() >> Silence()


@case(kills=["short-heartbeats-do-not-count", "short-heartbeats-need-a-member"], clock=True)
def test_short_heartbeats_keep_consumers(bk: BrokerSession) -> None:
    group, topic = bk.group(), bk.topic()
    short = {"heartbeatFingerprint": 7, "withoutSub": True}
    (stays, first), (_, second) = joined(bk, consuming(group, [topic])), joined(bk, consuming(group, [topic]))
    bk.advance(70)
    bk.heartbeat(stays, consumers=[consuming(group, [])], more=short, on=first) >> Reply(SUCCESS)
    bk.advance_past(70)
    second.closes() >> Closed()
    bk.consumers(group).ids >> Reply(SUCCESS, [stays])
    name, third = bk.client()
    other = bk.group("other")
    bk.heartbeat(name, consumers=[consuming(other, [])], more=short, on=third) >> Reply(SUCCESS)
    bk.consumers(other).ids >> Reply(SUCCESS, [name])
    bk.advance_past(EXPIRY - 70)
    first.closes() >> Closed()
    bk.consumers(group) >> Reply(SYSTEM_ERROR)
