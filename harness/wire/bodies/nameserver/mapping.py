"""TopicQueueMappingInfo: how one broker maps the queues of a static topic (5.x)."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from harness.wire.bodies.json_body import (
    InvalidUtf8,
    integers_by_integer,
    is_no_collection,
    read,
    without_none,
)
from harness.wire.fastjson import Dialect, Engine, Node, document, dumps
from harness.wire.fastjson.coerce import as_boolean, as_int32, as_int64, as_string, members
from harness.wire.integers import Int32, Int64


class TopicQueueMappingInfo(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """`curr_id_map` has numeric keys, which Apache's brokers write without quotes; None leaves it out."""

    topic: str | None = None
    bname: str | None = None
    total_queues: Int32 = 0
    epoch: Int64 = 0
    dirty: bool = False
    scope: str | None = "__global__"
    curr_id_map: dict[Int32, Int32] | None = {}

    def document(self, dialect: Dialect) -> dict[str, Any]:
        """The members, in the order in which they are written."""
        return without_none(
            {
                "bname": self.bname,
                "currIdMap": None
                if self.curr_id_map is None
                else msgspec.Raw(dumps(self.curr_id_map, dialect)),
                "dirty": self.dirty,
                "epoch": self.epoch,
                "scope": self.scope,
                "topic": self.topic,
                "totalQueues": self.total_queues,
            }
        )

    def encode(self) -> bytes:
        """The JSON text, in the legacy dialect, as brokers write it."""
        return document(self.document("legacy"), "legacy")

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> TopicQueueMappingInfo:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast, read_mapping, invalid_utf8, engine)


_fast: Final = msgspec.json.Decoder(TopicQueueMappingInfo).decode


def read_mapping(node: Node) -> TopicQueueMappingInfo:
    """The lenient path."""
    found = members(
        node,
        {
            "bname": as_string,
            "currIdMap": lambda queues: None if is_no_collection(queues) else integers_by_integer(queues),
            "dirty": as_boolean,
            "epoch": as_int64,
            "scope": as_string,
            "topic": as_string,
            "totalQueues": as_int32,
        },
    )
    return TopicQueueMappingInfo(
        topic=found.get("topic"),
        bname=found.get("bname"),
        total_queues=found.get("totalQueues") or 0,
        epoch=found.get("epoch") or 0,
        dirty=found.get("dirty") or False,
        scope=found.get("scope", "__global__"),
        curr_id_map=found.get("currIdMap", {}),
    )
