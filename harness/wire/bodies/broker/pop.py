"""Bodies of POP (5.x): acknowledgements of several messages (200151), who pops and who pulls (400, 401, 402).

Source: BatchAckMessageRequestBody, BatchAck, BitSetSerializerDeserializer, QueryAssignmentRequestBody,
QueryAssignmentResponseBody, SetMessageRequestModeRequestBody, MessageRequestModeManager of
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from harness.wire.bodies.broker.locks import MessageQueue
from harness.wire.bodies.json_body import InvalidUtf8, NullBodyError, list_of, map_of, read, without_none
from harness.wire.errors import WireError
from harness.wire.fastjson import Engine, Node, document
from harness.wire.fastjson.coerce import as_enum, as_int32, as_int64, as_string, members
from harness.wire.integers import Int32, Int64

REQUEST_MODES: Final = ("PULL", "POP")
"""How messages come to a group."""


class BatchAck(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Messages of one queue that one pop gave: those at `start_offset` + i for every bit i that is set.

    `retry`: "0" for the topic itself, "1" or "2" for its topic of messages that come again. `bits` is in
    Base64, least bit first.
    """

    bits: str | None = msgspec.field(default=None, name="b")
    consumer_group: str | None = msgspec.field(default=None, name="c")
    invisible_time: Int64 = msgspec.field(default=0, name="it")
    pop_time: Int64 = msgspec.field(default=0, name="pt")
    queue_id: Int32 = msgspec.field(default=0, name="q")
    retry: str | None = msgspec.field(default=None, name="r")
    revive_queue_id: Int32 = msgspec.field(default=0, name="rq")
    start_offset: Int64 = msgspec.field(default=0, name="so")
    topic: str | None = msgspec.field(default=None, name="t")

    @property
    def offsets(self) -> list[int]:
        """The queue offsets that are meant. Raises WireError for bits that are missing or no Base64."""
        if self.bits is None:
            raise WireError("an acknowledgement has no bits")
        try:
            data = b64decode(self.bits, validate=True)
        except ValueError as error:
            raise WireError(f"the bits of an acknowledgement are no Base64: {self.bits!r:.40}") from error
        found = int.from_bytes(data, "little")
        return [self.start_offset + bit for bit in range(found.bit_length()) if found >> bit & 1]

    @staticmethod
    def bits_of(numbers: Iterable[int]) -> str:
        """`bits` in which these are set."""
        found = sum(1 << number for number in set(numbers))
        return b64encode(found.to_bytes((found.bit_length() + 7) // 8, "little")).decode("ascii")


class BatchAcks(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Body of 200151."""

    acks: list[BatchAck] = []
    broker_name: str | None = None

    def encode(self) -> bytes:
        """The JSON body."""
        return _encoded(self)

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> BatchAcks:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_acks, _read_acks, invalid_utf8, engine)


class AssignmentQuestion(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Body of 400: which queues of a topic a client of a group is to consume, and how."""

    client_id: str | None = None
    consumer_group: str | None = None
    message_model: str | None = None
    strategy_name: str | None = None
    topic: str | None = None

    def encode(self) -> bytes:
        """The JSON body."""
        return _encoded(self)

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> AssignmentQuestion:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_question, _read_question, invalid_utf8, engine)


class Assignments(msgspec.Struct):
    """Answer to 400. `queues` None: nothing can be said, and the client is to go on as it does."""

    queues: list[MessageQueue] | None
    mode: str
    """PULL or POP. Of a queue with the number -1, POP takes from all queues of that Broker."""

    def encode(self) -> bytes:
        """The JSON body."""
        if self.queues is None:
            return b"{}"
        found = [{"messageQueue": queue.document(), "mode": self.mode} for queue in self.queues]
        return document({"messageQueueAssignments": found})


class RequestMode(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Body of 401: how a group consumes a topic.

    `pop_share_queue_num`: with how many others a client shares its queues; 0 or less: all with all.
    """

    consumer_group: str | None = None
    mode: str | None = "PULL"
    pop_share_queue_num: Int32 = 0
    topic: str | None = None

    def encode(self) -> bytes:
        """The JSON body."""
        return _encoded(self)

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> RequestMode:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_mode, _read_mode, invalid_utf8, engine)


class RequestModes(msgspec.Struct, forbid_unknown_fields=True):
    """Answer to 402, and the file `messageRequestMode.json`: by topic, then by group."""

    modes: dict[str, dict[str, RequestMode]] = msgspec.field(default={}, name="messageRequestModeMap")

    def document(self) -> dict[str, Any]:
        """The members, in the order in which they are written."""
        return {
            "messageRequestModeMap": {
                topic: {group: without_none(msgspec.to_builtins(mode)) for group, mode in groups.items()}
                for topic, groups in self.modes.items()
            }
        }

    def encode(self) -> bytes:
        """The JSON body."""
        return document(self.document())

    @classmethod
    def decode(cls, data: bytes, *, engine: Engine = "fastjson") -> RequestModes:
        """Raises `WireError` (`NullBodyError` for JSON null, and where the table is null)."""
        return read(data, _fast_modes, _read_modes, engine=engine)


def _encoded(body: msgspec.Struct) -> bytes:
    return document(without_none(msgspec.to_builtins(body)))


_fast_acks: Final = msgspec.json.Decoder(BatchAcks).decode
_fast_question: Final = msgspec.json.Decoder(AssignmentQuestion).decode
_fast_mode: Final = msgspec.json.Decoder(RequestMode).decode
_fast_modes: Final = msgspec.json.Decoder(RequestModes).decode


def _read_acks(node: Node) -> BatchAcks:
    found = members(node, {"acks": list_of(_read_ack), "brokerName": as_string})
    return BatchAcks(found.get("acks") or [], found.get("brokerName"))


def _read_ack(node: Node) -> BatchAck:
    found = members(
        node,
        {
            **dict.fromkeys(("c", "t", "r", "b"), as_string),
            **dict.fromkeys(("q", "rq"), as_int32),
            **dict.fromkeys(("so", "pt", "it"), as_int64),
        },
    )
    return BatchAck(
        consumer_group=found.get("c"),
        topic=found.get("t"),
        retry=found.get("r"),
        start_offset=found.get("so") or 0,
        queue_id=found.get("q") or 0,
        revive_queue_id=found.get("rq") or 0,
        pop_time=found.get("pt") or 0,
        invisible_time=found.get("it") or 0,
        bits=found.get("b"),
    )


def _read_question(node: Node) -> AssignmentQuestion:
    names = ("clientId", "consumerGroup", "messageModel", "strategyName", "topic")
    found = members(node, dict.fromkeys(names, as_string))
    return AssignmentQuestion(*(found.get(name) for name in names))


def _read_mode(node: Node) -> RequestMode:
    texts = dict.fromkeys(("consumerGroup", "topic"), as_string)
    modes = {"mode": lambda value: as_enum(value, REQUEST_MODES)}
    found = members(node, {**texts, **modes, "popShareQueueNum": as_int32})
    return RequestMode(
        consumer_group=found.get("consumerGroup"),
        mode=found.get("mode", "PULL"),
        pop_share_queue_num=found.get("popShareQueueNum") or 0,
        topic=found.get("topic"),
    )


def _read_modes(node: Node) -> RequestModes:
    found = members(node, {"messageRequestModeMap": map_of(map_of(_read_mode))})
    table = found.get("messageRequestModeMap", {})
    if table is None:
        raise NullBodyError("the table is null")
    return RequestModes({topic: groups or {} for topic, groups in table.items()})
