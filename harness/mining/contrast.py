"""What makes a failure likely: steps that precede it, and do not precede others.

Invariants:
- A window is the steps up to one step, at most `WINDOW`. Failing runs give the window of the failing step;
  passing runs the window of a step of the same rule, so that the last step explains nothing.
- Patterns are two or three rules in order, with anything between them. They are ranked by signed G² on one
  half of the seeds. Only the best is tested on the other half, so no correction is needed; it is confirmed if
  its G² there is at least `CONFIRMED`.
- Runs that a confirmed pattern explains are set aside before the next round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from zlib import crc32

import msgspec

from harness.mining.clusters import Failure
from harness.mining.stats.association import signed_g2

WINDOW = 12
CONFIRMED = 10.83
"""Chi-squared with one degree of freedom, at one in a thousand."""
MOST = 1000
"""Limit of windows of failing and of passing runs, both halves together."""
_LEAST = 6
"""Fewer failing runs are not enough."""
_ROUNDS = 8


class Contrast(msgspec.Struct, frozen=True):
    """A pattern, and in how many windows of failing and of passing runs it is: of the half in which it was
    found, and of the half that was held back.
    """

    target: str
    statement: str
    round: int
    letters: str
    found: tuple[int, int, int, int]
    """Failing with it, failing, passing with it, passing."""
    g2: float
    held: tuple[int, int, int, int]
    held_g2: float

    @property
    def confirmed(self) -> bool:
        """Whether the half that was held back agrees."""
        return self.held_g2 >= CONFIRMED


def contrast(failures: Sequence[Failure], passing: Iterable[tuple[str, int]]) -> list[Contrast]:
    """The patterns of the failures of one statement and target, round by round; the last may be one that was
    not confirmed. ``passing`` gives the letters and seeds of passing runs of the target.
    """
    chosen = sorted(failures, key=lambda one: (_chance(one.run_id), one.run_id))[:MOST]
    failing = [_Window(one.played[-WINDOW:], _chance(one.seed) % 2 == 0) for one in chosen if one.played]
    if len(failing) < _LEAST:
        return []
    looks = {window.letters[-1] for window in failing}
    windows = (_window(ops, seed, looks) for ops, seed in sorted(passing, key=_by_chance)[:MOST])
    controls = [window for window in windows if window is not None]
    found: list[Contrast] = []
    for number in range(1, _ROUNDS + 1):
        letters = _best(failing, controls)
        if letters is None:
            break
        here = _counted(letters, failing, controls, lambda one: one.found)
        held = _counted(letters, failing, controls, lambda one: not one.found)
        one = Contrast(
            failures[0].target,
            failures[0].statement,
            number,
            letters,
            here,
            signed_g2(*here),
            held,
            signed_g2(*held),
        )
        found.append(one)
        if not one.confirmed:
            break
        failing = [window for window in failing if letters not in window.patterns]
        if len(failing) < _LEAST:
            break
    return found


class _Window:
    """Letters up to a step, and whether the window is of the half in which patterns are looked for."""

    __slots__ = ("found", "letters", "patterns")

    def __init__(self, letters: str, found: bool) -> None:
        self.letters = letters
        self.found = found
        self.patterns = {"".join(some) for size in (2, 3) for some in combinations(letters, size)}


def _window(ops: str, seed: int, looks: set[str]) -> _Window | None:
    """The window of some step of such a rule; None where the run has none."""
    places = [number for number, letter in enumerate(ops) if letter in looks]
    if not places:
        return None
    # A short window holds fewer patterns, and would make all of them look rare among passing runs.
    whole = [place for place in places if place + 1 >= WINDOW] or places
    end = whole[_chance(seed) // 2 % len(whole)] + 1
    return _Window(ops[max(0, end - WINDOW) : end], _chance(seed) % 2 == 0)


def _best(failing: Sequence[_Window], passing: Sequence[_Window]) -> str | None:
    """The pattern with the greatest G² in the half where patterns are looked for."""
    of_failing = sum(window.found for window in failing)
    of_passing = sum(window.found for window in passing)
    if not of_failing or not of_passing:
        return None
    with_failing = Counter(pattern for window in failing if window.found for pattern in window.patterns)
    with_passing = Counter(pattern for window in passing if window.found for pattern in window.patterns)
    ranked = [
        (-signed_g2(times, of_failing, with_passing[pattern], of_passing), -len(pattern), pattern)
        for pattern, times in with_failing.items()
    ]
    best = min(ranked, default=None)
    return None if best is None or best[0] >= 0 else best[2]


def _counted(
    letters: str,
    failing: Sequence[_Window],
    passing: Sequence[_Window],
    half: Callable[[_Window], bool],
) -> tuple[int, int, int, int]:
    def count(windows: Sequence[_Window]) -> tuple[int, int]:
        chosen = [letters in window.patterns for window in windows if half(window)]
        return sum(chosen), len(chosen)

    return (*count(failing), *count(passing))


def _chance(of: str | int) -> int:
    """A number that looks like chance, and is the same on every machine."""
    return crc32(str(of).encode())


def _by_chance(run: tuple[str, int]) -> tuple[int, int, str]:
    return _chance(run[1]), run[1], run[0]
