"""What of a Broker's reply is compared with what a case expects.

As for a NameServer's replies (``views``). Messages are shown by their bodies, offsets
and properties; a body that is no sequence of messages is ``NotSo``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from harness.session.exchange import Exchange, NotSo, View
from harness.session.views import JsonExchange, json_of
from harness.wire import Command, WireError
from harness.wire.messages import Message, decode_messages, decode_offset_id


def _number(reply: Command, name: str) -> int | None:
    text = (reply.ext or {}).get(name)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise NotSo(f"ext field {name} is {text!r}, not a number") from None


class NumberExchange(Exchange):
    """A request whose answer is one number in an ext field: offsets (14, 29, 30, 31), times (32)."""

    name = "offset"

    @property
    def offset(self) -> Self:
        """View: the number, or None."""
        return self.number(self.name)

    def number(self, name: str) -> Self:
        """View: the number in this field, or None."""
        return self.seen_as(View(name, lambda reply: _number(reply, name), columns=(name,)))


class SendExchange(Exchange):
    """Codes 10, 310, 320."""

    @property
    def offset(self) -> Self:
        """View: the offset in the queue, of the first message of a batch."""
        return self.seen_as(
            View("queue offset", lambda reply: _number(reply, "queueOffset"), columns=("queueOffset",))
        )

    @property
    def queue(self) -> Self:
        """View: the queue."""
        return self.seen_as(View("queue", lambda reply: _number(reply, "queueId"), columns=("queueId",)))

    @property
    def ids(self) -> Self:
        """View: the ids of the messages, a tuple; each can be decoded (``decode_offset_id``)."""

        def read(reply: Command) -> tuple[str, ...]:
            text = (reply.ext or {}).get("msgId")
            if text is None:
                raise NotSo("ext field msgId is missing")
            ids = tuple(text.split(","))
            try:
                for one in ids:
                    decode_offset_id(one)
            except WireError as problem:
                raise NotSo(f"ext field msgId: {problem}") from None
            return ids

        return self.seen_as(View("message ids", read, said="extFields.msgId"))


class MessagesExchange(Exchange):
    """Codes 11, 12, 33, 361: a body of messages."""

    def seen(self, what: str, look: Callable[[Message], Any]) -> Self:
        """View: what ``look`` sees of each message, a list."""
        return self.seen_as(View(what, lambda reply: [look(one) for one in _messages(reply)]))

    def stored(self, what: str, start: int | None, end: int | None = None) -> Self:
        """View: of the bytes of each message those from ``start`` to ``end``, a list."""
        return self.seen_as(View(what, lambda reply: [one[start:end] for one in _pieces(reply.body)]))

    @property
    def messages(self) -> Self:
        """View: the messages as they are."""
        return self.seen("messages", lambda one: one)

    @property
    def bodies(self) -> Self:
        """View: the bodies of the messages."""
        return self.seen("bodies", lambda one: one.body)

    @property
    def offsets(self) -> Self:
        """View: the queue offsets of the messages."""
        return self.seen("queue offsets", lambda one: one.queue_offset)

    @property
    def properties(self) -> Self:
        """View: the properties of the messages."""
        return self.seen("properties", lambda one: one.properties)

    @property
    def next_offset(self) -> Self:
        """View of a pull: where to go on."""
        return self.seen_as(
            View("next offset", lambda reply: _number(reply, "nextBeginOffset"), columns=("nextBeginOffset",))
        )

    @property
    def bounds(self) -> Self:
        """View of a pull: ``(min offset, max offset)`` of the queue."""
        return self.seen_as(
            View(
                "bounds",
                lambda reply: (_number(reply, "minOffset"), _number(reply, "maxOffset")),
                columns=("minOffset", "maxOffset"),
            )
        )


class ConsumersExchange(JsonExchange):
    """Code 38."""

    @property
    def ids(self) -> Self:
        """View: the client ids, sorted."""

        def read(reply: Command) -> list[str] | None:
            value = json_of(reply)
            return None if value is None else sorted(_listed(value, "consumerIdList"))

        return self.seen_as(View("client ids", read, ("consumerIdList",)))


class LockExchange(JsonExchange):
    """Code 41."""

    @property
    def queues(self) -> Self:
        """View: ``(topic, queue)`` of the queues that the client has now, sorted."""

        def read(reply: Command) -> list[tuple[str, int]] | None:
            value = json_of(reply)
            if value is None:
                return None
            try:
                return sorted((one["topic"], one["queueId"]) for one in _listed(value, "lockOKMQSet"))
            except (KeyError, TypeError):
                raise NotSo("a locked queue without topic or queueId") from None

        return self.seen_as(View("locked queues", read, ("lockOKMQSet",), ("topic", "queueId")))


def _messages(reply: Command) -> list[Message]:
    try:
        return decode_messages(reply.body)
    except WireError as problem:
        raise NotSo(f"no messages: {problem}") from problem


def _pieces(body: bytes) -> list[bytes]:
    """A body cut where the total sizes of its messages say."""
    pieces = []
    while body:
        size = int.from_bytes(body[:4], "big")
        if not 4 <= size <= len(body):
            raise NotSo(f"a message of {size} bytes where {len(body)} are left")
        pieces.append(body[:size])
        body = body[size:]
    return pieces


def _listed(value: Any, name: str) -> list[Any]:
    found = value.get(name) if isinstance(value, dict) else None
    if not isinstance(found, list):
        raise NotSo(f"there is no list {name}")
    return found
