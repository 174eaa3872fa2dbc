"""The body with which clients subscribe to light topics (5.5): 200071.

Source: LiteSubscriptionCtlRequestBody, LiteSubscriptionDTO, OffsetOption of rocketmq-all-5.5.0.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from harness.wire.bodies.json_body import InvalidUtf8, is_null, list_of, read
from harness.wire.fastjson import Engine, Node
from harness.wire.fastjson.coerce import as_enum, as_int64, as_string, members
from harness.wire.integers import Int64

ACTIONS: Final = ("PARTIAL_ADD", "PARTIAL_REMOVE", "COMPLETE_ADD", "COMPLETE_REMOVE")
"""What a client does with light topics: adds these, ends these, says all of them, ends all."""
OPTIONS: Final = ("POLICY", "OFFSET", "TAIL_N", "TIMESTAMP")
"""How a client says where its group goes on."""


class OffsetOption(msgspec.Struct, forbid_unknown_fields=True):
    """Where a group goes on in a light topic."""

    type: Literal["POLICY", "OFFSET", "TAIL_N", "TIMESTAMP"] | None = None
    value: Int64 = 0


class LightSubscription(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """One change of what a client subscribes to."""

    action: Literal["PARTIAL_ADD", "PARTIAL_REMOVE", "COMPLETE_ADD", "COMPLETE_REMOVE"] | None = None
    client_id: str | None = None
    group: str | None = None
    light_topics: list[str] | None = msgspec.field(default=None, name="liteTopicSet")
    offset_option: OffsetOption | None = None
    topic: str | None = None
    version: Int64 = 0


class LightSubscriptionList(msgspec.Struct, forbid_unknown_fields=True):
    """Body of 200071."""

    subscriptions: list[LightSubscription] | None = msgspec.field(default=None, name="subscriptionSet")

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> LightSubscriptionList:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast, _read, invalid_utf8, engine)


_fast: Final = msgspec.json.Decoder(LightSubscriptionList).decode


def _read(node: Node) -> LightSubscriptionList:
    return LightSubscriptionList(
        members(node, {"subscriptionSet": list_of(_read_one)}).get("subscriptionSet")
    )


def _read_one(node: Node) -> LightSubscription:
    found = members(
        node,
        {
            **dict.fromkeys(("clientId", "group", "topic"), as_string),
            "action": lambda action: as_enum(action, ACTIONS),
            "liteTopicSet": _read_names,
            "offsetOption": _read_option,
            "version": as_int64,
        },
    )
    return LightSubscription(
        action=found.get("action"),
        client_id=found.get("clientId"),
        group=found.get("group"),
        light_topics=found.get("liteTopicSet"),
        offset_option=found.get("offsetOption"),
        topic=found.get("topic"),
        version=found.get("version") or 0,
    )


def _read_names(node: Node) -> list[str] | None:
    """A text is a set of one."""
    if node.kind == "string":
        return [str(node.value)] if node.value else None
    names = list_of(as_string)(node)
    return None if names is None else [one for one in names if one is not None]


def _read_option(node: Node) -> OffsetOption | None:
    if is_null(node):
        return None
    found = members(node, {"type": lambda kind: as_enum(kind, OPTIONS), "value": as_int64})
    return OffsetOption(found.get("type"), found.get("value") or 0)
