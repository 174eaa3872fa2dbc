"""What a run of random programs came to, as one HTML page.

Causes come first; then what a SHOULD allows, what was known, what did not show again, and what was left out
or not reached. No number stands without what it is a part of.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.report.templating import filled

Tone = Literal["pass", "fail", "blocked", "error"]


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One failure, by the program that is left of it."""

    statement: str
    level: str
    text: str
    """The statement's sentence; empty where the catalogue has none."""
    expected: str
    actual: str
    confirmed: str
    """``3 of 3``."""
    steps: tuple[str, ...]
    """Of the program, in words."""
    decisive: int
    """The step that decides, from 1."""
    times: int = 1
    """How often it was met."""
    also_fails: tuple[str, ...] = ()
    cut_short: tuple[str, ...] = ()
    """What there was no time for."""
    known: str = ""
    folder: str = ""
    """Where it lies, below the page; empty where that is nowhere."""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Failures with one explanation."""

    name: str
    examples: tuple[Shown, ...]

    @property
    def times(self) -> int:
        """How often its failures were met."""
        return sum(one.times for one in self.examples)


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What one kind of programs has done."""

    name: str
    programs: int
    steps: int
    reached: int
    """Required goals that programs reached."""
    goals: int
    missed: tuple[str, ...] = ()
    late: int = 0
    """Programs that the machine was too slow for."""
    deaths: int = 0
    quirks: tuple[tuple[str, int], ...] = ()
    """Named quirks, and the programs that ended at them."""


class Fuzzed(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run."""

    conclusion: str
    exit_status: int
    tone: Tone
    """The verdict whose colour the conclusion has."""
    why: str
    target: str
    profile: str
    seed: str
    programs: int
    steps: int
    seconds: float
    suite: str
    causes: tuple[Cause, ...]
    deviating: tuple[Cause, ...]
    known: tuple[Cause, ...]
    flaky: tuple[Shown, ...]
    unconfirmed: tuple[Shown, ...]
    left_out: tuple[str, ...]
    """Kinds of steps that most programs left out, because the target does otherwise there."""
    remarks: tuple[str, ...]
    """Entries of `--known` that are stale, or were not met."""
    parts: tuple[Part, ...]

    @property
    def counts(self) -> list[tuple[int, str, str]]:
        """How many of each, in words, with the verdict whose colour they have."""
        rows = (
            (len(self.causes), "cause", "causes", "fail"),
            (len(self.deviating), "deviation", "deviations", "deviates"),
            (len(self.known), "known cause", "known causes", "xfail"),
            (len(self.flaky) + len(self.unconfirmed), "not confirmed", "not confirmed", "flaky"),
        )
        return [
            (number, one if number == 1 else several, tone)
            for number, one, several, tone in rows
            if number or tone == "fail"
        ]


def html(found: Fuzzed) -> str:
    """The page."""
    return str(filled("report/templates/fuzz.html.j2", run=found))
