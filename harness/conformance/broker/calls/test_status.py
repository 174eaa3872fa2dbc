"""Chapter calls: the offsets of all members, gathered for an administrator (code 223)."""

from harness.conformance import Containing, Including, Reply, Request, Silence, case
from harness.conformance.broker.calls.members import (
    ERROR,
    OLD,
    STATUS_WITHIN,
    SUCCESS,
    TABLE,
    Client,
    _readable,
    online,
)
from harness.conformance.broker.tools import queue_name
from harness.session import Answer, BrokerSession, Connection, Exchange
from harness.session.exchange import View
from harness.wire import Command, RequestCode
from harness.wire.bodies import ConsumerStatus, MessageQueue

STATUS = RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
GATHER = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS


def _statuses(command: Command) -> dict[str, dict[int, int]]:
    table = ConsumerStatus.decode(command.body).consumer_table
    return {
        client: {queue.queue_id: offset for queue, offset in queues.items()}
        for client, queues in table.items()
    }


def gathers(bk: BrokerSession, topic: str, group: str, **ext: str) -> Exchange:
    """An administrator asks for the offsets at which the members of a group consume."""
    asking = bk.call(GATHER, {"topic": topic, "group": group, **ext})
    return asking.seen_as(
        View("statuses", _readable(_statuses), said="body.consumerTable by client and queueId")
    )


def asked_one(bk: BrokerSession, members: dict[int, Client]) -> tuple[str, Connection, Answer]:
    """The next member that the Broker asks. It asks that member only once."""
    connections = [connection for _, connection in members.values()]
    asked = bk.next_request(STATUS, connections) >> Request(STATUS, flag=0)
    client, connection = members.pop(asked.outcome.connection)
    return client, connection, asked


def status(bk: BrokerSession, topic: str, offset: int) -> bytes:
    """The answer of a member that consumes queue 0 from an offset."""
    queue = MessageQueue(bk.broker_name, 0, topic)
    return ConsumerStatus(message_queue_table={queue: offset}).encode()


def two_members(bk: BrokerSession, group: str) -> dict[int, Client]:
    """Two members of a group, by the ids of their connections."""
    return {client[1].id: client for client in (online(bk, group), online(bk, group))}


@case(kills=["one-member-is-asked", "statuses-are-empty"])
def test_status_is_gathered(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    members = two_members(bk, group)
    asking = gathers(bk, topic, group)
    told: dict[str, dict[str, int]] = {}
    for offset in (7, 9):
        client, connection, asked = asked_one(bk, members)
        connection.respond(asked, body=status(bk, topic, offset))
        told[client] = {queue_name(bk, topic, 0): offset}
    asking.seen_as(TABLE) >> Reply(SUCCESS, {"consumerTable": told, "messageQueueTable": {}})


@case(kills=["members-are-not-told-the-topic"])
def test_status_names_topic_and_group(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    _, connection = online(bk, group)
    asking = gathers(bk, topic, group)
    said = Including({"topic": topic, "group": group})
    asked = connection.next_request(STATUS) >> Request(STATUS, ext=said)
    connection.respond(asked, body=status(bk, topic, 1))
    asking >> Reply(SUCCESS)


@case(kills=["every-member-is-asked"])
def test_status_of_one_member(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    (_, other), (client, connection) = online(bk, group), online(bk, group)
    asking = gathers(bk, topic, group, clientAddr=client)
    asked = connection.next_request(STATUS) >> Request(STATUS)
    connection.respond(asked, body=status(bk, topic, 3))
    asking >> Reply(SUCCESS, {client: {0: 3}})
    other.next_request(STATUS) >> Silence()


@case(kills=["errors-count-as-status", "unreadable-status-ends-the-gathering"])
def test_status_leaves_out_errors(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    members = {client[1].id: client for client in (online(bk, group) for _ in range(3))}
    asking = gathers(bk, topic, group)
    _, connection, asked = asked_one(bk, members)
    connection.respond(asked, ERROR, status(bk, topic, 7))
    _, connection, asked = asked_one(bk, members)
    connection.respond(asked, body=b"no status")
    client, connection, asked = asked_one(bk, members)
    connection.respond(asked, body=status(bk, topic, 9))
    asking >> Reply(SUCCESS, {client: {0: 9}})


@case(kills=["asked-members-have-a-minute"], clock=True)
def test_status_leaves_out_the_silent(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    members = two_members(bk, group)
    asking = gathers(bk, topic, group)
    asked_one(bk, members)
    bk.advance(STATUS_WITHIN + bk.jitter)
    client, connection, asked = asked_one(bk, members)
    connection.respond(asked, body=status(bk, topic, 9))
    asking >> Reply(SUCCESS, {client: {0: 9}})


@case(kills=["status-of-nobody-is-empty"])
def test_status_needs_a_member(bk: BrokerSession) -> None:
    gathers(bk, bk.topic(), bk.group()) >> Reply(ERROR)


@case(kills=["old-members-are-asked"])
def test_status_needs_newer_members(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    _, connection = online(bk, group, version=OLD)
    remark = Containing("the client does not support this feature")
    gathers(bk, topic, group) >> Reply(ERROR, remark=remark)
    connection.next_request(STATUS) >> Silence()


@case(kills=["odd-queues-are-a-status"])
def test_status_with_a_key_that_is_no_queue(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    members = two_members(bk, group)
    asking = gathers(bk, topic, group)
    _, connection, asked = asked_one(bk, members)
    connection.respond(asked, body=b'{"messageQueueTable":{"one":7}}')
    client, connection, asked = asked_one(bk, members)
    connection.respond(asked, body=status(bk, topic, 9))
    asking >> Reply(SUCCESS, {client: {0: 9}})
