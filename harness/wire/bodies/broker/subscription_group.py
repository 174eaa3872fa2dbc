"""SubscriptionGroup: what a Broker knows of a group of consumers. Body of code 200, part of 201 and 225."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from harness.wire.bodies.json_body import (
    InvalidUtf8,
    only_list,
    read,
    strings_by_name,
    without_none,
)
from harness.wire.fastjson import Engine, Node, document
from harness.wire.fastjson.coerce import (
    as_boolean,
    as_int32,
    as_int64,
    as_string,
    members,
)
from harness.wire.integers import Int32, Int64


class SubscriptionGroup(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The defaults are those of a member that is missing, to 4.9.

    Members that may be None belong to 5.x; None leaves the member out. `group_retry_policy` is a document
    that this code does not interpret.
    """

    group_name: str | None = None
    consume_enable: bool = True
    consume_from_min_enable: bool = True
    consume_broadcast_enable: bool = True
    retry_queue_nums: Int32 = 1
    retry_max_times: Int32 = 16
    broker_id: Int64 = 0
    which_broker_when_consume_slowly: Int64 = 1
    notify_consumer_ids_changed_enable: bool = True
    consume_message_orderly: bool | None = None
    group_retry_policy: dict[str, Any] | None = None
    group_sys_flag: Int32 | None = None
    consume_timeout_minute: Int32 | None = None
    attributes: dict[str, str] | None = None

    def document(self) -> dict[str, Any]:
        """The members, in the order in which they are written."""
        return dict(sorted(without_none(msgspec.to_builtins(self)).items()))

    def encode(self) -> bytes:
        """The JSON body."""
        return document(self.document())

    def of_line(self, v5: bool) -> SubscriptionGroup:
        """The same group with all members that a line has, and no others."""
        replace = msgspec.structs.replace
        if not v5:
            return replace(self, **dict.fromkeys(_V5))
        missing = {name: made() for name, made in _V5.items() if getattr(self, name) is None}
        return replace(self, **missing)

    @classmethod
    def decode(
        cls, data: bytes, *, v5: bool, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> SubscriptionGroup:
        """As a server of a line reads it. Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast, read_subscription_group, invalid_utf8, engine).of_line(v5)


_V5: Final[dict[str, Callable[[], object]]] = {
    "consume_message_orderly": lambda: False,
    "group_retry_policy": lambda: {"type": "CUSTOMIZED"},
    "group_sys_flag": lambda: 0,
    "consume_timeout_minute": lambda: 15,
    "attributes": dict,
}
"""The members of 5.x and what they are by default."""

_fast: Final = msgspec.json.Decoder(SubscriptionGroup).decode

_READERS: Final[dict[str, Callable[[Node], object]]] = {
    "groupName": as_string,
    "consumeEnable": as_boolean,
    "consumeFromMinEnable": as_boolean,
    "consumeBroadcastEnable": as_boolean,
    "retryQueueNums": as_int32,
    "retryMaxTimes": as_int32,
    "brokerId": as_int64,
    "whichBrokerWhenConsumeSlowly": as_int64,
    "notifyConsumerIdsChangedEnable": as_boolean,
    "consumeMessageOrderly": as_boolean,
    "groupSysFlag": as_int32,
    "consumeTimeoutMinute": as_int32,
    "attributes": strings_by_name,
}
_FIELDS: Final = {field.encode_name: field.name for field in msgspec.structs.fields(SubscriptionGroup)}


def read_subscription_group(node: Node) -> SubscriptionGroup:
    """The lenient path. What cannot be null keeps its default; a retry policy is not looked at."""
    found = members(node, _READERS)
    return SubscriptionGroup(**{_FIELDS[name]: value for name, value in found.items() if value is not None})


class SubscriptionGroupList(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Several groups that an administrator wants (225, 5.x)."""

    group_config_list: list[SubscriptionGroup]

    @classmethod
    def decode(cls, data: bytes, *, engine: Engine = "fastjson") -> SubscriptionGroupList:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_list, _read_list, "replace", engine)


_fast_list: Final = msgspec.json.Decoder(SubscriptionGroupList).decode


def _read_list(node: Node) -> SubscriptionGroupList:
    return SubscriptionGroupList(only_list(node, "groupConfigList", read_subscription_group))
