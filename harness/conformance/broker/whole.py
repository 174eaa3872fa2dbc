"""All of a message that a Broker stores once more, to be compared with what was sent."""

from __future__ import annotations

from typing import Any

from harness.conformance import ANYTHING, Reply
from harness.session import BrokerSession, Connection
from harness.session.exchange import NotSo, View
from harness.wire import Command, ResponseCode, WireError
from harness.wire.messages import Message, decode_message

OWN = {"TAGS": "A", "KEYS": "k", "mine": "Grüße", "UNIQ_KEY": "0123456789ABCDEF" * 2}
"""Properties of a producer."""
BODY, QUEUE, FLAG, BORN, TIMES = "Körper".encode(), 2, -7, 1_234_567_890_123, 3
"""The rest of its message: body, queue, flag, time of birth, how often it was tried."""
DERIVED = ("size", "body_crc")
"""Members of a message that follow from the others."""


def send_whole(
    bk: BrokerSession, topic: str, on: Connection, queue: int = QUEUE, /, **properties: str
) -> str:
    """Sends this message, with more properties. Returns the id that the Broker gives it."""
    sent = bk.send(
        topic,
        BODY,
        queue,
        properties={**OWN, **properties},
        flag_of_user=FLAG,
        born=BORN,
        reconsumed=TIMES,
        on=on,
    )
    return str((sent.ids >> Reply(ResponseCode.SUCCESS)).value[0])


def plain_properties(bk: BrokerSession, on: Connection) -> dict[str, str]:
    """The properties with which the message is stored that nothing is special about."""
    topic = bk.topic("plain")
    send_whole(bk, topic, on)
    found = bk.pull(topic, QUEUE).properties.eventually() >> Reply(ResponseCode.SUCCESS, [ANYTHING])
    return dict(found.value[0])


def whole(message: Message) -> tuple[Any, ...]:
    """What a message has beside its properties, its places and the time when it was stored."""
    return (
        message.topic,
        message.body,
        message.queue_id,
        message.flag,
        message.sys_flag,
        message.born_timestamp,
        message.born_host,
        message.store_host,
        message.reconsume_times,
    )


def as_sent(
    bk: BrokerSession,
    topic: str,
    on: Connection,
    *,
    queue: int = QUEUE,
    mark: int = 0,
    retries: int = 0,
    born_host: str | None = None,
) -> tuple[Any, ...]:
    """What `whole` is of this message where it was stored again: `mark` is its system flag, `retries` is how
    often it was tried since, and `born_host` the producer's address, if it is another one.
    """
    host = born_host or on.peer
    return (topic, BODY, queue, FLAG, mark, BORN, host, bk.broker_address, TIMES + retries)


def entire(message: Message) -> dict[str, Any]:
    """Every member of a message that does not follow from the others."""
    return {name: getattr(message, name) for name in Message.__struct_fields__ if name not in DERIVED}


def pulled(bk: BrokerSession, topic: str, queue: int = 0, offset: int = 0) -> dict[str, Any]:
    """The message of a queue that lies there, as a pull returns it, and as all others must."""
    found = bk.pull(topic, queue, offset, most=1).seen("message", entire).eventually()
    return dict((found >> Reply(ResponseCode.SUCCESS, [ANYTHING])).value[0])


def viewed(bk: BrokerSession, offset: int) -> dict[str, Any]:
    """The message that lies at an offset in the log, as VIEW_MESSAGE_BY_ID returns it."""
    found = bk.view(offset).seen("message", entire).eventually()
    return dict((found >> Reply(ResponseCode.SUCCESS, [ANYTHING])).value[0])


def pushed(command: Command) -> dict[str, Any]:
    """The message in a request of the Broker's."""
    try:
        return entire(decode_message(command.body))
    except WireError as problem:
        raise NotSo(f"no message: {problem}") from problem


PUSHED = View("message", pushed)
