"""Chapter administration: consumers and producers that are online."""

import msgspec

from harness.conformance import AnyOf, Between, Including, Reply, case
from harness.conformance.broker.tools import (
    ERROR,
    SUCCESS,
    asked,
)
from harness.session import BrokerSession, Connection
from harness.session.broker.requests import consuming
from harness.wire import Command, RequestCode, ResponseCode


@case(kills=["no-consumers-are-shown", "subscriptions-are-not-shown", "clients-are-shown-without-version"])
def test_consumers_are_shown(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    client, connection = bk.client()
    first = "CONSUME_FROM_FIRST_OFFSET"
    wants = consuming(group, {topic: "A || B"}, version=7, start=first, kind="CONSUME_ACTIVELY")
    bk.heartbeat(client, consumers=[wants], on=connection, language="CPP", version=300) >> Reply(SUCCESS)
    (subscription,) = wants["subscriptionDataSet"]
    bk.consumer_connections(group).json >> Reply(
        SUCCESS,
        {
            "connectionSet": [online(client, connection)],
            "consumeFromWhere": first,
            "consumeType": "CONSUME_ACTIVELY",
            "messageModel": "CLUSTERING",
            "subscriptionTable": {topic: subscription},
        },
    )
    other, on_other = bk.client()
    bk.heartbeat(other, consumers=[wants], on=on_other, language="GO", version=301) >> Reply(SUCCESS)
    stranger, on_stranger = bk.client()
    strange = consuming(bk.group("other"), [topic])
    bk.heartbeat(stranger, consumers=[strange], on=on_stranger) >> Reply(SUCCESS)
    both = [online(client, connection), online(other, on_other, "GO", 301)]
    bk.consumer_connections(group).json >> in_any_order(both)


def in_any_order(both: list[dict[str, object]]) -> AnyOf:
    """Two clients that are shown."""
    orders = (both, both[::-1])
    return AnyOf(*(Reply(SUCCESS, Including({"connectionSet": order})) for order in orders))


def online(
    client: str, connection: Connection, language: str = "CPP", version: int = 300
) -> dict[str, object]:
    """A client as it is shown, if its heartbeat had this language and this version."""
    return {"clientAddr": connection.peer, "clientId": client, "language": language, "version": version}


@case(kills=["nobody-online-is-success"])
def test_no_consumer_online(bk: BrokerSession) -> None:
    group = bk.group()
    remark = f"the consumer group[{group}] not online"
    bk.consumer_connections(group) >> Reply(ResponseCode.CONSUMER_NOT_ONLINE, remark=remark)


@case(kills=["no-producers-are-shown", "clients-are-shown-without-version"])
def test_producers_are_shown(bk: BrokerSession) -> None:
    group = bk.group()
    client, connection = bk.client()
    bk.heartbeat(client, producers=[group], on=connection, language="CPP", version=300) >> Reply(SUCCESS)
    shown = asked(bk, RequestCode.GET_PRODUCER_CONNECTION_LIST, producerGroup=group)
    shown >> Reply(SUCCESS, {"connectionSet": [online(client, connection)]})
    (other, on_other), (stranger, on_stranger) = bk.client(), bk.client()
    bk.heartbeat(other, producers=[group], on=on_other, language="GO", version=301) >> Reply(SUCCESS)
    bk.heartbeat(stranger, producers=[bk.group("other")], on=on_stranger) >> Reply(SUCCESS)
    both = [online(client, connection), online(other, on_other, "GO", 301)]
    asked(bk, RequestCode.GET_PRODUCER_CONNECTION_LIST, producerGroup=group) >> in_any_order(both)


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


class _Producer(msgspec.Struct):
    id: str = msgspec.field(name="clientId")


class _Producers(msgspec.Struct):
    data: dict[str, list[_Producer]]


@case(
    kills=["one-producer-of-a-group-is-shown", "producers-of-the-newest-group-are-shown", "later-producers"]
)
def test_all_producers_are_shown(bk: BrokerSession) -> None:
    group, other = bk.group(), bk.group("other")
    (one, on_one), (two, on_two) = bk.client(), bk.client()
    began = bk.broker_time()
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
        "remoteIP": f"/{on_one.peer}",
        "lastUpdateTimestamp": Between(began, bk.broker_time()),
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
