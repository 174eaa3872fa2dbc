"""The application with mistakes: in each class one decision is wrong, as applications have it wrong."""

from __future__ import annotations

import contextlib

from harness.wire import Command, FrameBuffer, ResponseCode
from harness.wire.messages import Message

from .client import Client, Connection, Queue, UnansweredError
from .shop import FailedError, Sender, Warehouse


class SwallowsRefusals(Sender):
    def is_stored(self, answer: Command) -> bool:
        return True


class TakesFlushTimeoutForFailure(Sender):
    def is_stored(self, answer: Command) -> bool:
        return answer.code == ResponseCode.SUCCESS


class TakesSilenceForFailure(Sender):
    def goes_on_unanswered(self, topic: str) -> bool:
        return False


class KeepsToOneBroker(Sender):
    def queue(self, topic: str, name: str, tried: set[str]) -> Queue | None:
        return super().queue(topic, name, set())

    def goes_on_unanswered(self, topic: str) -> bool:
        return True


class KeepsDeadConnections(Client):
    def failed(self, address: str) -> None:
        """It is never opened anew."""


class KeepsHalfFrames(Client):
    def __init__(self, namesrv: str) -> None:
        super().__init__(namesrv)
        self._arrived: dict[str, FrameBuffer] = {}

    def connected(self, address: str) -> Connection:
        connection = super().connected(address)
        connection.arrived = self._arrived.setdefault(address, connection.arrived)
        return connection


class IsNotIdempotent(Warehouse):
    def ship(self, message: Message) -> None:
        self.books.done.clear()
        super().ship(message)


class RecognisesPlaces(Warehouse):
    def seen_as(self, message: Message) -> str:
        return f"{message.store_host}/{message.queue_id}/{message.queue_offset}"


class CommitsFirst(Warehouse):
    def take(self, queue: Queue, messages: list[Message], after: int) -> None:
        self.commit(queue, after)
        super().take(queue, messages, after)


class PostponesFailures(Warehouse):
    def take(self, queue: Queue, messages: list[Message], after: int) -> None:
        postponed = []
        for message in messages:
            try:
                self.ship(message)
            except FailedError:
                postponed.append(message)
        super().take(queue, postponed, after)


class BeginsAtTheEnd(Warehouse):
    """... of a queue that it has lost and got back."""

    had: frozenset[Queue] = frozenset()

    def first_position(self, queue: Queue) -> int:
        if queue in self.had:
            return self.end_of(queue)
        self.had |= {queue}
        return super().first_position(queue)


class CommitsWithoutLooking(Warehouse):
    """... whether the commit has arrived, and relies on it that nothing comes twice."""

    def commit(self, queue: Queue, position: int) -> None:
        with contextlib.suppress(UnansweredError):
            super().commit(queue, position)

    def seen_as(self, message: Message) -> str:
        return f"{id(self)}/{message.body.decode()}"
