"""Statements as values."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from harness.catalogue.roles import Role
from harness.catalogue.sources import Source

Level: TypeAlias = Literal["MUST", "SHOULD", "MAY"]
LEVELS: tuple[Level, ...] = ("MUST", "SHOULD", "MAY")


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One normative sentence of the catalogue. The JSON Schema says what each member means.

    `profiles`: those of its roles from `since` to `until`. `file`: where it is written.
    """

    id: str
    chapter: str
    level: Level
    profiles: tuple[str, ...]
    text: str
    stimulus: str
    observable: str
    source: tuple[Source, ...]
    roles: tuple[Role, ...] = ("nameserver",)
    since: str | None = None
    until: str | None = None
    came: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    notes: str | None = None
    untestable: str | None = None
    file: str = ""
