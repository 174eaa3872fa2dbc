"""Statements and profiles as values: what the YAML files say, and nothing computed from them."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from harness.catalogue.roles import Role

Level: TypeAlias = Literal["MUST", "SHOULD", "MAY"]
LEVELS: tuple[Level, ...] = ("MUST", "SHOULD", "MAY")


class Source(msgspec.Struct, frozen=True):
    """A place in Apache's code."""

    tag: str
    path: str
    method: str | None = None

    def __str__(self) -> str:
        """`RouteInfoManager#registerBroker (rocketmq-all-5.3.3)`."""
        name = self.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        methods = f"#{self.method.replace(', ', ', #')}" if self.method else ""
        return f"{name}{methods} ({self.tag})"


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One normative sentence of the catalogue. The JSON Schema says what each member means."""

    id: str
    chapter: str
    level: Level
    profiles: tuple[str, ...]
    text: str
    stimulus: str
    observable: str
    source: tuple[Source, ...]
    roles: tuple[Role, ...] = ("nameserver",)
    observed: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    notes: str | None = None
    untestable: str | None = None


class Profile(msgspec.Struct, frozen=True):
    """A set of statements that apply together, named after a line of Apache's releases."""

    name: str
    title: str
    reference: str
    text: str
    roles: tuple[Role, ...] = ("nameserver",)
