"""The two plain tables: topic lists and key-value tables."""

from __future__ import annotations

from typing import Final

import msgspec

from harness.wire.bodies.json_body import InvalidUtf8, read, strings, strings_by_name, without_none
from harness.wire.fastjson import Engine, Node, document
from harness.wire.fastjson.coerce import as_string, members


class TopicList(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The answer to the topic list requests. The list has no order; `broker_addr` is set by 304 only."""

    topic_list: list[str] = []
    broker_addr: str | None = None

    def encode(self) -> bytes:
        """The JSON body."""
        return document(without_none({"brokerAddr": self.broker_addr, "topicList": self.topic_list}))

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> TopicList:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_list, _read_list, invalid_utf8, engine)


class KvTable(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The answer to GET_KVLIST_BY_NAMESPACE, and the order configuration in the answer to REGISTER_BROKER."""

    table: dict[str, str] = {}

    def encode(self) -> bytes:
        """The JSON body."""
        return document({"table": self.table})

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> KvTable:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_table, _read_table, invalid_utf8, engine)


_fast_list: Final = msgspec.json.Decoder(TopicList).decode
_fast_table: Final = msgspec.json.Decoder(KvTable).decode


def _read_list(node: Node) -> TopicList:
    found = members(node, {"topicList": strings, "brokerAddr": as_string})
    return TopicList(topic_list=found.get("topicList") or [], broker_addr=found.get("brokerAddr"))


def _read_table(node: Node) -> KvTable:
    return KvTable(table=members(node, {"table": strings_by_name}).get("table") or {})
