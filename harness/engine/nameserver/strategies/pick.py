"""Chance, and what a maker of steps is.

All chance comes from `Pick`, and so from Hypothesis or from a seed; the first choice is
the plainest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from harness.program.steps import AnyStep

T = TypeVar("T")
Steps: TypeAlias = tuple[AnyStep, ...]


class Pick:
    """Chance. ``draw`` gives a number from 0 to its argument, both included."""

    def __init__(self, draw: Callable[[int], int]) -> None:
        self._draw = draw

    def below(self, end: int) -> int:
        """A number from 0 to ``end`` - 1."""
        return 0 if end <= 1 else self._draw(end - 1)

    def one(self, choices: Sequence[T]) -> T:
        """One of them; the first is the plainest."""
        return choices[self.below(len(choices))]

    def once_in(self, times: int) -> bool:
        """True once in ``times`` draws on average."""
        return self.below(times) == times - 1


Maker: TypeAlias = Callable[[Pick, Any], Steps]
"""Reads chance and the state of a program, whose type is the role's."""
