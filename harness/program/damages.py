"""Damages: what can be wrong with a frame, as small values.

- Every field has a default; the default is harmless or the plainest damage of its kind.
- A damage that has nothing to do on a frame (an ext field of a frame without any) does nothing.
- Text that stands for bytes is Latin-1: ``\\xff`` is the byte 255.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class _Damage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag=True):
    pass


class Number(_Damage, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag="number"):
    """A number of the header has another value, in either serialization (cut to its bits where binary)."""

    name: Literal["code", "flag", "language", "opaque", "version"] = "version"
    value: int = 0


class Member(_Damage, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag="member"):
    """A member of a JSON header. `value` is JSON text, or anything that is not."""

    name: str = "x"
    value: str = "0"
    how: Literal["set", "first", "last", "remove"] = "set"
    """``first`` and ``last`` put it there, even where it is already."""


class Entry(_Damage, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag="entry"):
    """An ext field, in either serialization."""

    key: str = "x"
    value: str = ""
    json: bool = False
    """`value` is JSON text, not a string, where the header is JSON."""
    how: Literal["set", "first", "last", "remove"] = "set"


class Many(_Damage, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag="many"):
    """The number of additional ext fields."""

    count: int = 1


class Deep(_Damage, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag="deep"):
    """Nested JSON: in a member of the header, an ext field (JSON only), or a member of a JSON body."""

    where: Literal["member", "ext", "body"] = "member"
    depth: int = 1
    objects: bool = False


class Length(_Damage, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag="length"):
    """A length says something else. ``remark`` to ``value`` are those of a binary header (first entry)."""

    of: Literal["frame", "header", "type", "remark", "ext", "key", "value"] = "frame"
    value: int = 0
    absolute: bool = False
    """`value` is the length, and not what is added to it."""


class HeaderText(_Damage, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag="header-text"):
    """Bytes of the header are taken out and others put there; the lengths around it are right."""

    at: int = 0
    """Offset in the header; negative ones count from its end."""
    remove: int = 0
    insert: str = ""


class Body(_Damage, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag="body"):
    """Bytes of the body are taken out and others put there; the lengths around it are right."""

    at: int = 0
    remove: int = 0
    insert: str = ""


class Bomb(_Damage, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag="bomb"):
    """The KiB to which the body inflates, all of it counted by its first length word."""

    kib: int = 1


class Bytes(_Damage, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag="bytes"):
    """Bytes of the whole frame are taken out and others put there; no length is mended."""

    at: int = 0
    remove: int = 0
    insert: str = ""


class Bits(_Damage, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag="bits"):
    """Bits of one byte of the frame are turned."""

    at: int = 0
    mask: int = 1


class Cut(_Damage, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag="cut"):
    """The number of bytes of the frame that are sent; negative: that are left out."""

    keep: int = -1


class Raw(_Damage, frozen=True, kw_only=True, omit_defaults=True, tag_field="is", tag="raw"):
    """Other bytes are sent instead."""

    data: str = "GET / HTTP/1.1\r\n\r\n"


AnyDamage = (
    Number | Member | Entry | Many | Deep | Length | HeaderText | Body | Bomb | Bytes | Bits | Cut | Raw
)
