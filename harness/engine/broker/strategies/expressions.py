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
    DeniedName,
    Either,
    Filter,
    HasText,
    Missing,
    Not,
    OneOf,
    Pair,
    Sign,
    Spelled,
    Unreadable,
)

_NAMES = ("a", "b")
_SIGNS: tuple[Sign, ...] = ("=", "<>", ">", "<", ">=", "<=")
_NUMBERS = (1, 5, 2.5, -3, 10, 2147483648)
_TEXTS = ("5", "Grün", "x", "grün", "it's")
UNREADABLE = ("a = = 1", "a > 'x'", "a IN (1)", "a = 1 OR", "5", "a BETWEEN 5 AND 1", "a = NULL")
SPELLINGS: tuple[Literal["small", "comments", "rest"], ...] = ("small", "comments", "rest")
_TRUTHS: tuple[bool | str, ...] = (True, False, "5")
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
    """Any filter, sometimes in another spelling, and rarely one that cannot be compiled."""
    if pick.once_in(8):
        return Unreadable(pick.one(UNREADABLE))
    found = any_filter(pick, state)
    return Spelled(pick.one(SPELLINGS), found) if pick.once_in(5) else found


def _simple(pick: Pick, state: ProgramState) -> Filter:
    name, denied = pick.one(_NAMES), pick.once_in(3)
    how = pick.below(12 if state.has("text-filters") else 11)
    if how in (0, 8, 9, 10):
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
        return Alone(name) if denied else DeniedName(name, pick.one(_TRUTHS))
    words: tuple[Literal["CONTAINS", "STARTSWITH", "ENDSWITH"], ...] = ("CONTAINS", "STARTSWITH", "ENDSWITH")
    return HasText(name, pick.one(words), pick.one(("r", "G", "5", "n")), denied)
