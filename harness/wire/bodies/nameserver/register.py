"""The body of REGISTER_BROKER: as JSON, as a zlib stream, and bare for brokers older than V3_0_11.

- The receiver, not the sender, decides how the body is read: by the ext field `compressed`, by the header
  version and by its own line (`v5`).
- Inflation is bounded by `INFLATED_LIMIT`. Apache's servers inflate without bound; beyond that size we
  refuse.

Sources: `RegisterBrokerBody#encode`, `#decode`, `TopicConfig#encode`, `#decode`, `DefaultRequestProcessor` of
both tags.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Final

import msgspec

from harness.wire.bodies.data_version import DataVersion, read_data_version
from harness.wire.bodies.json_body import InvalidUtf8, NullBodyError, is_null, map_of, read, without_none
from harness.wire.bodies.nameserver.mapping import TopicQueueMappingInfo, read_mapping
from harness.wire.bodies.topic_config import TopicConfig, read_topic_config
from harness.wire.errors import WireError
from harness.wire.fastjson import VALUES_LIMIT, Engine, Node, ParseError, document, dumps, tree
from harness.wire.fastjson.coerce import as_string, members
from harness.wire.text import java_text
from harness.wire.versions import V3_0_11, V5_0_0

INFLATED_LIMIT: Final = 16 * 1024 * 1024
"""The most bytes that a compressed register body may inflate to: what a frame could hold without compression,
and a quarter of a million topics. (Apache has no limit.)"""


_NULL: Final = msgspec.Raw(b"null")


class RegisterBody(msgspec.Struct):
    """What a broker announces.

    `topics` is keyed as sent; the topic that counts is `TopicConfig.topic_name`, not the key.
    `filter_servers` tells three things apart: None (explicit null: leaves what is stored), a list (replaces,
    `[]` clears) and `msgspec.UNSET` (member missing; Apache treats it like `[]`). `topics` or `data_version`
    is None where the body says null. `versioned` False: the body has no data version, and `data_version` is
    not written. The three mapping members are 5.x; None leaves them out.
    """

    topics: dict[str, TopicConfig] | None = msgspec.field(default_factory=dict)
    data_version: DataVersion | None = msgspec.field(default_factory=DataVersion)
    filter_servers: list[str | None] | msgspec.UnsetType | None = msgspec.field(default_factory=list)
    mappings: dict[str, TopicQueueMappingInfo] | None = None
    mapping_data_version: DataVersion | None = None
    mapping_details: dict[str, Any] | None = None
    versioned: bool = True

    def _wrapper(self) -> dict[str, Any]:
        members: dict[str, Any] = {
            "dataVersion": self._version(),
            "mappingDataVersion": None
            if self.mapping_data_version is None
            else self.mapping_data_version.document(),
            "topicConfigTable": _NULL
            if self.topics is None
            else {k: t.document() for k, t in self.topics.items()},
            "topicQueueMappingDetailMap": self.mapping_details,
            "topicQueueMappingInfoMap": None
            if self.mappings is None
            else {name: mapping.document("legacy") for name, mapping in self.mappings.items()},
        }
        return without_none(members)

    def _version(self) -> Any:
        if not self.versioned:
            return None
        return _NULL if self.data_version is None else self.data_version.document()

    def encode(self) -> bytes:
        """The JSON body (legacy dialect: numeric keys of mappings have no quotes, as Apache's brokers write
        it).
        """
        wrapper = b'"topicConfigSerializeWrapper":' + document(self._wrapper(), "legacy")
        if self.filter_servers is msgspec.UNSET:
            return b"{" + wrapper + b"}"
        return b'{"filterServerList":%b,%b}' % (dumps(self.filter_servers), wrapper)

    def encode_bare(self) -> bytes:
        """The body of brokers older than V3_0_11: the table and its version, without filter servers."""
        return document(self._wrapper(), "legacy")

    def encode_compressed(self, v5: bool) -> bytes:
        """The zlib stream (level 9), as brokers of 4.9 (`v5` False) or 5.x write it."""
        return zlib.compress(self.layout(v5), 9)

    def layout(self, v5: bool) -> bytes:
        """What `encode_compressed` compresses."""
        topics = self.topics or {}
        parts = [_sized((self.data_version or DataVersion()).encode()), len(topics).to_bytes(4, "big")]
        parts += [_sized(topic.line(v5)) for topic in topics.values()]
        parts.append(_sized(dumps(None if self.filter_servers is msgspec.UNSET else self.filter_servers)))
        if v5:
            mappings = self.mappings or {}
            parts.append(len(mappings).to_bytes(4, "big"))
            parts += [_sized(mapping.encode()) for mapping in mappings.values()]
        return b"".join(parts)

    @classmethod
    def decode(
        cls,
        body: bytes,
        *,
        compressed: bool = False,
        version: int = V5_0_0,
        v5: bool = True,
        engine: Engine = "fastjson",
    ) -> RegisterBody:
        """Reads a body as a server of 5.x (`v5`) or 4.9 does, whose JSON is read by `engine`.

        `version` is that of the request header. No body at all is an empty table with version 0. Raises
        `WireError` where the server answers with an error, `NullBodyError` where it does because the body is
        JSON null.
        """
        if not body:
            return cls(data_version=DataVersion(state_version=0 if v5 else None))
        invalid_utf8: InvalidUtf8 = "refuse" if v5 else "replace"
        if version < V3_0_11:
            return _trimmed(
                read(body, _decode_bare, lambda node: _read_bare(node, v5), invalid_utf8, engine), v5
            )
        if compressed:
            return _read_layout(_inflated(body), version, v5, engine)
        return _trimmed(
            read(body, _decode_whole, lambda node: _read_whole(node, v5), invalid_utf8, engine), v5
        )


def _sized(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _trimmed(body: RegisterBody, v5: bool) -> RegisterBody:
    """4.9 has no member for what came with 5.x."""
    if not v5:
        body.mappings = body.mapping_details = body.mapping_data_version = None
        for topic in (body.topics or {}).values():
            topic.attributes = None
        if body.data_version is not None:
            body.data_version.state_version = None
    return body


class _Wrapper(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    topic_config_table: dict[str, TopicConfig] | None = {}
    data_version: DataVersion | msgspec.UnsetType | None = msgspec.UNSET
    mapping_data_version: DataVersion | None = None
    topic_queue_mapping_detail_map: dict[str, Any] | None = None
    topic_queue_mapping_info_map: dict[str, TopicQueueMappingInfo] | None = None


class _Whole(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    topic_config_serialize_wrapper: _Wrapper | None = msgspec.field(default_factory=_Wrapper)
    filter_server_list: list[str | None] | msgspec.UnsetType | None = msgspec.UNSET


_fast_whole: Final = msgspec.json.Decoder(_Whole).decode
_fast_bare: Final = msgspec.json.Decoder(_Wrapper).decode


def _decode_whole(data: bytes) -> RegisterBody:
    whole = _fast_whole(data)
    return _from_wrapper(whole.topic_config_serialize_wrapper, whole.filter_server_list)


def _decode_bare(data: bytes) -> RegisterBody:
    return _from_wrapper(_fast_bare(data), None)


def _from_wrapper(
    wrapper: _Wrapper | None, filters: list[str | None] | msgspec.UnsetType | None
) -> RegisterBody:
    if wrapper is None:
        return RegisterBody(topics=None, data_version=None, filter_servers=filters)
    return RegisterBody(
        topics=wrapper.topic_config_table,
        data_version=DataVersion() if wrapper.data_version is msgspec.UNSET else wrapper.data_version,
        versioned=wrapper.data_version is not msgspec.UNSET,
        filter_servers=filters,
        mappings=wrapper.topic_queue_mapping_info_map,
        mapping_data_version=wrapper.mapping_data_version,
        mapping_details=wrapper.topic_queue_mapping_detail_map,
    )


def _read_filters(node: Node) -> list[str | None] | None:
    """One value is a list of one; to fastjson2 only a text is, and any other value is null. An empty text is
    null to fastjson 1, and an empty list to fastjson2.
    """
    if node.engine == "fastjson2":
        if node.kind == "string" and node.value in ("", "null"):
            return []
        return _texts(node) if node.kind in ("array", "string") else None
    return None if node.kind == "null" or node.value == "" else _texts(node)


def _texts(node: Node) -> list[str | None]:
    elements = node.elements if node.kind == "array" else [node]
    return [as_string(element) for element in elements]


def _read_mappings(node: Node) -> dict[str, TopicQueueMappingInfo] | None:
    found = map_of(lambda value: None if is_null(value) else read_mapping(value))(node)
    return (
        None if found is None else {name: mapping for name, mapping in found.items() if mapping is not None}
    )


def _read_wrapper(node: Node, v5: bool) -> _Wrapper | None:
    if is_null(node):
        return None

    def version(value: Node) -> DataVersion | None:
        return None if is_null(value) else read_data_version(value, v5)

    known: dict[str, Callable[[Node], object]] = {
        "dataVersion": version,
        "topicConfigTable": map_of(lambda topic: read_topic_config(topic, v5)),
    }
    if v5:
        known["mappingDataVersion"] = version
        known["topicQueueMappingDetailMap"] = map_of(lambda detail: detail.to_value())
        known["topicQueueMappingInfoMap"] = _read_mappings
    found = members(node, known)
    return _Wrapper(
        topic_config_table=found.get("topicConfigTable", {}),
        data_version=found.get("dataVersion", msgspec.UNSET),
        mapping_data_version=found.get("mappingDataVersion"),
        topic_queue_mapping_detail_map=found.get("topicQueueMappingDetailMap"),
        topic_queue_mapping_info_map=found.get("topicQueueMappingInfoMap"),
    )


def _read_whole(node: Node, v5: bool) -> RegisterBody:
    found = members(
        node,
        {
            "filterServerList": _read_filters,
            "topicConfigSerializeWrapper": lambda wrapper: _read_wrapper(wrapper, v5),
        },
    )
    return _from_wrapper(
        found.get("topicConfigSerializeWrapper", _Wrapper()), found.get("filterServerList", msgspec.UNSET)
    )


def _read_bare(node: Node, v5: bool) -> RegisterBody:
    return _from_wrapper(_read_wrapper(node, v5), None)


def _inflated(body: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(body, INFLATED_LIMIT)
    except zlib.error as error:
        raise WireError(f"the body is no zlib stream: {error}") from error
    if inflater.unconsumed_tail:
        raise WireError(f"the body inflates to more than {INFLATED_LIMIT} bytes")
    return data


class _Layout:
    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def integer(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def take(self, size: int) -> bytes:
        if size < 0:
            raise WireError(f"a length of {size} in the inflated body")
        if len(self.data) - self.at < size:
            raise WireError(f"the inflated body ends {size - len(self.data) + self.at} bytes too early")
        self.at += size
        return self.data[self.at - size : self.at]


def _read_layout(data: bytes, version: int, v5: bool, engine: Engine) -> RegisterBody:
    layout = _Layout(data)
    data_version: DataVersion | None
    try:
        data_version = DataVersion.decode_as(layout.take(layout.integer()), v5, engine)
    except NullBodyError:
        data_version = None
    topics: dict[str, TopicConfig] = {}
    for _ in range(layout.integer()):
        topic = TopicConfig.from_line(layout.take(layout.integer()), v5)
        topics[topic.topic_name or ""] = topic
    filters = _filters(layout.take(layout.integer()), engine)
    mappings: dict[str, TopicQueueMappingInfo] | None = None
    if v5 and version >= V5_0_0:
        mappings = {}
        for _ in range(layout.integer()):
            mapping = _mapping(layout.take(layout.integer()), engine)
            if mapping.topic is None:
                raise WireError("a mapping without a topic")
            mappings[mapping.topic] = mapping
    return RegisterBody(topics=topics, data_version=data_version, filter_servers=filters, mappings=mappings)


def _mapping(data: bytes, engine: Engine) -> TopicQueueMappingInfo:
    try:
        return TopicQueueMappingInfo.decode(data, invalid_utf8="refuse", engine=engine)
    except NullBodyError as error:
        raise WireError("a mapping that is null") from error


def _filters(data: bytes, engine: Engine) -> list[str | None] | None:
    text = java_text(data)
    if not text or (engine == "fastjson" and not text.strip()):
        return None
    try:
        node = tree(text, engine, VALUES_LIMIT)[0]
    except ParseError:
        return []
    if node.kind == "null":
        return None
    kinds = ("array",) if engine == "fastjson" else ("array", "object", "string")
    return _texts(node) if node.kind in kinds and node.value != "" else []
