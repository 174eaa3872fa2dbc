"""Counts how often each goal and each transition was reached.

The maker of a `Coverage` passes the goals and the function that names a state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from harness.catalogue import Feature
from harness.program.steps import AnyStep

Need: TypeAlias = Feature | Literal["restart", "servers", "leases"]
"""A feature of the release line; or that a target can be restarted, is several servers, lets a lease end."""


class Goal(msgspec.Struct, frozen=True):
    """Something that should have happened at least once."""

    id: str
    text: str
    on: tuple[type, ...]
    """Kinds of steps that can reach it."""
    reached: Callable[[Any, Any], bool]
    """Of the state of the program and the step."""
    needs: tuple[Need, ...] = ()


class Coverage:
    """How often what was reached. ``state_of(state, step)`` is the state of what a step is about."""

    def __init__(self, goals: Sequence[Goal], state_of: Callable[[Any, AnyStep], str]) -> None:
        self.state_of = state_of
        self.goals: Counter[str] = Counter()
        self.transitions: Counter[tuple[str, str, str]] = Counter()
        """Kind of step, state before, state after."""
        self._all = goals
        self._by_kind: dict[type, list[Goal]] = {}
        for goal in goals:
            for kind in goal.on:
                self._by_kind.setdefault(kind, []).append(goal)

    def begins(self, state: Any, step: AnyStep) -> None:
        """To be called before a step, whose goals are counted."""
        for goal in self._by_kind.get(type(step), ()):
            if goal.reached(state, step):
                self.goals[goal.id] += 1

    def went(self, step: AnyStep, before: str, after: str) -> None:
        """Counts a transition."""
        self.transitions[str(type(step).__struct_config__.tag), before, after] += 1

    def required(self, able: Iterable[Need]) -> list[Goal]:
        """The goals that can be reached where these needs are met."""
        can = set(able)
        return [goal for goal in self._all if can.issuperset(goal.needs)]
