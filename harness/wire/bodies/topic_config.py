"""TopicConfig: one topic as a broker announces it, as JSON and as the line of text of the compressed form."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from harness.wire.bodies.json_body import only_list, read, strings_by_name, without_none
from harness.wire.errors import WireError
from harness.wire.fastjson import VALUES_LIMIT, Engine, Node, ParseError, document, tree
from harness.wire.fastjson.coerce import CoercionError, as_boolean, as_enum, as_int32, as_string, members
from harness.wire.integers import Int32
from harness.wire.text import java_text

FILTER_TYPES: Final = ("SINGLE_TAG", "MULTI_TAG")
_NUMBER: Final = re.compile(r"([+-]?)0*(\d{1,10})")

if TYPE_CHECKING:
    _FilterType = str
else:
    _FilterType = Literal["SINGLE_TAG", "MULTI_TAG"]


class TopicConfig(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The defaults are those of a member that is missing.

    `attributes` None leaves the member out (4.9); 5.x always writes it. `topic_filter_type` None is what an
    unknown name becomes. Of all this only the two queue numbers, `perm` and `topic_sys_flag` reach a route.
    """

    topic_name: str | None = None
    read_queue_nums: Int32 = 16
    write_queue_nums: Int32 = 16
    perm: Int32 = 6
    topic_filter_type: _FilterType | None = "SINGLE_TAG"
    topic_sys_flag: Int32 = 0
    order: bool = False
    attributes: dict[str, str] | None = None

    def document(self) -> dict[str, Any]:
        """The members, in the order in which they are written."""
        return without_none(
            {
                "attributes": self.attributes,
                "order": self.order,
                "perm": self.perm,
                "readQueueNums": self.read_queue_nums,
                "topicFilterType": self.topic_filter_type,
                "topicName": self.topic_name,
                "topicSysFlag": self.topic_sys_flag,
                "writeQueueNums": self.write_queue_nums,
            }
        )

    def line(self, v5: bool) -> bytes:
        """The text in a compressed register body: five tokens, and the attributes as a sixth in 5.x."""
        text = (
            f"{_text(self.topic_name)} {self.read_queue_nums} {self.write_queue_nums} {self.perm}"
            f" {_text(self.topic_filter_type)}"
        ).encode()
        return text + b" " + document(self.attributes or {}) if v5 else text

    @classmethod
    def from_line(cls, line: bytes, v5: bool) -> TopicConfig:
        """Reads such a text: exactly five tokens in 4.9, at least five in 5.x; a sixth that is no JSON is
        ignored.

        Raises `WireError` for any other number of tokens, a number that is none, an unknown filter type.
        """
        tokens = java_text(line).split(" ")
        while len(tokens) > 1 and not tokens[-1]:
            tokens.pop()
        if len(tokens) < 5 or (len(tokens) > 5 and not v5):
            raise WireError(f"a topic of {len(tokens)} tokens")
        if tokens[4] not in FILTER_TYPES:
            raise WireError(f"unknown filter type {tokens[4][:40]!r}")
        return cls(
            topic_name=tokens[0],
            read_queue_nums=_int32(tokens[1]),
            write_queue_nums=_int32(tokens[2]),
            perm=_int32(tokens[3]),
            topic_filter_type=tokens[4],
            attributes=_attributes(tokens[5] if len(tokens) > 5 else "") if v5 else None,
        )


class TopicConfigList(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Several topics that an administrator wants (18, 5.x)."""

    topic_config_list: list[TopicConfig]

    def encode(self) -> bytes:
        """The JSON body."""
        return document({"topicConfigList": [topic.document() for topic in self.topic_config_list]})

    @classmethod
    def decode(cls, data: bytes, *, engine: Engine = "fastjson") -> TopicConfigList:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_list, _read_list, "refuse", engine)


_fast_list: Final = msgspec.json.Decoder(TopicConfigList).decode


def _read_list(node: Node) -> TopicConfigList:
    return TopicConfigList(only_list(node, "topicConfigList", read_topic_config))


def _text(value: str | None) -> str:
    return "null" if value is None else value


def _int32(token: str) -> int:
    if token.isdecimal() and len(token) < 10:
        return int(token)
    found = _NUMBER.fullmatch(token)
    if found is None:
        raise WireError(f"{token[:40]!r} is no number")
    value = int(found[1] + found[2])
    if not -(2**31) <= value < 2**31:
        raise WireError(f"{value} is not an int32")
    return value


def _attributes(token: str) -> dict[str, str]:
    if token in ("", "{}"):
        return {}
    try:
        return strings_by_name(tree(token, at_most=VALUES_LIMIT)[0]) or {}
    except (ParseError, CoercionError):
        return {}


def read_topic_config(node: Node, v5: bool = True) -> TopicConfig:
    """The lenient path of the JSON form. 4.9 has no `attributes`: to it, the member is unknown."""
    known: dict[str, Callable[[Node], object]] = {
        "order": as_boolean,
        "perm": as_int32,
        "readQueueNums": as_int32,
        "topicFilterType": lambda value: as_enum(value, FILTER_TYPES),
        "topicName": as_string,
        "topicSysFlag": as_int32,
        "writeQueueNums": as_int32,
    }
    found = members(node, {**known, "attributes": strings_by_name} if v5 else known)
    # What cannot be null keeps its default.
    kept = {name: value for name, value in found.items() if value is not None}
    return TopicConfig(
        topic_name=found.get("topicName"),
        read_queue_nums=kept.get("readQueueNums", 16),
        write_queue_nums=kept.get("writeQueueNums", 16),
        perm=kept.get("perm", 6),
        topic_filter_type=found.get("topicFilterType", "SINGLE_TAG"),
        topic_sys_flag=kept.get("topicSysFlag", 0),
        order=kept.get("order", False),
        attributes=found.get("attributes"),
    )
