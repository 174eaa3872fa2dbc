"""From a damaged step to bytes.

- Pure: equal steps, names and opaques give equal bytes.
- Damages are carried out from the inside out, whatever their order: the members of the header, the body, the
  bytes of the header, the lengths, the bytes of the frame. Those of one kind keep their order.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TypeVar

import msgspec

from harness.program.damages import (
    AnyDamage,
    Bits,
    Body,
    Bomb,
    Bytes,
    Cut,
    Deep,
    Entry,
    HeaderText,
    Length,
    Many,
    Member,
    Number,
    Raw,
)
from harness.program.frames import frame_of
from harness.program.names import Names
from harness.program.nameserver.steps import Damaged
from harness.wire import RawFrame, Serialization, decode

_NUMBERS = {"code": (0, 2), "language": (2, 1), "version": (3, 2), "opaque": (5, 4), "flag": (9, 4)}
"""Offset and size in a binary header."""

_Item = TypeVar("_Item")


class _Parts:
    """A frame that comes apart. Names and values of `members` and `ext` are bytes as they are written."""

    def __init__(self, frame: bytes) -> None:
        self.type = frame[4]
        self.is_json = self.type == Serialization.JSON
        end = 8 + int.from_bytes(frame[5:8], "big")
        self.body = frame[end:]
        self.members: list[tuple[bytes, bytes]] = []
        self.ext: list[tuple[bytes, bytes]] = []
        self.has_ext = True
        self.fixed = bytearray(frame[8:21])
        if self.is_json:
            raw: dict[str, msgspec.Raw] = msgspec.json.decode(frame[8:end], type=dict[str, msgspec.Raw])
            ext = raw.get("extFields")
            self.members = [(name.encode(), bytes(value)) for name, value in raw.items()]
            entries = {} if ext is None else msgspec.json.decode(ext, type=dict[str, msgspec.Raw])
            self.has_ext = ext is not None
            self.ext = [(key.encode(), bytes(value)) for key, value in entries.items()]
        else:
            command = decode(frame)
            self.ext = [(key.encode(), (text or "").encode()) for key, text in (command.ext or {}).items()]

    def set_ext(self, value: bytes | None) -> None:
        """Puts the written ext fields among the members of a JSON header."""
        names = [name for name, _ in self.members]
        if b"extFields" in names:
            self.members[names.index(b"extFields")] = (b"extFields", value or b"{}")
        elif value is not None:
            self.members.insert(0, (b"extFields", value))

    def header(self, lengths: list[Length]) -> bytes:
        """The header as it is written; `lengths` are those within a binary one."""
        if self.is_json:
            if self.has_ext or self.ext:
                self.set_ext(_object(self.ext))
            return _object(self.members)

        def size(of: str, right: int, octets: int) -> bytes:
            for length in lengths:
                if length.of == of:
                    right = length.value if length.absolute else right + length.value
            return (right % (1 << 8 * octets)).to_bytes(octets, "big")

        entries = bytearray()
        for at, (key, value) in enumerate(self.ext):
            key_size = size("key", len(key), 2) if at == 0 else (len(key) & 0xFFFF).to_bytes(2, "big")
            value_size = size("value", len(value), 4) if at == 0 else len(value).to_bytes(4, "big")
            entries += key_size + key + value_size + value
        return bytes(self.fixed) + size("remark", 0, 4) + size("ext", len(entries), 4) + bytes(entries)


def segment_of(step: Damaged, names: Names, opaques: Iterator[int], announces: int) -> bytes:
    """All that the step sends: what goes before, the damaged frame, what goes behind. Takes an opaque for
    each, in this order.
    """
    before = b"".join(frame_of(one, names, next(opaques), announces) for one in step.before)
    frame = damaged_frame(step, names, next(opaques), announces)
    return before + frame + b"".join(frame_of(one, names, next(opaques), announces) for one in step.after)


def damaged_frame(step: Damaged, names: Names, opaque: int, announces: int) -> bytes:
    """The bytes of a damaged frame alone."""
    return damaged(frame_of(step.base, names, opaque, announces), step.damages)


def damaged(frame: bytes, damages: tuple[AnyDamage, ...]) -> bytes:
    """What damages make of the bytes of a frame, which is whole."""
    if raw := _of(Raw, damages):
        return _latin(raw[-1].data)
    parts = _Parts(frame)
    for damage in damages:
        _in_members(damage, parts)
    for damage in damages:
        _in_body(damage, parts)
    lengths = _of(Length, damages)
    header = parts.header(lengths)
    for text in _of(HeaderText, damages):
        header = _exchanged(header, text.at, text.remove, text.insert)
    frame = _with_lengths(header, parts, lengths)
    for damage in damages:
        frame = _in_bytes(damage, frame)
    return frame


def _with_lengths(header: bytes, parts: _Parts, lengths: list[Length]) -> bytes:
    frame_length, header_length, kind = 4 + len(header) + len(parts.body), len(header), parts.type
    for length in lengths:
        match length.of:
            case "frame":
                frame_length = length.value if length.absolute else frame_length + length.value
            case "header":
                header_length = length.value if length.absolute else header_length + length.value
            case "type":
                kind = length.value if length.absolute else kind + length.value
    return RawFrame(header, parts.body, kind, frame_length, header_length).encode()


def _in_members(damage: AnyDamage, parts: _Parts) -> None:
    match damage:
        case Number():
            if parts.is_json:
                parts.members = _put(parts.members, damage.name.encode(), b"%d" % damage.value, "set")
            else:
                at, size = _NUMBERS[damage.name]
                parts.fixed[at : at + size] = (damage.value % (1 << 8 * size)).to_bytes(size, "big")
        case Member() if parts.is_json:
            if damage.name == "extFields":
                parts.has_ext, parts.ext = False, []
            parts.members = _put(parts.members, _utf8(damage.name), _latin(damage.value), damage.how)
        case Entry():
            text = _latin(damage.value)
            if parts.is_json and not damage.json:
                text = msgspec.json.encode(damage.value)
            parts.ext = _put(parts.ext, _utf8(damage.key), text, damage.how)
        case Many():
            quote = b'"%d"' if parts.is_json else b"%d"
            parts.ext += [(b"many%d" % number, quote % number) for number in range(damage.count)]
        case Deep(where="member") if parts.is_json:
            parts.members = _put(parts.members, b"deep", _nested(damage), "last")
        case Deep(where="ext") if parts.is_json:
            parts.ext = _put(parts.ext, b"deep", _nested(damage), "last")


def _in_body(damage: AnyDamage, parts: _Parts) -> None:
    match damage:
        case Body():
            parts.body = _exchanged(parts.body, damage.at, damage.remove, damage.insert)
        case Bomb():
            size = damage.kib * 1024
            parts.body = zlib.compress(size.to_bytes(4, "big") + bytes(size), 1)
        case Deep(where="body"):
            parts.body = b'{"deep":%b}' % _nested(damage)


def _in_bytes(damage: AnyDamage, frame: bytes) -> bytes:
    match damage:
        case Bytes():
            return _exchanged(frame, damage.at, damage.remove, damage.insert)
        case Bits() if frame:
            at = damage.at % len(frame)
            return frame[:at] + bytes([frame[at] ^ damage.mask & 0xFF]) + frame[at + 1 :]
        case Cut():
            return frame[: damage.keep]
    return frame


def _of(kind: type[_Item], damages: tuple[AnyDamage, ...]) -> list[_Item]:
    return [damage for damage in damages if isinstance(damage, kind)]


def _put(items: list[tuple[bytes, bytes]], name: bytes, value: bytes, how: str) -> list[tuple[bytes, bytes]]:
    match how:
        case "first":
            return [(name, value), *items]
        case "last":
            return [*items, (name, value)]
        case "remove":
            return [item for item in items if item[0] != name]
    if all(item[0] != name for item in items):
        return [*items, (name, value)]
    return [(name, value) if item[0] == name else item for item in items]


def _object(members: list[tuple[bytes, bytes]]) -> bytes:
    return b"{%b}" % b",".join(
        msgspec.json.encode(name.decode("utf-8", "replace")) + b":" + value for name, value in members
    )


def _nested(damage: Deep) -> bytes:
    first, last = (b'{"a":', b"}") if damage.objects else (b"[", b"]")
    return first * damage.depth + b"0" + last * damage.depth


def _exchanged(data: bytes, at: int, remove: int, insert: str) -> bytes:
    at = max(0, min(len(data), at if at >= 0 else len(data) + at))
    return data[:at] + _latin(insert) + data[at + max(0, remove) :]


def _latin(text: str) -> bytes:
    return text.encode("latin-1", "replace")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
