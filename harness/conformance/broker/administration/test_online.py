"""Chapter administration: consumers and producers that are online."""

from harness.conformance import Including, Reply, case
from harness.conformance.broker.tools import ERROR, SUCCESS, asked
from harness.session import BrokerSession, Connection
from harness.session.broker.requests import consuming
from harness.wire import RequestCode, ResponseCode


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


def online(client: str, connection: Connection) -> dict[str, object]:
    """A client as it is shown, if its heartbeat had this language and this version."""
    return {"clientAddr": connection.peer, "clientId": client, "language": "CPP", "version": 300}


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
