"""Experiments, attempts and findings: what the triage of a failure works with.

Invariants:
- An experiment carries out any program, and any part of one, as often as it is asked to. Names are new each
  time, so that remains of an earlier attempt on a shared server do no harm.
- An attempt is a value: it holds everything that was recorded and judged, and no live object.
- Two failures are the same finding when their `Signature` is the same. It holds no name, number or time that
  depends on the program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import msgspec

from harness.catalogue import messages
from harness.program.frames import code_of
from harness.program.steps import AnyQuestion, AnyStep
from harness.program.traits import kind_of, traits_of
from harness.spec import Observation, Violation
from harness.spec.observation import DEATH, FAILURE_CODE, FROZEN, MISTYPED
from harness.trace import Trace
from harness.wire import ResponseCode

_CODE = re.compile(r"code (-?\d+)")
_OF_ANY_REQUEST = (ResponseCode.SYSTEM_ERROR, ResponseCode.SYSTEM_BUSY)
"""What every request may be answered with when the server fails."""
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
    """What the step is whose outcome shows it: ``route``, ``kv 101``, ``time``."""
    answer: str = ""
    """In what the answer differs first: ``code 29``, ``address missing``; empty where it was not compared."""
    special: tuple[str, ...] = ()
    """The traits of that step in the smallest program: what is known to be needed for it."""


class Rate(msgspec.Struct, frozen=True):
    """``shown`` of ``tried`` attempts."""

    shown: int
    tried: int

    def __str__(self) -> str:
        return f"{self.shown} of {self.tried}"


class Trigger(msgspec.Struct, frozen=True):
    """Steps that bring a failure about: of a kind, with at least these traits."""

    kind: str
    traits: frozenset[str]
    words: str
    """The kind, for people."""
    why: str
    """What comes of it: ``refused``, or the statement that is broken."""

    def is_about(self, step: AnyStep) -> bool:
        """Whether a step is one of them."""
        return kind_of(step) == self.kind and traits_of(step) >= self.traits

    def __str__(self) -> str:
        return " ".join([self.words, *sorted(self.traits)]) + f" ({self.why})"


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
    trigger: Trigger | None = None
    """What brings it about, where that is one step."""
    judged: str = ""
    """The statement that the judge named, where `check` names another."""
    known: str = ""
    """Why it is known, where `--known` or the record of a check names it."""
    exhausted: bool = False
    """Something smaller may show it too: the budget, or the run, was at its end before all was tried."""
    unexplained: bool = False
    """No cases were asked what else fails: the run was at its end."""
    times: int = 1
    """How often the signature was found in the run, and in those that it resumes."""
    directory: str | None = None
    """Where it is written down; None where that is nowhere."""

    @property
    def special(self) -> frozenset[str]:
        """What is needed of the decisive step."""
        return frozenset(self.signature.special)

    @property
    def plain(self) -> Signature:
        """The signature that the judge gives such a failure, whatever is special."""
        statement = self.judged or self.signature.statement
        return msgspec.structs.replace(self.signature, statement=statement, special=())

    def is_shown_by(self, program: Sequence[AnyStep], violation: Violation) -> bool:
        """Whether another program shows it again: a step that has what is special is answered alike, behind
        what brings it about.
        """
        if signature_of(program, violation) != self.plain or not self.special <= special_of(
            program, violation
        ):
            return False
        played = program[: violation.number + 1]
        return self.trigger is None or any(map(self.trigger.is_about, played))


class Explanation(msgspec.Struct, frozen=True):
    """What cases say of a finding."""

    also_fails: tuple[str, ...] = ()
    statement: str = ""
    """The statement that `check` names for it, where that is another."""


Explain = Callable[[Sequence[AnyStep], Violation, Attempt], Explanation]
"""From a program, the violation that it shows and an attempt that shows it."""


class Flaky(msgspec.Struct, kw_only=True, tag="flaky"):
    """Something that was seen and did not show again often enough."""

    signature: Signature
    violation: Violation
    program: tuple[AnyStep, ...]
    confirmed: Rate
    attempts: int = 0
    directory: str | None = None


def signature_of(program: Sequence[AnyStep], violation: Violation) -> Signature:
    """The signature of a violation that ``program`` shows, without what is special."""
    step = None if _is_of_any_step(violation) else decisive_step(program, violation)
    return Signature(
        statement=violation.statement,
        invariant=violation.invariant,
        anomaly=violation.anomaly,
        kind="" if step is None else kind_of(step),
        answer=answer_of(violation),
    )


def _is_of_any_step(violation: Violation) -> bool:
    """Whether which step shows it says nothing: the server is gone, writes all headers so, or gives any
    failure this code.
    """
    if violation.invariant in (DEATH, FROZEN, MISTYPED):
        return True
    return bool(violation.differences) and violation.differences[0].aspect == FAILURE_CODE


def decisive_step(program: Sequence[AnyStep], violation: Violation) -> AnyStep | None:
    """The step whose outcome shows a violation."""
    return program[violation.number] if 0 <= violation.number < len(program) else None


def code_in(text: str) -> int | None:
    """The first code that a side of a difference names: ``code 29 (Request header is invalid)``."""
    found = _CODE.search(text)
    return None if found is None else int(found[1])


def is_about_the_request(step: AnyStep | None, violation: Violation) -> bool:
    """Whether a step is answered with a code that its request gets in no state: no other step is to blame."""
    first = violation.differences[0] if violation.differences else None
    if first is None or first.aspect != "code" or not isinstance(step, AnyQuestion):
        return False
    asked, seen = int(code_of(step)), code_in(first.actual)
    codes = next((one.codes for one in messages().messages if one.code == asked), {})
    return bool(codes) and seen is not None and seen not in (*codes, *_OF_ANY_REQUEST)


def special_of(program: Sequence[AnyStep], violation: Violation) -> frozenset[str]:
    """The traits of the decisive step; none where any step may show it."""
    step = None if _is_of_any_step(violation) else decisive_step(program, violation)
    return frozenset() if step is None else traits_of(step)


def answer_of(violation: Violation) -> str:
    """In what an answer differs first."""
    if not violation.differences:
        return ""
    first = violation.differences[0]
    return (
        first.actual.partition(" (")[0]
        if first.aspect in ("code", FAILURE_CODE)
        else f"{first.aspect} {first.presence}"
    )
