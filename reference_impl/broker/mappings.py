"""Mappings of static topics: which queues of Brokers have the messages of a mapped queue.

Source: TopicQueueMappingDetail, LogicQueueMappingItem of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from harness.wire.bodies import TopicQueueMappingInfo
from harness.wire.bodies.json_body import by_integer, integers_by_integer, list_of, not_null, read
from harness.wire.fastjson import Engine, Node
from harness.wire.fastjson.coerce import CoercionError, as_boolean, as_int32, as_int64, as_string, members
from harness.wire.integers import Int32, Int64

_T = TypeVar("_T")


class QueuePart(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """A queue of a Broker in which the messages of a mapped queue are, from `logic_offset` on."""

    bname: str
    gen: Int32 = 0
    queue_id: Int32 = 0
    logic_offset: Int64 = 0
    """-1: not decided."""
    start_offset: Int64 = 0
    end_offset: Int64 = -1
    """Behind its last message; -1: not decided."""
    time_of_start: Int64 = -1
    time_of_end: Int64 = -1

    @property
    def has_end(self) -> bool:
        """Whether it is known where it ends."""
        return self.end_offset > self.start_offset

    def mapped(self, offset: int) -> int:
        """The offset in the mapped queue of an offset in this one."""
        return self.logic_offset + max(offset - self.start_offset, 0)

    def unmapped(self, offset: int) -> int:
        """The offset in this queue of an offset in the mapped one."""
        return self.start_offset + offset - self.logic_offset

    def told(self, offset: int) -> int:
        """The same, not behind the end; -1 where it is not decided yet."""
        if self.logic_offset < 0:
            return -1
        return self.mapped(min(offset, self.end_offset) if self.end_offset >= self.start_offset else offset)

    def greatest(self) -> int:
        """Behind the last mapped offset that is known to be in it."""
        return self.logic_offset + max(self.end_offset - self.start_offset, 0)


class Mapping(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """The mapped queues of a topic that this Broker has or had a part of."""

    topic: str
    bname: str
    epoch: Int64 = 0
    scope: str | None = "__global__"
    """None: it was null."""
    dirty: bool = False
    total_queues: Int32 = 0
    curr_id_map: dict[Int32, Int32] = {}
    hosted_queues: dict[Int32, list[QueuePart]] = {}

    @classmethod
    def decode(cls, data: bytes, *, engine: Engine = "fastjson") -> Mapping:
        """Raises `WireError`."""
        return read(data, msgspec.json.Decoder(cls).decode, _mapping, engine=engine)

    def info(self) -> TopicQueueMappingInfo:
        """What a registration contains of it: the queues that this Broker leads."""
        led = {
            number: parts[-1].queue_id
            for number, parts in self.hosted_queues.items()
            if parts and parts[-1].bname == self.bname
        }
        return TopicQueueMappingInfo(
            self.topic, self.bname, self.total_queues, self.epoch, False, "__global__", led
        )


def _mapping(node: Node) -> Mapping:
    """Any JSON that Apache reads as a mapping. A null is as if it were not there, but for the scope."""
    found = members(
        node,
        {
            "bname": as_string,
            "currIdMap": integers_by_integer,
            "dirty": as_boolean,
            "epoch": as_int64,
            "hostedQueues": lambda queues: by_integer(queues, not_null(list_of(_part))),
            "scope": as_string,
            "topic": as_string,
            "totalQueues": as_int32,
        },
    )
    mapping = _made(Mapping, found, node)
    mapping.scope = found.get("scope", mapping.scope)
    return mapping


def _part(node: Node) -> QueuePart:
    numbers = {"gen": as_int32, "queueId": as_int32}
    longs = ("logicOffset", "startOffset", "endOffset", "timeOfStart", "timeOfEnd")
    found = members(node, {"bname": as_string, **numbers, **dict.fromkeys(longs, as_int64)})
    return _made(QueuePart, found, node)


def _made(kind: type[_T], found: dict[str, object], node: Node) -> _T:
    try:
        return msgspec.convert({name: value for name, value in found.items() if value is not None}, kind)
    except msgspec.ValidationError as error:
        raise CoercionError(str(error), node) from error
