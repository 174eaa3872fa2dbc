"""The application: a shop that sends orders, and a warehouse that consumes them and announces parcels.

What has been shipped is kept in the books, which outlive a warehouse that is started again, as a data base
would. Each decision that can be wrong is a method.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import ConsumerData, Heartbeat
from harness.wire.messages import Message, decode_messages, encode_properties

from .client import Client, Queue, UnansweredError

ORDERS, PARCELS = "orders", "parcels"
GROUP = "warehouse"
_ATTEMPTS = 3
_STORED = frozenset(
    {
        ResponseCode.SUCCESS,
        ResponseCode.FLUSH_DISK_TIMEOUT,
        ResponseCode.FLUSH_SLAVE_TIMEOUT,
        ResponseCode.SLAVE_NOT_AVAILABLE,
    }
)


class FailedError(Exception):
    """A message could not be worked on; the warehouse stops."""


@dataclass
class Books:
    """What the shop has promised, and what has been shipped, in order."""

    promised: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    shipped: list[str] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    """What the warehouse recognises messages by that it has seen."""


class Sender:
    """Sends, and tries again."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def send(self, topic: str, name: str) -> bool:
        """Whether a message is stored."""
        tried: set[str] = set()
        for _ in range(_ATTEMPTS):
            queue = self.queue(topic, name, tried)
            if queue is None:
                continue
            tried.add(queue.broker)
            try:
                answer = self.client.ask(queue.address, RequestCode.SEND_MESSAGE_V2, *_message(queue, name))
            except UnansweredError:
                if not self.goes_on_unanswered(topic):
                    return False
                continue
            if self.is_stored(answer):
                return True
        return False

    def queue(self, topic: str, name: str, tried: set[str]) -> Queue | None:
        """Where to send to: another Broker, if one has failed. Names begin with a letter, which chooses the
        queue, so that those with the same letter are in order.
        """
        queues = self.client.queues(topic)
        left = [queue for queue in queues if queue.broker not in tried] or queues
        return left[ord(name[0]) % len(left)] if left else None

    def goes_on_unanswered(self, topic: str) -> bool:
        """Whether to try again without an answer: the message may be there twice, and the Broker gone."""
        self.client.refresh(topic)
        return True

    def is_stored(self, answer: Command) -> bool:
        return answer.code in _STORED


class Shop:
    """Takes orders."""

    def __init__(self, sender: Sender, books: Books) -> None:
        self.sender = sender
        self._books = books

    def order(self, name: str) -> None:
        if self.sender.send(ORDERS, name):
            self._books.promised.append(name)
        else:
            self._books.refused.append(name)


class Warehouse:
    """A member of the consumer group. Consumes its share of the queues, each in its order."""

    def __init__(self, sender: Sender, books: Books, number: int) -> None:
        self.sender = sender
        self.client = sender.client
        self.books = books
        self._id = f"127.0.0.1@{number}"
        self.positions: dict[Queue, int] = {}

    def work(self) -> bool:
        """One round through all queues. False: there was nothing to do. Raises FailedError."""
        found = False
        for queue in self._share():
            try:
                found |= self._consume(queue)
            except UnansweredError:
                self.client.refresh(ORDERS)
                self.positions.pop(queue, None)
                found = True
        return found

    def _consume(self, queue: Queue) -> bool:
        """Whether there was something."""
        if queue not in self.positions:
            self.positions[queue] = self.first_position(queue)
        answer = self.client.ask(queue.address, RequestCode.PULL_MESSAGE, _pull(queue, self.positions[queue]))
        if answer.code != ResponseCode.SUCCESS:
            return False
        messages = decode_messages(answer.body)
        after = int((answer.ext or {})["nextBeginOffset"] or 0)
        self.take(queue, messages, after)
        self.positions[queue] = after
        return True

    def take(self, queue: Queue, messages: list[Message], after: int) -> None:
        """Work on messages, then commit."""
        for message in messages:
            self.ship(message)
        self.commit(queue, after)

    def ship(self, message: Message) -> None:
        """Raises FailedError."""
        order, seen = message.body.decode(), self.seen_as(message)
        if seen in self.books.done:
            return
        if not self.sender.send(PARCELS, order):
            raise FailedError(f"the parcel of {order} cannot be announced")
        self.books.done.add(seen)
        self.books.shipped.append(order)

    def seen_as(self, message: Message) -> str:
        """By what a message is recognised: what it means, however often it was sent or delivered."""
        return message.body.decode()

    def first_position(self, queue: Queue) -> int:
        """Where to begin with a queue that has come to this member."""
        return self.committed(queue)

    def committed(self, queue: Queue) -> int:
        where = {"consumerGroup": GROUP, "topic": queue.topic, "queueId": queue.number}
        answer = self.client.ask(queue.address, RequestCode.QUERY_CONSUMER_OFFSET, where)
        return int((answer.ext or {})["offset"] or 0) if answer.code == ResponseCode.SUCCESS else 0

    def commit(self, queue: Queue, position: int) -> None:
        where = {"consumerGroup": GROUP, "topic": queue.topic, "queueId": queue.number}
        self.client.ask(
            queue.address, RequestCode.UPDATE_CONSUMER_OFFSET, {**where, "commitOffset": position}
        )

    def end_of(self, queue: Queue) -> int:
        where = {"topic": queue.topic, "queueId": queue.number}
        answer = self.client.ask(queue.address, RequestCode.GET_MAX_OFFSET, where)
        return int((answer.ext or {})["offset"] or 0)

    def _share(self) -> list[Queue]:
        """The queues of this member: an even part, by the place of its id among all."""
        queues = self.client.queues(ORDERS)
        members: list[str] = []
        for address in sorted({queue.address for queue in queues}):
            try:
                self.client.ask(address, RequestCode.HEART_BEAT, None, self._heartbeat())
                members = members or self._members(address)
            except UnansweredError:
                self.client.refresh(ORDERS)
        if not members:
            return []
        place = sorted(members).index(self._id)
        share = queues[place * len(queues) // len(members) : (place + 1) * len(queues) // len(members)]
        for queue in set(self.positions) - set(share):
            del self.positions[queue]
        return share

    def _members(self, address: str) -> list[str]:
        answer = self.client.ask(address, RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": GROUP})
        members: list[str] = msgspec.json.decode(answer.body)["consumerIdList"]
        return members

    def _heartbeat(self) -> bytes:
        consumer = ConsumerData(
            group_name=GROUP,
            consume_type="CONSUME_PASSIVELY",
            message_model="CLUSTERING",
            consume_from_where="CONSUME_FROM_FIRST_OFFSET",
        )
        return Heartbeat(client_id=self._id, consumer_data_set=[consumer]).encode()


def _message(queue: Queue, name: str) -> tuple[dict[str, Any], bytes]:
    ext = {
        "a": "shop",
        "b": queue.topic,
        "c": "TBW102",
        "d": 4,
        "e": queue.number,
        "f": 0,
        "g": 0,
        "h": 0,
        "i": encode_properties({"KEYS": name}, v5=True),
        "j": 0,
        "k": "false",
    }
    return ext, name.encode()


def _pull(queue: Queue, position: int) -> dict[str, Any]:
    return {
        "consumerGroup": GROUP,
        "topic": queue.topic,
        "queueId": queue.number,
        "queueOffset": position,
        "maxMsgNums": 32,
        "sysFlag": 4,
        "commitOffset": 0,
        "suspendTimeoutMillis": 0,
        "subscription": "*",
        "subVersion": 0,
        "expressionType": "TAG",
    }
