"""Whether a JSON header can be read by a decoder that knows types.

fastjson takes text for a number and a number for text; decoders of C++, Go and Rust that fill a structure do
not. What Java peers write is plain: integers, strings, and an object of strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from harness.wire.codes import Serialization
from harness.wire.integers import INT32_MAX, INT32_MIN, Int32

from .fastjson import VALUES_LIMIT, Node, ParseError, tree

Wanted = Literal["JSON integer", "JSON string"]

_INTEGERS: Final[Sequence[str]] = ("code", "flag", "opaque", "version")
_INDISPENSABLE: Final = ("code", "flag", "opaque")
_STRINGS: Final[Sequence[str]] = ("language", "remark", "serializeTypeCurrentRPC")


class _Plain(msgspec.Struct, gc=False):
    code: Int32
    flag: Int32
    opaque: Int32
    version: Int32 = 0
    language: str = ""
    serializeTypeCurrentRPC: str = ""  # noqa: N815  (its name on the wire)
    remark: str | None = None
    extFields: dict[str, str] | None = None  # noqa: N815


_plain: Final = msgspec.json.Decoder(_Plain).decode


class Mistyped(msgspec.Struct, frozen=True):
    """Members of a header that are not what they must be, all for one reason."""

    wanted: Wanted
    members: tuple[str, ...]
    """Names, as ``opaque`` or ``extFields.changed``."""
    shown: str
    """The first of them as it was written; empty where it is missing."""
    start: int
    """Where that is in the frame; the whole header where it is missing."""
    end: int


def mistyped(frame: bytes) -> Mistyped | None:
    """What a decoder that knows types cannot read in the header of a whole frame: integers first, then
    strings. None for a header that is binary, or that fastjson cannot read either.
    """
    header = _json_header(frame)
    if header is None:
        return None
    try:
        _plain(header)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _found(header, 8)
    return None


def _json_header(frame: bytes) -> bytes | None:
    return frame[8 : 8 + int.from_bytes(frame[5:8], "big")] if frame[4] == Serialization.JSON else None


def _root(header: bytes) -> Node | None:
    try:
        root, _ = tree(header, at_most=VALUES_LIMIT)
    except ParseError:
        return None
    return root if root.kind == "object" else None


def _found(header: bytes, base: int) -> Mistyped | None:
    root = _root(header)
    if root is None:
        return None
    members = {str(name.value): value for name, value in root.members}
    integers = [(name, members[name]) for name in _INTEGERS if name in members]
    if no_integers := [(name, node) for name, node in integers if not _is_int32(node)]:
        return _mistyped("JSON integer", no_integers, header, base)
    if absent := tuple(name for name in _INDISPENSABLE if name not in members):
        return Mistyped("JSON integer", absent, "", base, base + len(header))
    odd = [(name, members[name]) for name in _STRINGS if name in members]
    odd = [(name, node) for name, node in odd if not _is_string(name, node)]
    if "extFields" in members:
        entries = members["extFields"].members
        odd += [(f"extFields.{name.value}", node) for name, node in entries if node.kind != "string"]
    return _mistyped("JSON string", odd, header, base) if odd else None


def _mistyped(wanted: Wanted, odd: Sequence[tuple[str, Node]], header: bytes, base: int) -> Mistyped:
    _, node = odd[0]
    shown = header[node.start : node.end].decode("utf-8", "replace")
    return Mistyped(wanted, tuple(name for name, _ in odd), shown, base + node.start, base + node.end)


def _is_int32(node: Node) -> bool:
    return node.kind == "number" and isinstance(node.value, int) and INT32_MIN <= node.value <= INT32_MAX


def _is_string(name: str, node: Node) -> bool:
    """A remark that is null has a statement of its own."""
    return node.kind == "string" or (name == "remark" and node.kind == "null")
