"""Filters by SQL92, chosen so that some messages of `choices.SAID` pass and others do not."""

from __future__ import annotations

from typing import Literal

from harness.engine.broker.program_state import ProgramState
from harness.engine.nameserver.strategies.pick import Pick
from harness.program.broker.filters import (
    Alone,
    Between,
    Both,
    Compare,
    Either,
    Filter,
    HasText,
    Missing,
    Not,
    OneOf,
    Pair,
    Sign,
    Unreadable,
)

_NAMES = ("a", "b")
_SIGNS: tuple[Sign, ...] = ("=", "<>", ">", "<", ">=", "<=")
_NUMBERS = (1, 5, 2.5, -3, 10, 2147483648)
_TEXTS = ("5", "Grün", "x", "grün", "it's")
UNREADABLE = ("a = = 1", "a > 'x'", "a IN (1)", "a = 1 OR", "5", "a BETWEEN 5 AND 1", "a = NULL")
_DEPTH = 2


def any_filter(pick: Pick, state: ProgramState, depth: int = _DEPTH) -> Filter:
    """A filter that can be compiled."""
    how = pick.below(6) if depth else 0
    if how < 3:
        return _simple(pick, state)
    if how == 3:
        return Not(any_filter(pick, state, depth - 1))
    kind = Both if how == 4 else Either
    return kind(any_filter(pick, state, depth - 1), any_filter(pick, state, depth - 1))


def odd_filter(pick: Pick, state: ProgramState) -> Filter:
    """Any filter, rarely one that cannot be compiled."""
    return Unreadable(pick.one(UNREADABLE)) if pick.once_in(8) else any_filter(pick, state)


def _simple(pick: Pick, state: ProgramState) -> Filter:
    name, denied = pick.one(_NAMES), pick.once_in(3)
    how = pick.below(9 if state.has("text-filters") else 8)
    if how == 0:
        return Compare(name, pick.one(_SIGNS), pick.one(_NUMBERS))
    if how == 1:
        return Compare(name, pick.one(_SIGNS[:2]), pick.one(_TEXTS))
    if how == 2:
        return Missing(name, denied)
    if how == 3:
        low = pick.one((1, -3, 5))
        return Between(name, low, low + pick.one((4, 0, 5)), denied)
    if how == 4:
        return OneOf(name, pick.one((("1", "5"), ("Grün",), ("x", "1", "true"))), denied)
    if how == 5:
        return Pair("a", pick.one(_SIGNS), "b")
    if how == 6:
        return Compare(name, pick.one(_SIGNS[:2]), pick.below(2) == 0)
    if how == 7:
        return Alone(name)
    words: tuple[Literal["CONTAINS", "STARTSWITH", "ENDSWITH"], ...] = ("CONTAINS", "STARTSWITH", "ENDSWITH")
    return HasText(name, pick.one(words), pick.one(("r", "G", "5", "n")), denied)
