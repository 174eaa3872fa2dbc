"""Roles: which kind of server a statement, a case, a message or a known server is about.

A role is known from the id of a statement (`ns.`, `bk.`) and from the argument of a
case (`ns`, `bk`); a statement about clients (`cl.`) is about no server. Only what holds for every peer of the
protocol (`wire.`) says its roles itself: those of a NameServer, where it says nothing; its case takes `peer`
where it is for several.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Role: TypeAlias = Literal["nameserver", "broker"]
ROLES: tuple[Role, ...] = ("nameserver", "broker")

CLIENTS_ASK: tuple[Role, ...] = ("broker",)
"""A statement about clients holds for the release lines of these servers."""

_BY_PREFIX: Final[dict[str, tuple[Role, ...]]] = {"ns": ("nameserver",), "bk": ("broker",), "cl": ()}


def roles_of(identifier: str, said: tuple[Role, ...]) -> tuple[Role, ...]:
    """The roles of a statement with this id, that says them or not; none, if it is about clients."""
    known = _BY_PREFIX.get(identifier.partition(".")[0])
    return (said or ("nameserver",)) if known is None else known
