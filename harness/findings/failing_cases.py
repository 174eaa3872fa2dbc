"""The statements that a finding breaks, found by cases.

The cases about the requests of a finding's program are run on a fresh target; the statements of those that
fail explain it. A minimised program does nothing that the failure does not need. So a case that does not
send what changes something in the program, or does not restart the server where the program does, explains
nothing, unless it is about the broken statement itself. The less a case does beyond the program, the more it
tells; cases that share no request with the program come last.

Invariants:
- A case runs once on a target, however many findings it may explain.
- Where time is virtual every case has a server of its own, and nothing depends on how fast this machine is.
  Elsewhere cases share a server that no program has used, none of them waits for time to pass, and seconds
  are limited.
- A server that is not ours to start is asked by cases that may share it, and is never restarted.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from harness.catalogue import Role, catalogue, judged_as, known_quirks, requests_of
from harness.conformance.case_run import Setting
from harness.conformance.loading import FIRST, LAST, LoadedCase, cases
from harness.conformance.running import Runner
from harness.findings.exchange import RESTARTED, exchange_facts, is_sent
from harness.findings.experiment import (
    Attempt,
    Explanation,
    code_in,
    decisive_step,
    is_about_the_request,
)
from harness.program.frames import code_of
from harness.program.nameserver.steps import Damaged
from harness.program.step import Restart
from harness.program.steps import AnyQuestion, AnyStep
from harness.program.traits import changes
from harness.report.results import Verdict
from harness.spec import Violation
from harness.spec.observation import FAILURE_CODE
from harness.targets import Target, TargetError
from harness.trace import read_trace

_MOST = 200
"""Cases that are run for one finding, the nearest ones."""
_LEVELS = {"MUST": 0, "SHOULD": 1, "MAY": 2}
_ASKED_BY_ALL = frozenset({105, 106, 206})
"""Requests by which cases look at what came of others."""
_ANSWER = re.compile(r"\b[A-Z][A-Z_]+ \((-?\d+)\)|^reply (-?\d+)\b", re.MULTILINE)
"""The answers that a case names: ``reply SUCCESS (0)``, of a code without a name ``reply 99``."""


class _Failed(msgspec.Struct, frozen=True):
    """A case that has failed."""

    statements: tuple[str, ...]
    level: int
    asked: frozenset[str]
    """`exchange_facts` of what it did until it failed."""
    codes: frozenset[int] = frozenset()
    """The requests that it sent."""
    expected: str = ""
    actual: str = ""
    is_general: bool = False
    """Whether it is about any request."""


class FailingCases:
    """Cases of a target. ``now`` gives waiting seconds, ``seconds`` is the limit for one finding where time
    is not virtual; ``quirks`` is `--quirks`, where it was said.
    """

    def __init__(
        self,
        target: Target,
        profile: str,
        role: Role = "nameserver",
        *,
        now: Callable[[], float],
        seconds: float = 30.0,
        quirks: str = "",
    ) -> None:
        self._target = target
        self._profile = profile
        self._role: Role = role
        self._now = now
        self._seconds = seconds
        self._quirks = quirks
        self._seen: dict[str, _Failed | None] = {}
        self._held: set[str] = set()
        """Statements that a case has proven to hold."""

    def explained(self, program: Sequence[AnyStep], violation: Violation, shown: Attempt) -> Explanation:
        """The statements that the target breaks, the most telling first, and the one that `check` names for
        the violation; ``shown`` is an attempt that shows it.
        """
        step = decisive_step(program, violation)
        about = [step] if step is not None and is_about_the_request(step, violation) else program
        codes, needed = _codes(about), _needed(about)
        nearest = self._about(codes, violation.statement, restarts=RESTARTED in needed)
        self._run([one for one in nearest if one.name not in self._seen])
        asked = exchange_facts(shown.trace)

        def beyond(one: _Failed) -> tuple[bool, bool, bool, int, int, int]:
            is_other, common = violation.statement not in one.statements, len(one.asked & asked)
            return (is_other, one.is_general, not common, len(one.asked - asked), one.level, -common)

        seen = [found for one in nearest if (found := self._seen.get(one.name)) is not None]
        failed = [one for one in seen if needed <= one.asked or violation.statement in one.statements]
        failed.sort(key=beyond)
        also_fails = tuple(dict.fromkeys(statement for one in failed for statement in one.statements))
        return Explanation(also_fails, self._named(failed, step, violation, codes))

    def _named(
        self,
        failed: Sequence[_Failed],
        step: AnyStep | None,
        violation: Violation,
        codes: frozenset[int],
    ) -> str:
        """The statement that `check` names: that of the judge, unless its cases hold and one fails that asks
        nothing but what the program asks, about the request that decides.
        """
        if violation.statement not in self._held:
            return violation.statement
        decides = _codes([] if step is None else [step])
        for one in failed:
            is_near = decides <= one.codes <= codes | _ASKED_BY_ALL and not one.is_general
            if decides and is_near and _is_same_kind(one, violation):
                return one.statements[0]
        return violation.statement

    # --- which cases ----------------------------------------------------------------------------------------

    def _about(self, codes: frozenset[int], broken: str, *, restarts: bool) -> list[LoadedCase]:
        """Cases about these requests that can be run on the target: those in the chapter of the broken
        statement first, then those that may restart the server if the program does, then those whose
        requests are most like these.
        """
        known = catalogue().of(self._role)
        statement = known.statement(broken)
        chapter = "" if statement is None else statement.chapter
        near: list[tuple[bool, bool, float, LoadedCase]] = []
        for one in cases(role=self._role):
            statements = one.statements(known, self._profile)
            if not statements or one.chapter in (*FIRST, *LAST) or not self._can_be_asked(one):
                continue
            asked = frozenset[int]().union(*(requests_of(statement, self._role) for statement in statements))
            common = asked & codes
            if common or not asked:
                is_of_kind = restarts and one.case.own_server
                near.append((one.chapter == chapter, is_of_kind, len(common) / len(asked | codes), one))
        near.sort(key=lambda found: found[:3], reverse=True)
        return [one for *_, one in near[:_MOST]]

    def _can_be_asked(self, one: LoadedCase) -> bool:
        capabilities = self._target.capabilities
        if capabilities.is_virtual:
            return True
        return not one.case.clock and not (one.case.own_server or one.case.setup)

    # --- what becomes of them -------------------------------------------------------------------------------

    def _run(self, wanted: Sequence[LoadedCase]) -> None:
        """Runs cases until the limit; what cannot be run explains nothing."""
        end = self._now() + self._seconds
        left = list(wanted)
        with tempfile.TemporaryDirectory() as traces:
            try:
                while left and (self._target.capabilities.is_virtual or self._now() < end):
                    left = self._run_on_one(left, end, Path(traces))
            except TargetError:
                return

    def _run_on_one(self, wanted: Sequence[LoadedCase], end: float, traces: Path) -> list[LoadedCase]:
        """Runs cases on a new server, as far as one may be used; returns the rest."""
        capabilities = self._target.capabilities
        instance = self._target.start()
        runner = Runner(self._setting(traces), instance, self._target.another)
        try:
            for number, one in enumerate(wanted, 1):
                self._seen[one.name] = self._failure(runner, one, traces)
                if capabilities.is_virtual or runner.dead or self._now() >= end:
                    return list(wanted[number:]) if capabilities.is_ours else []
            return []
        finally:
            runner.close()
            instance.stop()

    def _setting(self, traces: Path) -> Setting:
        known = catalogue().of(self._role)
        quirks = known_quirks(self._role, judged_as(self._quirks, self._target.server))
        uri = self._target.uri
        return Setting(known, self._profile, uri, role=self._role, strict=True, quirks=quirks, out=traces)

    def _failure(self, runner: Runner, one: LoadedCase, traces: Path) -> _Failed | None:
        result = runner.run(one)
        if result.verdict is Verdict.PASS:
            self._held.update(result.statements)
        if result.verdict is not Verdict.FAIL or result.failure is None:
            return None
        path = result.failure.trace
        asked = frozenset[str]() if path is None else exchange_facts(read_trace(traces / path))
        known = catalogue().of(self._role)
        statements = one.statements(known, self._profile)
        return _Failed(
            statements=result.statements,
            level=_LEVELS[result.level],
            asked=asked,
            expected=result.failure.expected,
            actual=result.failure.actual,
            codes=frozenset(int(fact.partition(" ")[0]) for fact in asked if fact.endswith(" is sent")),
            is_general=not any(requests_of(statement, self._role) for statement in statements),
        )


def _is_same_kind(one: _Failed, violation: Violation) -> bool:
    """Whether a case has seen the same code where the same was expected."""
    first = violation.differences[0] if violation.differences else None
    if first is None or first.aspect not in ("code", FAILURE_CODE):
        return False
    expected, actual = code_in(first.expected), code_in(first.actual)
    return expected in _answers(one.expected) and actual in _answers(one.actual)


def _answers(text: str) -> set[int]:
    """The codes of the answers that a side of a failure names; other numbers in it are none."""
    return {int(named or bare) for named, bare in _ANSWER.findall(text)}


def _needed(program: Sequence[AnyStep]) -> frozenset[str]:
    """The facts of an exchange in which everything is changed that the program changes. A damaged frame is no
    request.
    """
    changing = [step for step in program if isinstance(step, AnyQuestion) and changes(step)]
    sent = frozenset(is_sent(code) for code in _codes(changing))
    return sent | ({RESTARTED} if any(isinstance(step, Restart) for step in program) else frozenset())


def _codes(program: Sequence[AnyStep]) -> frozenset[int]:
    """What a program asks for."""
    asked = (step.base if isinstance(step, Damaged) else step for step in program)
    return frozenset(int(code_of(step)) for step in asked if isinstance(step, AnyQuestion))
