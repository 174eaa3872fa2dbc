"""The types of members, read: what `text, ip:port` or `map of int64 to text` means to a program.

A type is written for people, in few words; whatever is derived from it (schemas, tables) takes it from here.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, TypeAlias

import msgspec


class Text(msgspec.Struct, frozen=True):
    """A text. `form`: how it is made up, such as ``ip:port``; else empty."""

    form: str = ""


class Integer(msgspec.Struct, frozen=True):
    """A signed integer. `or_text`: some write its digits as a text."""

    bits: int
    or_text: bool = False

    @property
    def least(self) -> int:
        """The smallest one."""
        return -(1 << (self.bits - 1))

    @property
    def most(self) -> int:
        """The largest one."""
        return (1 << (self.bits - 1)) - 1


class Number(msgspec.Struct, frozen=True):
    """A number that may have a fraction."""


class Boolean(msgspec.Struct, frozen=True):
    """true or false."""


class Words(msgspec.Struct, frozen=True):
    """One of some words, or its place among them, from 0: names and ordinals of an enum of Java."""

    words: tuple[str, ...]


class Named(msgspec.Struct, frozen=True):
    """A body of the catalogue, inside of another."""

    body: str


class ListOf(msgspec.Struct, frozen=True):
    """A list."""

    item: Type


class MapOf(msgspec.Struct, frozen=True):
    """A map. Its names are texts in JSON; `name` says what they stand for."""

    name: Type
    value: Type


class Anything(msgspec.Struct, frozen=True):
    """An object whose members are not described."""


Type: TypeAlias = "Text | Integer | Number | Boolean | Words | Named | ListOf | MapOf | Anything"

_PLAIN: Final[dict[str, Type]] = {
    "text": Text(),
    "int8": Integer(8),
    "int16": Integer(16),
    "int32": Integer(32),
    "int64": Integer(64),
    "double": Number(),
    "boolean": Boolean(),
    "map": Anything(),
}
_TEXTS: Final = ("address", "broker name", "client id", "cluster", "group", "topic")
"""Texts that a type calls by what they name."""
_WORDS: Final = re.compile(r"[A-Z][A-Z_]*(( or |, )[A-Z][A-Z_]*)+")

_OR_TEXT: Final = " or its text"

WRITTEN: Final = (
    f"a type is one of {', '.join(_PLAIN)}, {', '.join(_TEXTS)}, the name of a body, `int… or its text`, "
    "`list of …`, `map of … to …`, WORDS in capitals joined by `or`, and `text, form`"
)
"""What a type may be, for those who have written another."""


def type_of(said: str, bodies: Collection[str]) -> Type:
    """The type that is written so; `bodies` are the names of bodies. Raises ValueError for any other."""
    if said in _PLAIN:
        return _PLAIN[said]
    plain = _PLAIN.get(said.removesuffix(_OR_TEXT))
    if isinstance(plain, Integer):
        return Integer(plain.bits, or_text=True)
    if said in _TEXTS or said.removesuffix("s") in _TEXTS:
        return Text(said if said in _TEXTS else said.removesuffix("s"))
    if said in bodies:
        return Named(said)
    if _WORDS.fullmatch(said):
        return Words(tuple(re.split(" or |, ", said)))
    kind, _, rest = said.partition(" of ")
    if kind == "list":
        return ListOf(type_of(rest, bodies))
    if kind == "map":
        name, _, value = rest.partition(" to ")
        return MapOf(type_of(name, bodies), type_of(value, bodies))
    if said.startswith("text, "):
        return Text(said.removeprefix("text, "))
    raise ValueError(f"no type {said!r}")
