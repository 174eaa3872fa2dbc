"""Experiments, attempts and findings: what the triage of a failure works with.

Invariants:
- An experiment carries out any program, and any part of one, as often as it is asked to. Names are new each
  time, so that remains of an earlier attempt on a shared server do no harm.
- An attempt is a value: it holds everything that was recorded and judged, and no live object.
- Two failures are the same finding when their `Signature` is the same. It holds no name, number or time that
  depends on the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import msgspec

from harness.program.steps import AnyStep
from harness.spec import Observation, Violation
from harness.trace import Trace

Ended = Literal["whole", "died", "late"]
"""How an attempt ended: all that was to be done was done, or the violations ended it; the target took no
connection any more; this machine was too slow for the clock, and nothing seen counts."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One performance of a program."""

    violations: tuple[Violation, ...]
    """In the order in which they were seen."""
    trace: Trace
    """The whole of it: one header, the events of all servers."""
    ended: Ended = "whole"
    stepped: int
    """How many steps were begun."""
    waited: float = 0.0
    """Real seconds that its steps have asked for: time that passes, stalls, gaps in frames, restarts."""
    observed: tuple[Observation, ...] = ()
    """What the judges were told, where it is kept: step lists say by it what was answered to what."""
    judged: dict[int, frozenset[str]] = {}
    """By step, where it is kept: the statements that its answer was held against and has not broken."""


class Experiment(Protocol):
    """A target, a way of playing programs on it, and judges.

    `kind` is what people call it (``stateful``, ``frames``, ``history``), `target` the URI.
    """

    @property
    def kind(self) -> str: ...

    @property
    def target(self) -> str: ...

    @property
    def profile(self) -> str: ...

    def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
        """Plays a program to its end, or to its first violation; with ``fresh`` on a newly started target,
        where it can be started, else on the one that runs, whatever has failed there before.

        What the target does is in the attempt, never an exception. Raises ``KeyboardInterrupt`` when the user
        ends it, ``TargetError`` where a target does not start.
        """
        ...


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """What kind of failure it is."""

    statement: str
    invariant: str
    anomaly: str | None
    kind: str
    """Tag of the step whose outcome shows it: ``route``, ``time``."""


class Rate(msgspec.Struct, frozen=True):
    """``shown`` of ``tried`` attempts."""

    shown: int
    tried: int

    def __str__(self) -> str:
        return f"{self.shown} of {self.tried}"


class Finding(msgspec.Struct, kw_only=True, tag="finding"):
    """A confirmed failure."""

    signature: Signature
    violation: Violation
    """As the kept program shows it."""
    program: tuple[AnyStep, ...]
    original: tuple[AnyStep, ...]
    """As it was found."""
    confirmed: Rate
    """How often the kept program showed it on fresh targets."""
    attempts: int = 0
    """What it has cost, confirmations included."""
    also_fails: tuple[str, ...] = ()
    """Statements that cases about the same requests have shown to be broken too, the most telling first."""
    exhausted: bool = False
    """Something smaller may show it too: the budget, or the run, was at its end before all was tried."""
    times: int = 1
    """How often the signature was found in the run, and in those that it resumes."""
    directory: str | None = None
    """Where it is written down; None where that is nowhere."""


Explain = Callable[[Sequence[AnyStep], Violation, Attempt], tuple[str, ...]]
"""From a program, the violation that it shows and an attempt that shows it to `Finding.also_fails`."""


class Flaky(msgspec.Struct, kw_only=True, tag="flaky"):
    """Something that was seen and did not show again often enough."""

    signature: Signature
    violation: Violation
    program: tuple[AnyStep, ...]
    confirmed: Rate
    attempts: int = 0
    directory: str | None = None


def signature_of(program: Sequence[AnyStep], violation: Violation) -> Signature:
    """The signature of a violation that ``program`` shows."""
    step = program[violation.number] if 0 <= violation.number < len(program) else None
    return Signature(
        statement=violation.statement,
        invariant=violation.invariant,
        anomaly=violation.anomaly,
        kind="" if step is None else str(type(step).__struct_config__.tag),
    )
