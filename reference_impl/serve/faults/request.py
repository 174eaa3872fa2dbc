"""What a request is about: by topic, queue, group and client, wherever its code puts them.

Source: the header and body classes of `specs/messages`; short names are those of SendMessageRequestHeaderV2
(rocketmq-all-5.3.3).
"""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

import msgspec

from harness.wire import Command, RequestCode, WireError
from harness.wire.bodies import BatchAcks, Heartbeat, LockRequest

WORDS: Final[dict[str, frozenset[int]]] = {
    "send": frozenset(
        {RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE}
    ),
    "receive": frozenset({RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE, RequestCode.POP_MESSAGE}),
    "ack": frozenset({RequestCode.ACK_MESSAGE, RequestCode.BATCH_ACK_MESSAGE}),
    "commit": frozenset({RequestCode.UPDATE_CONSUMER_OFFSET}),
    "retry": frozenset({RequestCode.CONSUMER_SEND_MSG_BACK}),
    "transaction": frozenset({RequestCode.END_TRANSACTION}),
    "heartbeat": frozenset({RequestCode.HEART_BEAT}),
    "lock": frozenset({RequestCode.LOCK_BATCH_MQ}),
    "route": frozenset({RequestCode.GET_ROUTEINFO_BY_TOPIC}),
}
"""What a client wants, and the request codes in which clients say it."""

_Names: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], str]
"""Of the ext fields for topic, group and queue."""
_NAMES: Final[_Names] = (("topic", "originTopic"), ("consumerGroup", "producerGroup", "group"), "queueId")
_SHORT_NAMES: Final[_Names] = (("b",), ("a",), "e")
_SHORT: Final = frozenset(
    {RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE, RequestCode.SEND_REPLY_MESSAGE_V2}
)
"""Codes whose fields have names of one letter."""


class Request(msgspec.Struct):
    """A request of a client, and what is known of it before it is carried out."""

    server: str
    """The server that got it: "broker-a", "nameserver-0"."""
    connection: int
    command: Command
    """Replaced by a fault that changes what is asked."""
    topics: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    queue: int | None = None
    client: str | None = None
    """Its id; None before the first heartbeat on the connection, and at a NameServer."""


def names_of(server: str) -> tuple[str, str]:
    """How a server may be named: by its own name, "broker-a-0", or with all of its kind, "broker-a"."""
    return server, server.rpartition("-")[0]


def read(server: str, connection: int, command: Command, client: str | None) -> Request:
    """What a command is about. What cannot be read is the server's to refuse, and is about nothing."""
    ext = command.ext or {}
    topics, groups, queue = _SHORT_NAMES if command.code in _SHORT else _NAMES
    request = Request(
        server,
        connection,
        command,
        _named(ext.get(name) for name in topics),
        _named(ext.get(name) for name in groups),
        _number(ext.get(queue)),
        client,
    )
    from_body = _BODIES.get(command.code)
    if from_body is not None:
        with contextlib.suppress(WireError):
            from_body(request, command.body)
    if request.client is None:
        request.client = ext.get("clientID")
    return request


def _heartbeat(request: Request, body: bytes) -> None:
    beat = Heartbeat.decode(body)
    members: list[Any] = [*beat.consumer_data_set, *beat.producer_data_set]
    request.groups = _named(member.group_name for member in members)
    request.client = beat.client_id


def _lock(request: Request, body: bytes) -> None:
    lock = LockRequest.decode(body)
    request.groups = _named([lock.consumer_group])
    request.topics = _named(queue.topic for queue in lock.mq_set)
    request.client = lock.client_id


def _acks(request: Request, body: bytes) -> None:
    acks = BatchAcks.decode(body).acks
    request.groups = _named(ack.consumer_group for ack in acks)
    request.topics = _named(ack.topic for ack in acks)


_BODIES: Final[dict[int, Callable[[Request, bytes], None]]] = {
    RequestCode.HEART_BEAT: _heartbeat,
    RequestCode.LOCK_BATCH_MQ: _lock,
    RequestCode.UNLOCK_BATCH_MQ: _lock,
    RequestCode.BATCH_ACK_MESSAGE: _acks,
}


def _named(names: Iterable[str | None]) -> frozenset[str]:
    return frozenset(name for name in names if name)


def _number(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
