"""From observations to calls: what the histories of all roles do alike.

- What was not answered may have been carried out at any time after it was sent, or never.
- Where a clock stands still, the numbers of the events that asked and answered tell what came first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import msgspec

from harness.spec.linear import Call, Moment
from harness.spec.observation import Answered, Observation
from harness.wire import Command, WireError

Body = TypeVar("Body")


class Key(msgspec.Struct):
    """What was asked of one key."""

    kind: str
    """What it is: ``broker``, ``queue``, …"""
    name: str
    """By symbols: ``b0``, ``n0/T1``, ``T0, queue 1``."""
    calls: list[Call] = []
    unjudged: str | None = None
    """Why nothing is said about it."""


def began(one: Observation) -> Moment:
    """From when on what was asked may take effect."""
    return (one.invoked, one.asked if one.asked >= 0 else -math.inf)


def ended(one: Observation) -> Moment:
    """By when it has."""
    event = one.outcome.event if isinstance(one.outcome, Answered) else -1
    return (one.returned, event if event >= 0 else math.inf)


def answer_of(one: Observation) -> Command | None:
    """The answer, where there is one."""
    return one.outcome.command if isinstance(one.outcome, Answered) else None


def number_in(answer: Command, *fields: str) -> int | None:
    """The first of the ext fields that is a number."""
    for field in fields:
        value = (answer.ext or {}).get(field)
        if value is not None and value.isdigit():
            return int(value)
    return None


def readable(decode: Callable[[bytes], Body], body: bytes) -> Body | None:
    """A body; None where it cannot be read."""
    try:
        return decode(body)
    except WireError:
        return None
