"""Chapter reply: a consumer's reply comes to the producer that asked (codes 324 to 326)."""

from typing import Any, NamedTuple

from harness.conformance import AnyOf, Between, Containing, Including, Matching, Reply, Request, Silence, case
from harness.session import Answer, BrokerSession, Connection
from harness.session.broker.requests import SendCode, consuming
from harness.session.broker.views import SendExchange
from harness.session.exchange import View
from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.messages import Message, decode_properties

SUCCESS, ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR
PUSH = RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT
WITHIN = 10
"""Protocol seconds that a producer has for its answer."""
BODY = b"die Antwort"
CODES: tuple[SendCode, ...] = (324, 325)
"""Of replies."""


class Sent(NamedTuple):
    """The fields of a reply."""

    group: str = "PG-reply"
    queue: int = 2
    flag: int = 7
    born: int = 1_234_567_890_123
    times: int = 3
    default_topic: str = "TBW102"
    default_queues: int = 4
    unit: bool = False
    sys_flag: int = 0


FIRST = Sent()
SECOND = Sent("Gruppe-Ä", 3, -7, 1_234_567_890_456, 5, "Vorgabe-Ö", 9, unit=True, sys_flag=2)


def producer(bk: BrokerSession) -> tuple[str, Connection]:
    """The client id of a producer that is online, and its connection."""
    client, connection = bk.client()
    bk.heartbeat(client, producers=[bk.name("PG")], on=connection) >> Reply(SUCCESS)
    return client, connection


def replies(
    bk: BrokerSession, topic: str, client: str | None, code: SendCode = 325, made: Sent = FIRST
) -> SendExchange:
    """Sends a reply for a client. What follows happens before it has to have its answer."""
    asker = {} if client is None else {"REPLY_TO_CLIENT": client}
    properties = {**asker, "CORRELATION_ID": "Grüße", "MSG_TYPE": "reply"}
    sent = bk.send(
        topic,
        BODY,
        made.queue,
        group=made.group,
        code=code,
        properties=properties,
        flag_of_user=made.flag,
        born=made.born,
        reconsumed=made.times,
        default_topic=made.default_topic,
        default_queues=made.default_queues,
        sys_flag=made.sys_flag,
        ext={"unitMode" if code == 324 else "k": str(made.unit).lower()},
    )
    bk.while_lasts(WITHIN, bk.mark())
    return sent


def sent_fields(bk: BrokerSession, topic: str, made: Sent) -> dict[str, Any]:
    """The fields of a reply as they are pushed."""
    return {
        "producerGroup": made.group,
        "topic": topic,
        "defaultTopic": made.default_topic,
        "defaultTopicQueueNums": str(made.default_queues),
        "queueId": str(made.queue),
        "sysFlag": str(made.sys_flag),
        "bornTimestamp": str(made.born),
        "bornHost": bk.connection.peer,
        "storeTimestamp": Matching(r"^\d{13}$"),
        "storeHost": bk.broker_address,
        "flag": str(made.flag),
        "reconsumeTimes": str(made.times),
        "unitMode": str(made.unit).lower(),
    }


def said(bk: BrokerSession, client: str) -> dict[str, Any]:
    """The properties of a reply when the Broker has it."""
    own = {"REPLY_TO_CLIENT": client, "CORRELATION_ID": "Grüße", "MSG_TYPE": "reply"}
    added = {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
    return own | (added if bk.profile.has("told-region") else {})


def place(offset: int, queue: int = FIRST.queue) -> Any:
    """What the answer to a reply tells."""
    return Including(
        {
            "msgId": Matching("^[0-9A-F]{32,56}$"),
            "queueId": str(queue),
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


def given_to(
    connection: Connection, bk: BrokerSession, topic: str, client: str, made: Sent = FIRST
) -> Answer:
    """The reply as it has to come to the producer that asked."""
    properties = {**said(bk, client), "PUSH_REPLY_TIME": Matching(r"^\d{13}$")}
    reply = Including({**sent_fields(bk, topic, made), "properties": properties, "body": BODY})
    return connection.next_request(PUSH).seen_as(PUSHED) >> Request(PUSH, reply, flag=0)


@case(
    kills=[
        "first-producer-gets-replies",
        "pushes-lose-fields",
        "pushes-lose-properties",
        "first-of-each-group-gets-replies",
    ]
)
def test_is_pushed_to_the_asker(bk: BrokerSession) -> None:
    topic, (_, first), (client, connection), group = bk.topic(), producer(bk), bk.client(), bk.name("PG")
    other, beside = bk.client()
    for member, at in ((other, beside), (client, connection)):
        bk.heartbeat(member, producers=[group], on=at) >> Reply(SUCCESS)
    for made in (FIRST, SECOND):
        sent = replies(bk, topic, client, 325, made)
        connection.respond(given_to(connection, bk, topic, client, made))
        sent >> Reply(SUCCESS, ext=place(0, made.queue))
    for silent in (first, beside):
        silent.next_request(PUSH) >> Silence()


@case(kills=["plain-replies-are-unknown"])
def test_plain_header_names(bk: BrokerSession) -> None:
    topic, (client, connection) = bk.topic(), producer(bk)
    for made in (FIRST, SECOND):
        sent = replies(bk, topic, client, 324, made)
        connection.respond(given_to(connection, bk, topic, client, made))
        sent >> Reply(SUCCESS, ext=place(0, made.queue))


@case(kills=["refused-replies-are-success", "no-reply-is-success"])
def test_refusal_of_the_asker_is_an_error(bk: BrokerSession) -> None:
    topic, (client, connection) = bk.topic(), producer(bk)
    for offset, (code, expected) in enumerate(((ERROR, ERROR), (SUCCESS, SUCCESS))):
        sent = replies(bk, topic, client)
        connection.respond(connection.next_request(PUSH) >> Request(PUSH), code)
        remark = Containing(client) if expected else None
        sent >> Reply(expected, ext=place(offset), remark=remark)


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


@case(kills=["replies-to-absent-clients-succeed", "consumers-get-replies"])
def test_asker_must_be_online(bk: BrokerSession) -> None:
    topic, (consumer, connection) = bk.topic(), bk.client()
    bk.heartbeat(consumer, consumers=[consuming(bk.group())], on=connection) >> Reply(SUCCESS)
    for client in (bk.name("absent"), consumer):
        replies(bk, topic, client) >> Reply(ERROR, remark=Containing(client))
    replies(bk, topic, None) >> Reply(ERROR, remark=Containing("REPLY_TO_CLIENT"))
    connection.next_request(PUSH) >> Silence()


@case(
    kills=[
        "replies-are-not-stored",
        "stored-replies-have-a-time",
        "stored-replies-have-no-flag",
        "stored-replies-keep-their-bits",
    ]
)
def test_is_stored(bk: BrokerSession) -> None:
    topic, client = bk.topic(), bk.name("absent")
    for made in (FIRST, SECOND):
        for offset in (0, 1):
            replies(bk, topic, client, 325, made) >> Reply(ERROR, ext=place(offset, made.queue))
        pull = bk.pull(topic, made.queue)
        pull.bodies.eventually() >> Reply(SUCCESS, [BODY, BODY])
        pull.properties >> Reply(SUCCESS, [said(bk, client)] * 2)
        stored = (made.flag, 0, made.born, made.times, bk.connection.peer, bk.broker_address)
        pull.seen("fields", _fields) >> Reply(SUCCESS, [stored] * 2)


def _fields(message: Message) -> tuple[int, int, int, int, str, str]:
    born, stored = message.born_host, message.store_host
    return message.flag, message.sys_flag, message.born_timestamp, message.reconsume_times, born, stored


@case(kills=["replies-to-any-queue-are-in-none"])
def test_any_queue(bk: BrokerSession) -> None:
    (client, connection), made = producer(bk), FIRST._replace(queue=-1)
    for code in CODES:
        topic = bk.topic(queues=4)
        sent = replies(bk, topic, client, code, made)
        connection.respond(given_to(connection, bk, topic, client, made))
        taken = sent.queue >> Reply(SUCCESS, Between(0, 3))
        bk.pull(topic, taken.value).bodies.eventually() >> Reply(SUCCESS, [BODY])


@case(kills=["replies-to-any-topic-are-pushed"])
def test_illegal_topic_is_refused(bk: BrokerSession) -> None:
    topic, (client, connection) = bk.topic(), producer(bk)
    replies(bk, "a b", client) >> AnyOf(Reply(ERROR), Reply(ResponseCode.INVALID_PARAMETER))
    sent = replies(bk, topic, client)
    connection.respond(given_to(connection, bk, topic, client))
    sent >> Reply(SUCCESS, ext=place(0))


@case(kills=["refused-replies-name-another", "replies-to-any-queue-are-pushed"])
def test_queue_beyond_the_topic_is_refused(bk: BrokerSession) -> None:
    topic, (client, connection), asked = bk.topic(), producer(bk), bk.connect()
    properties = {"REPLY_TO_CLIENT": client, "CORRELATION_ID": "x"}
    named = Matching(rf"^request queueId\[4\] is illegal, .* Producer: {asked.peer}$")
    for code in CODES:
        sent = bk.send(topic, BODY, 4, code=code, properties=properties, on=asked)
        sent >> Reply((ERROR, ResponseCode.INVALID_PARAMETER), remark=named)
    connection.next_request(PUSH) >> Silence()
