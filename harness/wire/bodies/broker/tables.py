"""The tables of a Broker: topics, groups, offsets of consumers and of delay levels.

The files below its `config` hold them, and the answers to GET_ALL_TOPIC_CONFIG (21), GET_ALL_CONSUMER_OFFSET
(43), GET_ALL_DELAY_OFFSET (45) and GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201).

- What is None is left out: 4.9 has no data version of offsets and no `forbiddenTable`.
- Offsets have numbers as names, which Apache writes without quotes.

Source: TopicConfigSerializeWrapper, SubscriptionGroupManager, ConsumerOffsetManager and
DelayOffsetSerializeWrapper of rocketmq-all-4.9.8 and rocketmq-all-5.3.3, and files that their Brokers wrote.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from harness.wire.bodies.broker.subscription_group import SubscriptionGroup, read_subscription_group
from harness.wire.bodies.data_version import DataVersion, read_data_version
from harness.wire.bodies.json_body import longs_by_integer, map_of, not_null, read, without_none
from harness.wire.bodies.topic_config import TopicConfig, read_topic_config
from harness.wire.fastjson import Node, dumps
from harness.wire.fastjson.coerce import as_int32, members


class _Table(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    data_version: DataVersion | None = None

    def document(self) -> dict[str, Any]:
        """The members, in the order in which they are written."""
        return {} if self.data_version is None else {"dataVersion": self.data_version.document()}

    def encode(self) -> bytes:
        """The JSON body."""
        return dumps(self.document(), "legacy")


class TopicConfigTable(_Table):
    """Topics by name."""

    topic_config_table: dict[str, TopicConfig] = {}

    def document(self) -> dict[str, Any]:
        topics = {name: topic.document() for name, topic in self.topic_config_table.items()}
        return {**super().document(), "topicConfigTable": topics}

    @classmethod
    def decode(cls, data: bytes) -> TopicConfigTable:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_topics, _read_topics)


class SubscriptionGroupTable(_Table):
    """Groups by name; `forbidden_table` are bits by group and topic (5.x)."""

    subscription_group_table: dict[str, SubscriptionGroup] = {}
    forbidden_table: dict[str, dict[str, int]] | None = None

    def document(self) -> dict[str, Any]:
        groups = {name: group.document() for name, group in self.subscription_group_table.items()}
        return {
            **super().document(),
            **without_none({"forbiddenTable": self.forbidden_table}),
            "subscriptionGroupTable": groups,
        }

    @classmethod
    def decode(cls, data: bytes) -> SubscriptionGroupTable:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_groups, _read_groups)


class ConsumerOffsets(_Table):
    """What each group has consumed: by `topic@group` and queue id, the offset to go on from."""

    offset_table: dict[str, dict[int, int]] = {}

    def document(self) -> dict[str, Any]:
        if self.data_version is None:
            return {"offsetTable": self.offset_table}
        topics: dict[str, list[str]] = {}
        for key in sorted(self.offset_table):
            topic, _, group = key.partition("@")
            topics.setdefault(group, []).append(topic)
        return {**super().document(), "groupTopicMap": topics, "offsetTable": self.offset_table}

    @classmethod
    def decode(cls, data: bytes) -> ConsumerOffsets:
        """`groupTopicMap` is passed over. Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_consumer_offsets, _read_consumer_offsets)


class DelayOffsets(_Table):
    """How far the delayed messages of each level were delivered: offsets by level."""

    offset_table: dict[int, int] = {}

    def document(self) -> dict[str, Any]:
        return {**super().document(), "offsetTable": self.offset_table}

    @classmethod
    def decode(cls, data: bytes) -> DelayOffsets:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_delay_offsets, _read_delay_offsets)


_fast_topics: Final = msgspec.json.Decoder(TopicConfigTable).decode
_fast_groups: Final = msgspec.json.Decoder(SubscriptionGroupTable).decode
_fast_consumer_offsets: Final = msgspec.json.Decoder(ConsumerOffsets).decode
_fast_delay_offsets: Final = msgspec.json.Decoder(DelayOffsets).decode

_topics: Final = map_of(not_null(read_topic_config))
_groups: Final = map_of(not_null(read_subscription_group))
_forbidden: Final = map_of(not_null(map_of(not_null(as_int32))))
_offsets: Final = map_of(longs_by_integer)


def _read_topics(node: Node) -> TopicConfigTable:
    found = members(node, {"dataVersion": read_data_version, "topicConfigTable": _topics})
    return TopicConfigTable(found.get("dataVersion"), found.get("topicConfigTable") or {})


def _read_groups(node: Node) -> SubscriptionGroupTable:
    found = members(
        node,
        {"dataVersion": read_data_version, "subscriptionGroupTable": _groups, "forbiddenTable": _forbidden},
    )
    return SubscriptionGroupTable(
        found.get("dataVersion"), found.get("subscriptionGroupTable") or {}, found.get("forbiddenTable")
    )


def _read_consumer_offsets(node: Node) -> ConsumerOffsets:
    found = members(node, {"dataVersion": read_data_version, "offsetTable": _offsets})
    return ConsumerOffsets(found.get("dataVersion"), found.get("offsetTable") or {})


def _read_delay_offsets(node: Node) -> DelayOffsets:
    found = members(node, {"dataVersion": read_data_version, "offsetTable": longs_by_integer})
    return DelayOffsets(found.get("dataVersion"), found.get("offsetTable") or {})
