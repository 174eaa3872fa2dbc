"""What is asked and seen of one broker name: the actions of its calls.

Values only, hashable; what a call saw is part of it, None where nothing was seen.
"""

from __future__ import annotations

from typing import Any

import msgspec

from harness.program.nameserver.steps import Queues

Version = tuple[int, int, int]
"""Counter, timestamp, state version."""
Address = str


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """103."""

    address: Address
    id: int
    topics: tuple[tuple[str, Queues], ...]
    version: Version
    conn: int
    lease: float
    acting: bool | None = None
    ha: bool = True
    accepted: bool | None = None
    """What was answered; None where nothing was."""
    told: tuple[str | None, bool] | None = None
    """The master's address and whether an HA address came with it; None where nothing is known of it."""


class Leave(msgspec.Struct, frozen=True):
    """What 104 asks for."""

    address: Address
    id: int


class Notice(msgspec.Struct, frozen=True):
    """The end of a connection is noticed; by ``until`` its brokers have left."""

    conn: int
    until: float


class Permissions(msgspec.Struct, frozen=True):
    """205, or 327 where ``add``; ``count`` is the number of topics that was answered."""

    add: bool
    count: int | None


class DropTopic(msgspec.Struct, frozen=True):
    """216, for the cluster of the name or for all."""

    topic: str


class GiveTopic(msgspec.Struct, frozen=True):
    """217 for this name alone."""

    topic: str
    queues: Queues


class Refresh(msgspec.Struct, frozen=True):
    """904."""

    address: Address


class Changed(msgspec.Struct, frozen=True):
    """322: whether the version differs from what is stored; None where it was not answered."""

    address: Address
    version: Version
    changed: bool | None


class Stored(msgspec.Struct, frozen=True):
    """322: the version that is stored; None: the address is not live."""

    address: Address
    version: Version | None


class Routed(msgspec.Struct, frozen=True):
    """105: read and write queues and flag of the name, and its addresses; None: it is not in the route."""

    topic: str
    queues: tuple[int, int, int] | None
    addresses: tuple[tuple[int, Address], ...] = ()


class Writable(msgspec.Struct, frozen=True):
    """105: the permission. Queue data are shared, and change while a route is written."""

    topic: str
    perm: int


class Listed(msgspec.Struct, frozen=True):
    """106: who holds an id."""

    id: int
    address: Address | None


class Members(msgspec.Struct, frozen=True):
    """901: all addresses of the name."""

    addresses: tuple[tuple[int, Address], ...]


class Serves(msgspec.Struct, frozen=True):
    """206: whether the name serves a topic that no other name serves."""

    topic: str
    listed: bool


def unanswered(action: Any) -> Any:
    """The same change, of which nothing is known but that it was asked for."""
    match action:
        case Registration():
            return msgspec.structs.replace(action, accepted=None, told=None)
        case Permissions():
            return msgspec.structs.replace(action, count=None)
    return action
