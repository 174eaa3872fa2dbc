"""What is asked and seen of one queue: the actions of its calls.

Values only, hashable; what a call saw is part of it, None where nothing was seen.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec


class Append(msgspec.Struct, frozen=True):
    """10, 310, 320: messages are sent, one or a batch."""

    messages: tuple[str, ...]
    offset: int | None = None
    """Where the first of them is, as was answered."""
    due: float = math.inf
    """When readings must show them at the latest (protocol seconds)."""
    accepted: bool | None = True
    """What was answered; None where nothing was, or nothing that says whether they are there."""


class Shown(msgspec.Struct, frozen=True):
    """11: messages, each with its offset."""

    offset: int
    """The one that was asked for."""
    messages: tuple[tuple[int, str], ...]


class Nothing(msgspec.Struct, frozen=True):
    """11: there is no message at an offset (19), which may even be ``beyond`` the end (21)."""

    offset: int
    beyond: bool = False


class End(msgspec.Struct, frozen=True):
    """30, and what pulls say: the offset of the next message."""

    offset: int


class Restarted(msgspec.Struct, frozen=True):
    """The Broker was ended and started again. What it has is shown again by ``due`` at the latest."""

    due: float


def unanswered(action: Any) -> Any:
    """The same change, of which nothing is known but that it was asked for."""
    if isinstance(action, Append):
        return Append(action.messages, accepted=None)
    return action
