"""Queues and the locks on them: bodies of LOCK_BATCH_MQ (41) and UNLOCK_BATCH_MQ (42), and of 41's answer."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from harness.wire.bodies.json_body import InvalidUtf8, list_of, listed, read, without_none
from harness.wire.fastjson import Engine, Node, document
from harness.wire.fastjson.coerce import as_boolean, as_int32, as_string, members
from harness.wire.integers import Int32


class MessageQueue(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One queue of one Broker. Equality is by value."""

    broker_name: str | None = None
    queue_id: Int32 = 0
    topic: str | None = None

    def document(self) -> dict[str, Any]:
        """The members, in the order in which they are written."""
        return without_none(msgspec.to_builtins(self))


class LockRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Which client of a group locks or unlocks which queues.

    `only_this_broker` is of 5.x; None leaves it out.
    """

    client_id: str | None = None
    consumer_group: str | None = None
    mq_set: list[MessageQueue] = []
    only_this_broker: bool | None = None

    def encode(self) -> bytes:
        """The JSON body."""
        return document(without_none(msgspec.to_builtins(self)))

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> LockRequest:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_request, _read_request, invalid_utf8, engine)


class LockedQueues(msgspec.Struct, forbid_unknown_fields=True):
    """The queues that are the client's now."""

    queues: list[MessageQueue] = msgspec.field(default=[], name="lockOKMQSet")

    def encode(self) -> bytes:
        """The JSON body."""
        return document({"lockOKMQSet": [queue.document() for queue in self.queues]})

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> LockedQueues:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_answer, _read_answer, invalid_utf8, engine)


_fast_request: Final = msgspec.json.Decoder(LockRequest).decode
_fast_answer: Final = msgspec.json.Decoder(LockedQueues).decode


def read_message_queue(node: Node) -> MessageQueue:
    """The lenient path."""
    found = members(node, {"brokerName": as_string, "queueId": as_int32, "topic": as_string})
    return MessageQueue(found.get("brokerName"), found.get("queueId") or 0, found.get("topic"))


def _read_request(node: Node) -> LockRequest:
    found = members(
        node,
        {
            "clientId": as_string,
            "consumerGroup": as_string,
            "mqSet": list_of(read_message_queue),
            "onlyThisBroker": as_boolean,
        },
    )
    return LockRequest(
        client_id=found.get("clientId"),
        consumer_group=found.get("consumerGroup"),
        mq_set=listed(found, "mqSet", node),
        only_this_broker=found.get("onlyThisBroker"),
    )


def _read_answer(node: Node) -> LockedQueues:
    return LockedQueues(members(node, {"lockOKMQSet": list_of(read_message_queue)}).get("lockOKMQSet") or [])
