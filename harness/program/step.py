"""What every step is, and the steps that are about connections, time and restarts: whatever the server is.

As in `steps`. Whose first part it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, NamedTuple

import msgspec

_LONG = 60
"""More protocol seconds than these are `long-time`."""


class Carried(NamedTuple):
    """Where the value of an ext field comes from: a field of the step, which is None where it is left out."""

    field: str
    kind: Literal["name", "address", "plain"]
    """What is made of it: the name or the address of a symbol, or its text."""


def name(field: str) -> Carried:
    """The name of the symbol that a field of the step holds."""
    return Carried(field, "name")


def address(field: str) -> Carried:
    """The address of the symbol that a field of the step holds."""
    return Carried(field, "address")


def plain(field: str) -> Carried:
    """What a field of the step holds, as text."""
    return Carried(field, "plain")


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag=True):
    """Something that a program does."""

    rules: ClassVar[tuple[str, ...]] = ()
    """What mining counts such steps as, where that is not the tag alone."""
    letters: ClassVar[str] = ""
    """One for each rule, in the short form of recorded programs: they are stored, so none is ever changed."""

    @property
    def rule(self) -> str:
        """What mining counts it as."""
        return str(type(self).__struct_config__.tag)


class Request(Step, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="request"):
    """What all requests have."""

    codes: ClassVar[tuple[int, ...]] = ()
    """Request codes that it may have."""
    carries: ClassVar[Mapping[str, Carried | str]] = {}
    """Its ext fields: where their values come from, or what they always are."""

    server: int = 0
    """Which of several servers is asked; each has connections of its own."""
    conn: str = "q"
    binary: bool = False
    """The header in ROCKETMQ serialization."""
    announces: int | None = None
    """``version`` of the header; None is that of the profile's own release."""
    oneway: bool = False
    drop: tuple[str, ...] = ()
    """Ext fields that are left out."""
    cuts: tuple[int, ...] = ()
    """Offsets in the frame at which it is split into segments; negative ones count from its end, and those
    that it does not have are left out."""
    stall: int = 0
    """Protocol seconds that pass at each cut."""
    held: bool = False
    """Kept back, to go out in one segment with the next frame on the connection."""
    twice: bool = False
    """Sent again right behind itself, with the same opaque."""
    broken: int | None = None
    """The number of bytes that are sent (negative: left out) before the connection is reset."""
    awaited: bool = True
    """Whether the answer is there before the next step begins."""

    @property
    def patience(self) -> float:
        """Protocol seconds for which a server may keep the answer back because it was asked to."""
        return 0.0


class Close(Step, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="close"):
    """We close a connection."""

    letters: ClassVar = "F"

    server: int = 0
    conn: str = "q"
    how: Literal["fin", "reset", "half"] = "fin"


class Time(Step, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="time"):
    """Protocol seconds pass. All connections are kept busy but those that are ``idle``."""

    letters: ClassVar = "TL"
    rules: ClassVar = ("time", "long-time")

    seconds: int = 1
    idle: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        return self.rules[self.seconds > _LONG]


class Reconnect(Step, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="reconnect"):
    """A new connection takes over the symbol; the old one stays open as ``old``, until a `Close` names it."""

    letters: ClassVar = "Q"

    server: int = 0
    conn: str = "q"
    old: str = "q-old"


class Restart(Step, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="restart"):
    """The server is ended and started again, where the target can do that."""

    letters: ClassVar = "B"

    server: int = 0
    how: Literal["kill", "term"] = "kill"
