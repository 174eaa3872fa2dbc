"""From a failure to a finding: confirm, minimise, confirm again, explain, keep.

Invariants:
- A failure is kept before anything else is done, and again whenever more is known. An interrupt loses no more
  than the work of its moment.
- A failure shows when an attempt has a violation of the same signature. A late attempt does not count and is
  repeated.
- Programs are minimised on a target that is used; what is small there must fail on a fresh target too.
- The program that is kept has been confirmed itself, on fresh targets; what has made sure of it there counts.
  Where the smallest one does not hold there, larger ones are tried; the original was confirmed before.
- Only the finding that is kept is explained: each finding pays for one explanation.
- A run that has an end ends there, but for what confirms a failure that came before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from harness.findings.deviations import trigger_of
from harness.findings.experiment import (
    Attempt,
    Experiment,
    Explain,
    Finding,
    Flaky,
    Rate,
    Signature,
    signature_of,
    special_of,
)
from harness.findings.store import FindingStore
from harness.program.shrink import shrunk
from harness.program.steps import AnyStep
from harness.spec import Violation

_LATE = 3
"""How often an attempt is made again that was late."""
_FLAKY = 3
"""A signature that was flaky so often is not confirmed any more."""
_STEPS_BACK = 4
"""How many larger programs are tried where the smallest does not fail on a fresh target."""


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """What a finding may cost, and how sure it must be."""

    now: Callable[[], float]
    """Seconds since some beginning."""
    attempts: int = 400
    """For making it small."""
    seconds: float = 60.0
    """The same; the attempt that is under way is ended."""
    until: float | None = None
    """When the run is to be over, as `now` counts: from then on nothing is made smaller or explained.
    None: whenever it is.
    """
    needed: int = 3
    """Attempts that must show it …"""
    tries: int = 3
    """… of this many fresh ones."""

    @property
    def is_over(self) -> bool:
        """Whether the run is to be over."""
        return self.until is not None and self.now() >= self.until


def triage(
    experiment: Experiment,
    program: Sequence[AnyStep],
    attempt: Attempt,
    store: FindingStore,
    budget: Budget,
    explain: Explain | None = None,
) -> Finding | Flaky:
    """What becomes of an attempt that shows a violation. Without ``explain`` a finding stays unexplained.

    A signature that the store knows costs no attempt. Raises ``ValueError`` for an attempt without violation,
    ``KeyboardInterrupt`` and whatever the experiment raises; what is known by then is on the store.
    """
    if not attempt.violations:
        raise ValueError("an attempt without a violation is nothing to triage")
    steps = tuple(program)
    news = [one for one in attempt.violations if store.known(steps, one) is None]
    if not news:
        known = store.known(steps, attempt.violations[0])
        assert known is not None
        store.again(known)
        return known
    return _Triage(experiment, steps, news[0], attempt, store, budget, explain).run()


class _Triage:
    def __init__(
        self,
        experiment: Experiment,
        program: tuple[AnyStep, ...],
        violation: Violation,
        attempt: Attempt,
        store: FindingStore,
        budget: Budget,
        explain: Explain | None,
    ) -> None:
        self._experiment = experiment
        self._signature: Signature = signature_of(program, violation)
        self._original = program
        self._violation = violation
        self._first = attempt
        self._store = store
        self._budget = budget
        self._explain = explain
        self._attempts = 0
        self._exhausted = True
        self._made_sure: tuple[tuple[AnyStep, ...], Attempt] | None = None
        """What was played last on a fresh target while the program was made small."""
        self._start = 0.0
        """What an attempt on a fresh target takes."""

    def run(self) -> Finding | Flaky:
        """Confirms, makes small, confirms again."""
        seen = Flaky(
            signature=self._signature,
            violation=self._violation,
            program=self._original,
            confirmed=Rate(0, 0),
        )
        if self._store.given_up(self._signature) >= _FLAKY:
            return seen
        self._store.keep("unconfirmed", seen, self._experiment, (self._first,))
        begun = self._original[: self._violation.number + 1] or self._original
        rate, shows = self._confirm(begun, enough=self._budget.needed)
        if not rate.shown and begun != self._original:
            # A step that waits is answered because of a later one, which may be what makes the answer wrong.
            begun = self._original
            rate, shows = self._confirm(begun, enough=self._budget.needed)
        if rate.shown < self._budget.needed:
            seen.confirmed, seen.attempts = rate, self._attempts
            self._store.keep("flaky", seen, self._experiment, (self._first,))
            return seen
        self._keep(begun, rate, shows)
        chain = self._smaller(begun)
        for program in self._to_try(chain):
            smaller_rate, smaller_shows = self._confirm(program, enough=self._budget.tries)
            if smaller_rate.shown >= self._budget.needed:
                return self._explained(self._keep(program, smaller_rate, smaller_shows), smaller_shows)
        return self._explained(self._keep(begun, rate, shows), shows)

    def _keep(self, program: tuple[AnyStep, ...], rate: Rate, shows: Sequence[Attempt]) -> Finding:
        violation = self._violation_in(program, shows[0]) or self._violation
        finding = Finding(
            signature=self._signature,
            violation=violation,
            program=program,
            original=self._original,
            confirmed=rate,
            attempts=self._attempts,
            exhausted=self._exhausted,
        )
        self._store.keep("finding", finding, self._experiment, tuple(shows))
        return finding

    def _explained(self, finding: Finding, shows: Sequence[Attempt]) -> Finding:
        """The finding under its last signature, which names what is special, and the statement that `check`
        names; where there is one of this signature already, that one.
        """
        special = tuple(sorted(special_of(finding.program, finding.violation)))
        signature = msgspec.structs.replace(self._signature, special=special)
        finding.trigger = trigger_of(finding)
        finding.unexplained = self._explain is not None and self._budget.is_over
        if self._explain is not None and not finding.unexplained:
            said = self._explain(finding.program, finding.violation, shows[0])
            finding.also_fails = said.also_fails
            if said.statement and said.statement != signature.statement:
                finding.judged = signature.statement
                signature = msgspec.structs.replace(signature, statement=said.statement)
        if signature != finding.signature:
            self._store.rename(finding, signature)
            before = next((one for one in self._store.findings if one.signature == signature), None)
            if before is not None:
                self._store.again(before)
                return before
        self._store.keep("finding", finding, self._experiment, tuple(shows))
        return finding

    def _confirm(self, program: tuple[AnyStep, ...], *, enough: int) -> tuple[Rate, list[Attempt]]:
        """Attempts on fresh targets, until ``enough`` have shown it or all tries are made."""
        tried: list[Attempt] = []
        shows: list[Attempt] = []
        for _ in range(self._budget.tries):
            attempt = self._sure_of(program) or self._attempt(program, fresh=True)
            if attempt is None:
                continue
            tried.append(attempt)
            if self._violation_in(program, attempt) is not None:
                shows.append(attempt)
            if len(shows) == enough:
                break
        return Rate(len(shows), len(tried)), shows

    def _sure_of(self, program: tuple[AnyStep, ...]) -> Attempt | None:
        """The attempt that has made sure of a program, once."""
        sure, self._made_sure = self._made_sure, None
        return sure[1] if sure is not None and sure[0] == program else None

    def _smaller(self, program: tuple[AnyStep, ...]) -> list[tuple[AnyStep, ...]]:
        """Ever smaller programs that failed, the smallest last."""
        shrinking = _Shrinking(program, self._shows, self._budget, self._start)
        chain = shrinking.run()
        self._exhausted = not shrinking.goes_on()
        return chain

    def _to_try(self, chain: Sequence[tuple[AnyStep, ...]]) -> list[tuple[AnyStep, ...]]:
        """The smallest one, then, if there is time, some that are larger; never the one that is confirmed
        already.
        """
        smaller = chain[:0:-1]
        if self._budget.is_over:
            return list(smaller[:1])
        stride = max(1, len(smaller) // _STEPS_BACK)
        return [*smaller[:1], *smaller[1::stride]][: _STEPS_BACK + 1]

    def _shows(self, program: tuple[AnyStep, ...], fresh: bool) -> bool:
        attempt = self._attempt(program, fresh=fresh)
        if fresh and attempt is not None:
            self._made_sure = program, attempt
        return attempt is not None and self._violation_in(program, attempt) is not None

    def _attempt(self, program: tuple[AnyStep, ...], *, fresh: bool) -> Attempt | None:
        """An attempt that was in time; None where none was."""
        for _ in range(_LATE):
            began = self._budget.now()
            attempt = self._experiment.attempt(program, fresh=fresh)
            self._attempts += 1
            if fresh:
                self._start = self._budget.now() - began
            if attempt.ended != "late":
                return attempt
        return None

    def _violation_in(self, program: tuple[AnyStep, ...], attempt: Attempt) -> Violation | None:
        return next(
            (one for one in attempt.violations if signature_of(program, one) == self._signature), None
        )


class _CarriedOver(Exception):  # noqa: N818  (control flow)
    """What fails on the target that is used does not fail on a fresh one."""


class _Shrinking:
    """Makes a program small that was confirmed. ``shows`` plays one, on a fresh target if asked.

    A fresh target may take seconds to start, so programs are tried on the one that runs, though others have
    failed there. That is looked after: the first, second, fourth, … and last that fails is played on a fresh
    one too; all but the last only if trying has taken as long as a fresh one takes (``start``, so far). Where
    one does not fail there, failures are carried over: what was found since the last that did is thrown away,
    and from then on a target on which something has failed is not used again.
    """

    def __init__(
        self,
        program: tuple[AnyStep, ...],
        shows: Callable[[tuple[AnyStep, ...], bool], bool],
        budget: Budget,
        start: float,
    ) -> None:
        self._chain = [program]
        self._shows = shows
        self._budget = budget
        self._end = budget.now() + budget.seconds
        self._left = budget.attempts
        self._start = start
        self._looked = budget.now()
        """When something was last played on a fresh target."""
        self._sure = 1
        """How many of the chain have failed on fresh targets, or stand before one that has."""
        self._is_carried = False
        self._has_failed = False

    def run(self) -> list[tuple[AnyStep, ...]]:
        """Ever smaller programs that failed, the smallest last."""
        while True:
            try:
                shrunk(self._chain[-1], self._fails, attempts=self._budget.attempts, goes_on=self.goes_on)
                self._make_sure()
                return self._chain
            except _CarriedOver:
                del self._chain[self._sure :]
                self._is_carried = True

    def goes_on(self) -> bool:
        """Whether anything may be tried yet."""
        return self._left > 0 and self._budget.now() < self._end and not self._budget.is_over

    def _fails(self, steps: Sequence[AnyStep]) -> bool:
        self._left -= 1
        candidate = tuple(steps)
        self._has_failed = self._shows(candidate, self._is_carried and self._has_failed)
        if self._has_failed:
            self._chain.append(candidate)
            found = len(self._chain) - 1
            is_due = self._budget.now() - self._looked >= self._start
            if found & (found - 1) == 0 and is_due:
                self._make_sure()
        return self._has_failed

    def _make_sure(self) -> None:
        """Looks whether the smallest fails on a fresh target. Raises ``_CarriedOver``."""
        if self._is_carried or self._sure == len(self._chain):
            return
        self._left -= 1
        began = self._budget.now()
        shows = self._shows(self._chain[-1], True)
        self._looked = self._budget.now()
        self._start = self._looked - began
        if not shows:
            raise _CarriedOver
        self._sure = len(self._chain)
