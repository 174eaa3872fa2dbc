"""DataVersion: how a broker says that its topic table changed. Body of QUERY_DATA_VERSION, part of register
bodies.
"""

from __future__ import annotations

from typing import Final

import msgspec

from harness.wire.bodies.json_body import InvalidUtf8, read, without_none
from harness.wire.fastjson import Engine, Node, document
from harness.wire.fastjson.coerce import CoercionError, as_int64, members
from harness.wire.integers import Int64


class DataVersion(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """`counter` and `timestamp` (milliseconds) and, from 5.x on, `state_version`; None means that the member
    is not there.

    A member that is missing is 0 for Apache, except that a missing timestamp is the receiver's current time;
    here it is 0. (`RegisterBody.versioned` is False where the whole data version is missing.)
    """

    counter: Int64 = 0
    timestamp: Int64 = 0
    state_version: Int64 | None = None

    def document(self) -> dict[str, int]:
        """The members, in the order in which they are written."""
        return without_none(
            {"counter": self.counter, "stateVersion": self.state_version, "timestamp": self.timestamp}
        )

    def encode(self) -> bytes:
        """The JSON body. `state_version` None leaves the member out, as 4.9 does."""
        return document(self.document())

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> DataVersion:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast, read_data_version, invalid_utf8, engine)

    @classmethod
    def decode_as(cls, data: bytes, v5: bool, engine: Engine = "fastjson") -> DataVersion:
        """As a server reads it: 4.9 (`v5` False) knows no `stateVersion` and replaces what is no UTF-8."""
        if v5:
            return cls.decode(data, invalid_utf8="refuse", engine=engine)
        version = read(data, _fast, lambda node: read_data_version(node, v5=False), "replace")
        version.state_version = None
        return version


_fast: Final = msgspec.json.Decoder(DataVersion).decode


def read_data_version(node: Node, v5: bool = True) -> DataVersion:
    """The lenient path. 4.9 has no `stateVersion`, and its fastjson 1.2.69 reads no boolean as a `long`."""
    number = as_int64 if v5 else _no_boolean
    known = {"counter": number, "timestamp": number}
    found = members(node, {**known, "stateVersion": number} if v5 else known)
    return DataVersion(
        counter=found.get("counter") or 0,
        timestamp=found.get("timestamp") or 0,
        state_version=found.get("stateVersion"),
    )


def _no_boolean(node: Node) -> int | None:
    if node.kind in ("true", "false"):
        raise CoercionError("a boolean instead of a number", node)
    return as_int64(node)
