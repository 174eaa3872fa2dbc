"""Pages of the tables of topics (21) and groups (201): 5.5 serves them to who asks for a part.

1. A request that says nothing of parts gets the whole table, as do all requests to older releases.
2. A part holds names in the order of their code units, from the given one on. Behind the first part, the
   request says of which version the table was; if it is of another by now, the answer is the first part.

Source: AdminBrokerProcessor#getAllTopicConfig, #getAllSubscriptionGroup,
TopicConfigManager#subTopicConfigTable of rocketmq-all-5.5.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec

from harness.wire import WireError
from harness.wire.bodies import DataVersion
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import RefusedError

from .part import Part

T = TypeVar("T")

MOST: Final = 2000
"""The most entries of a part (`splitMetadataSize`)."""


class Kind(msgspec.Struct, frozen=True):
    """What a table holds, by the names of its fields."""

    first: str
    """Of a request: which entry the part begins with."""
    most: str
    """Of a request: how many entries the asker takes."""
    total: str
    """Of an answer: how many entries the table has."""


TOPICS: Final = Kind("topicSeq", "maxTopicNum", "totalTopicNum")
GROUPS: Final = Kind("groupSeq", "maxGroupNum", "totalGroupNum")


class Pages(Part):
    """Cuts tables into parts."""

    def part_of(self, table: Mapping[str, T], kind: Kind, ext: Ext, version: DataVersion) -> dict[str, T]:
        """The part of a table that a request asks for. Raises RefusedError for one that cannot be."""
        told, most, first = (
            ext.get("dataVersion"),
            fields.int32(ext, kind.most),
            fields.int32(ext, kind.first),
        )
        if not self.profile.v55 or (told is None and most is None and first is None):
            return dict(table)
        if first is None:
            raise RefusedError(f"the custom field <{kind.first}> is null")
        if first and not self.goes_on(told or "", version):
            first = 0
        if first >= len(table):
            return {}
        end = min(first + min(MOST if most is None else most, MOST), len(table))
        if first < 0 or end <= first:
            raise RefusedError(f"{kind.first}={first}, {kind.most}={most}: there is no such part")
        names = sorted(table, key=lambda name: name.encode("utf-16-be"))[first:end]
        return {name: table[name] for name in names}

    def total_of(self, table: Mapping[str, T], kind: Kind) -> dict[str, str | None]:
        """The ext fields of an answer."""
        return {kind.total: str(len(table))} if self.profile.v55 else {}

    def goes_on(self, told: str, version: DataVersion) -> bool:
        """Whether a table is still that of which the asker has a part. Raises RefusedError."""
        if not told.strip():
            return False
        try:
            return DataVersion.decode_as(told.encode(), True, "fastjson2") == version
        except WireError as error:
            raise RefusedError(f"dataVersion cannot be read: {error}") from error
