"""Chapter reply: a consumer's reply comes to the producer that asked (codes 324 to 326)."""

from typing import Any

from harness.conformance import Containing, Including, Matching, Reply, Request, Silence, case
from harness.session import Answer, BrokerSession, Connection
from harness.session.broker.requests import SendCode, consuming
from harness.session.broker.views import SendExchange
from harness.session.exchange import View
from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.messages import decode_properties

SUCCESS, ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR
PUSH = RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT
WITHIN = 10
"""Protocol seconds that a producer has for its answer."""
BODY, QUEUE, FLAG, BORN, TIMES = b"die Antwort", 2, 7, 1_234_567_890_123, 3


def producer(bk: BrokerSession) -> tuple[str, Connection]:
    """The client id of a producer that is online, and its connection."""
    client, connection = bk.client()
    bk.heartbeat(client, producers=[bk.name("PG")], on=connection) >> Reply(SUCCESS)
    return client, connection


def replies(bk: BrokerSession, topic: str, client: str | None, code: SendCode = 325) -> SendExchange:
    """Sends a reply for a client. What follows happens before it has to have its answer."""
    asker = {} if client is None else {"REPLY_TO_CLIENT": client}
    properties = {**asker, "CORRELATION_ID": "Grüße", "MSG_TYPE": "reply"}
    sent = bk.send(
        topic,
        BODY,
        QUEUE,
        group="PG-reply",
        code=code,
        properties=properties,
        flag_of_user=FLAG,
        born=BORN,
        reconsumed=TIMES,
    )
    bk.while_lasts(WITHIN, bk.mark())
    return sent


def sent_fields(bk: BrokerSession, topic: str) -> dict[str, Any]:
    """The fields of a reply as they are pushed."""
    return {
        "producerGroup": "PG-reply",
        "topic": topic,
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "4",
        "queueId": str(QUEUE),
        "sysFlag": "0",
        "bornTimestamp": str(BORN),
        "bornHost": bk.connection.peer,
        "storeTimestamp": Matching(r"^\d{13}$"),
        "storeHost": bk.broker_address,
        "flag": str(FLAG),
        "reconsumeTimes": str(TIMES),
        "unitMode": "false",
    }


def said(bk: BrokerSession, client: str) -> dict[str, Any]:
    """The properties of a reply when the Broker has it."""
    own = {"REPLY_TO_CLIENT": client, "CORRELATION_ID": "Grüße", "MSG_TYPE": "reply"}
    added = {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
    return own | (added if bk.profile.has("told-region") else {})


def place(bk: BrokerSession, offset: int) -> Any:
    """What the answer to a reply tells."""
    return Including(
        {
            "msgId": Matching("^[0-9A-F]{32,56}$"),
            "queueId": str(QUEUE),
            "queueOffset": str(offset),
            "MSG_REGION": "DefaultRegion",
            "TRACE_ON": "true",
        }
    )


def _pushed(command: Command) -> dict[str, Any]:
    """The fields of a pushed reply, with its properties one by one and its body."""
    ext = dict(command.ext or {})
    return {**ext, "properties": decode_properties(ext.get("properties") or ""), "body": command.body}


PUSHED = View("reply", _pushed)


def given_to(connection: Connection, bk: BrokerSession, topic: str, client: str) -> Answer:
    """The reply as it has to come to the producer that asked."""
    properties = {**said(bk, client), "PUSH_REPLY_TIME": Matching(r"^\d{13}$")}
    reply = Including({**sent_fields(bk, topic), "properties": properties, "body": BODY})
    return connection.next_request(PUSH).seen_as(PUSHED) >> Request(PUSH, reply, flag=0)


@case(kills=["first-producer-gets-replies", "pushes-lose-fields", "pushes-lose-properties"])
def test_is_pushed_to_the_asker(bk: BrokerSession) -> None:
    topic, (_, first), (client, connection) = bk.topic(), producer(bk), producer(bk)
    sent = replies(bk, topic, client)
    connection.respond(given_to(connection, bk, topic, client))
    sent >> Reply(SUCCESS, ext=place(bk, 0))
    first.next_request(PUSH) >> Silence()


@case(kills=["plain-replies-are-unknown"])
def test_plain_header_names(bk: BrokerSession) -> None:
    topic, (client, connection) = bk.topic(), producer(bk)
    sent = replies(bk, topic, client, 324)
    connection.respond(given_to(connection, bk, topic, client))
    sent >> Reply(SUCCESS, ext=place(bk, 0))


@case(kills=["refused-replies-are-success", "no-reply-is-success"])
def test_refusal_of_the_asker_is_an_error(bk: BrokerSession) -> None:
    topic, (client, connection) = bk.topic(), producer(bk)
    for offset, (code, expected) in enumerate(((ERROR, ERROR), (SUCCESS, SUCCESS))):
        sent = replies(bk, topic, client)
        connection.respond(connection.next_request(PUSH) >> Request(PUSH), code)
        remark = Containing(client) if expected else None
        sent >> Reply(expected, ext=place(bk, offset), remark=remark)


@case(kills=["askers-have-a-second", "askers-have-a-minute"], clock=True)
def test_asker_has_ten_seconds(bk: BrokerSession) -> None:
    topic, (client, connection) = bk.topic(), producer(bk)
    sent = replies(bk, topic, client)
    asked = connection.next_request(PUSH) >> Request(PUSH)
    bk.advance_short_of(WITHIN - 1, since=asked)
    connection.respond(asked)
    sent >> Reply(SUCCESS)
    sent = replies(bk, topic, client)
    connection.next_request(PUSH) >> Request(PUSH)
    bk.advance(WITHIN + bk.jitter)
    sent >> Reply(ERROR, remark=Containing(client))


@case(kills=["replies-to-nobody-are-success", "consumers-get-replies"])
def test_asker_must_be_online(bk: BrokerSession) -> None:
    topic, (consumer, connection) = bk.topic(), bk.client()
    bk.heartbeat(consumer, consumers=[consuming(bk.group())], on=connection) >> Reply(SUCCESS)
    for client in (bk.name("nobody"), consumer):
        replies(bk, topic, client) >> Reply(ERROR, remark=Containing(client))
    replies(bk, topic, None) >> Reply(ERROR, remark=Containing("REPLY_TO_CLIENT"))
    connection.next_request(PUSH) >> Silence()


@case(kills=["replies-are-not-stored", "stored-replies-have-a-time"])
def test_is_stored(bk: BrokerSession) -> None:
    topic, client = bk.topic(), bk.name("nobody")
    for offset in (0, 1):
        replies(bk, topic, client) >> Reply(ERROR, ext=place(bk, offset))
    bk.pull(topic, QUEUE).bodies.eventually() >> Reply(SUCCESS, [BODY, BODY])
    bk.pull(topic, QUEUE).properties >> Reply(SUCCESS, [said(bk, client)] * 2)
