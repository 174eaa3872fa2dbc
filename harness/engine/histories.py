"""What a role brings to `--kind history`: programs in which clients meet, and how what they saw is judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from harness.engine.context import TargetContext
from harness.program.chance import Chance
from harness.program.names import Names
from harness.program.step import Request
from harness.program.steps import AnyStep
from harness.spec import Observation
from harness.spec.history.judgement import Judgement

COSTLY = 0.01
"""The share of programs that wait where that costs real time: one wait is as long as thousands of requests.
"""


class Meetings(msgspec.Struct, frozen=True, kw_only=True):
    """How programs for a target are made, whatever its role."""

    term: float = 2.0
    """Protocol seconds within which what happens behind an answer must have happened."""
    waits: float = 1.0
    """The share of programs that wait for it."""
    bursts: int = 8
    """The greatest number."""
    width: int = 8
    """The greatest number of steps under way at once."""


class Programs(Protocol):
    """Programs for one target."""

    @property
    def depends_on(self) -> str:
        """What they depend on but seeds."""
        ...

    def program(self, source: Chance) -> tuple[AnyStep, ...]:
        """One of them, decided by ``source``."""
        ...


class Histories(Protocol):
    """The histories of a role."""

    def programs(self, context: TargetContext, term: float) -> Programs:
        """For a target. What happens behind an answer has happened within ``term`` protocol seconds."""
        ...

    def judge(
        self, seen: Sequence[Observation], profile: str, names: Names, *, jitter: float, term: float
    ) -> Judgement:
        """What is wrong about a history."""
        ...

    def judged(self, seen: Iterable[Observation]) -> dict[int, frozenset[str]]:
        """By step: the statements that a history was held against in which something was read by the step."""
        ...

    def goals(self, program: Sequence[AnyStep]) -> set[str]:
        """Which meetings a program has."""
        ...

    def required(self, context: TargetContext) -> Sequence[str]:
        """The goals that a run should reach."""
        ...


def bursts(program: Sequence[AnyStep]) -> list[list[AnyStep]]:
    """The steps that are under way together; a close ends what it stands behind."""
    found: list[list[AnyStep]] = [[]]
    for step in program:
        found[-1].append(step)
        if not isinstance(step, Request) or step.awaited:
            found.append([])
    return found
