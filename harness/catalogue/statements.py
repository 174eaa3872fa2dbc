"""Statements as values."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from harness.catalogue.roles import CLIENTS_ASK, Role
from harness.catalogue.sources import Source

Level: TypeAlias = Literal["MUST", "SHOULD", "MAY"]
LEVELS: tuple[Level, ...] = ("MUST", "SHOULD", "MAY")

Class: TypeAlias = Literal["essential", "administration", "robustness", "exactness"]
CLASSES: dict[Class, str] = {
    "essential": "producers, consumers and Brokers cannot work without it",
    "administration": "mqadmin, dashboards and those who run a cluster need it",
    "robustness": "what faulty and hostile peers must not bring about",
    "exactness": "what Apache's engines happen to do, and hardly anyone needs",
}
"""Who needs a statement; the most needed first."""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One normative sentence of the catalogue. The JSON Schema says what each member means.

    `roles`: the servers that it is about; none, if it is about clients.
    `class_`: its own, or else that of its chapter. `profiles`: those of its roles from `since` to `until`.
    `file`: where it is written. `heading`: the one above it there; empty in a chapter that has none.
    """

    id: str
    chapter: str
    level: Level
    class_: Class = msgspec.field(name="class", default="essential")
    profiles: tuple[str, ...]
    text: str
    stimulus: str
    observable: str
    source: tuple[Source, ...]
    roles: tuple[Role, ...] = ("nameserver",)
    since: str | None = None
    until: str | None = None
    replaces: tuple[str, ...] = ()
    came: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    notes: str | None = None
    untestable: str | None = None
    file: str = ""
    heading: str = ""

    @property
    def servers(self) -> tuple[Role, ...]:
        """The servers whose release lines it holds for: its roles, or those that clients ask."""
        return self.roles or CLIENTS_ASK
