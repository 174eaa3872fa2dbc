"""Heartbeat: who a client is, for which groups it produces and consumes, and what these subscribe to.

Bodies of HEART_BEAT (34) and CHECK_CLIENT_CONFIG (46).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from harness.wire.bodies.json_body import (
    InvalidUtf8,
    is_no_collection,
    is_null,
    list_of,
    listed,
    read,
    strings,
    without_none,
)
from harness.wire.fastjson import Engine, Node, document
from harness.wire.fastjson.coerce import (
    CoercionError,
    as_boolean,
    as_enum,
    as_int32,
    as_int64,
    as_string,
    members,
)
from harness.wire.integers import Int32, Int64

CONSUME_TYPES: Final = ("CONSUME_ACTIVELY", "CONSUME_PASSIVELY", "CONSUME_POP")
MESSAGE_MODELS: Final = ("BROADCASTING", "CLUSTERING")
STARTING_POINTS: Final = (
    "CONSUME_FROM_LAST_OFFSET",
    "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
    "CONSUME_FROM_MIN_OFFSET",
    "CONSUME_FROM_MAX_OFFSET",
    "CONSUME_FROM_FIRST_OFFSET",
    "CONSUME_FROM_TIMESTAMP",
)

if TYPE_CHECKING:
    _ConsumeType = str
    _MessageModel = str
    _StartingPoint = str
else:
    _ConsumeType = Literal[CONSUME_TYPES]
    _MessageModel = Literal[MESSAGE_MODELS]
    _StartingPoint = Literal[STARTING_POINTS]


class Subscription(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """What a group wants of a topic. `code_set` are the hashes of `tags_set`; `sub_string` is the expression.

    `sub_version` is when the client made it, ms; for None, a Broker takes its own time.
    """

    class_filter_mode: bool = False
    code_set: list[Int32] = []
    expression_type: str | None = "TAG"
    sub_string: str | None = None
    sub_version: Int64 | None = None
    tags_set: list[str] = []
    topic: str | None = None

    def document(self) -> dict[str, Any]:
        """The members, in the order in which they are written."""
        return without_none(msgspec.to_builtins(self))


class ConsumerData(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """One group that a client consumes for. The three words are names of Java's enums; None: unknown ones."""

    consume_from_where: _StartingPoint | None = None
    consume_type: _ConsumeType | None = None
    group_name: str | None = None
    message_model: _MessageModel | None = None
    subscription_data_set: list[Subscription] = []
    unit_mode: bool = False

    def document(self) -> dict[str, Any]:
        """The members, in the order in which they are written."""
        found = msgspec.to_builtins(self)
        found["subscriptionDataSet"] = [one.document() for one in self.subscription_data_set]
        return without_none(found)


class ProducerData(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """One group that a client produces for."""

    group_name: str | None = None

    def document(self) -> dict[str, Any]:
        """The members, in the order in which they are written."""
        return without_none(msgspec.to_builtins(self))


class Heartbeat(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """`heartbeat_fingerprint` and `without_sub` are of 5.x; None leaves them out."""

    client_id: str | None = msgspec.field(default=None, name="clientID")
    consumer_data_set: list[ConsumerData] = []
    heartbeat_fingerprint: Int32 | None = None
    producer_data_set: list[ProducerData] = []
    without_sub: bool | None = None

    def encode(self) -> bytes:
        """The JSON body."""
        members = {
            "clientID": self.client_id,
            "consumerDataSet": [one.document() for one in self.consumer_data_set],
            "heartbeatFingerprint": self.heartbeat_fingerprint,
            "producerDataSet": [one.document() for one in self.producer_data_set],
            "withoutSub": self.without_sub,
        }
        return document(without_none(members))

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> Heartbeat:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast, _read, invalid_utf8, engine)


_fast: Final = msgspec.json.Decoder(Heartbeat).decode


def read_subscription(node: Node) -> Subscription:
    """The lenient path."""
    found = members(
        node,
        {
            "classFilterMode": as_boolean,
            "codeSet": _codes,
            "expressionType": as_string,
            "subString": as_string,
            "subVersion": as_int64,
            "tagsSet": _tags,
            "topic": as_string,
        },
    )
    return Subscription(
        class_filter_mode=found.get("classFilterMode") or False,
        code_set=[code for code in found.get("codeSet") or [] if code is not None],
        expression_type=found.get("expressionType", "TAG"),
        sub_string=found.get("subString"),
        sub_version=found.get("subVersion"),
        tags_set=found.get("tagsSet") or [],
        topic=found.get("topic"),
    )


def _tags(node: Node) -> list[str] | None:
    """Text or an object is a set of one to fastjson2; to fastjson 1 a set, unlike a list, is no object."""
    if node.engine == "fastjson2" and node.kind in ("string", "object"):
        return None if is_no_collection(node) else [str(as_string(node))]
    if node.kind == "object":
        raise CoercionError("object instead of a set", node)
    return strings(node)


def _codes(node: Node) -> list[int | None] | None:
    """To fastjson2, what it reads as a number is a set of one."""
    if node.engine == "fastjson2" and node.kind != "array":
        return None if is_no_collection(node) else [as_int32(node)]
    return list_of(as_int32)(node)


def _read_consumer(node: Node) -> ConsumerData:
    found = members(
        node,
        {
            "consumeFromWhere": lambda value: as_enum(value, STARTING_POINTS),
            "consumeType": lambda value: as_enum(value, CONSUME_TYPES),
            "groupName": as_string,
            "messageModel": lambda value: as_enum(value, MESSAGE_MODELS),
            "subscriptionDataSet": list_of(read_subscription),
            "unitMode": as_boolean,
        },
    )
    return ConsumerData(
        consume_from_where=found.get("consumeFromWhere"),
        consume_type=found.get("consumeType"),
        group_name=found.get("groupName"),
        message_model=found.get("messageModel"),
        subscription_data_set=found.get("subscriptionDataSet") or [],
        unit_mode=found.get("unitMode") or False,
    )


def _read_producer(node: Node) -> ProducerData:
    return ProducerData(members(node, {"groupName": as_string}).get("groupName"))


def _read(node: Node) -> Heartbeat:
    found = members(
        node,
        {
            "clientID": as_string,
            "consumerDataSet": list_of(_read_consumer),
            "heartbeatFingerprint": as_int32,
            "producerDataSet": list_of(_read_producer),
            "withoutSub": as_boolean,
        },
    )
    return Heartbeat(
        client_id=found.get("clientID"),
        consumer_data_set=listed(found, "consumerDataSet", node),
        heartbeat_fingerprint=found.get("heartbeatFingerprint"),
        producer_data_set=listed(found, "producerDataSet", node),
        without_sub=found.get("withoutSub"),
    )


class SubscriptionCheck(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """CheckClientRequestBody: a subscription that a client wants to have checked, or none."""

    client_id: str | None = None
    group: str | None = None
    subscription_data: Subscription | None = None

    @classmethod
    def decode(cls, data: bytes, *, engine: Engine = "fastjson") -> SubscriptionCheck:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, msgspec.json.Decoder(cls).decode, _read_check, "replace", engine)


def _read_check(node: Node) -> SubscriptionCheck:
    found = members(node, {"clientId": as_string, "group": as_string, "subscriptionData": _checked})
    return SubscriptionCheck(found.get("clientId"), found.get("group"), found.get("subscriptionData"))


def _checked(node: Node) -> Subscription | None:
    """What is null as a body is none here too."""
    return None if is_null(node) else read_subscription(node)
