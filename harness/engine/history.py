"""`--kind history`: programs of peers that act at the same time, and the experiment that does them again.

- A program is played to its end and judged as a whole (`harness.spec.history`): what overlaps can only be
  judged when all of it is known. What it is made of, and how it is judged, is the role's (`histories`).
- Programs stay away from whatever a named quirk of Apache's server is about. The one that time can show all
  the same, an expiry scan of a NameServer that has died of a race (4.x), is reported as that quirk.
- Real overlap needs a server that is asked over sockets. In virtual time requests of several connections are
  sent before any answer is taken, and are carried out in that order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from harness.catalogue import Role as RoleName
from harness.engine.broker.histories import BROKER_HISTORIES
from harness.engine.context import TargetContext
from harness.engine.context_experiment import ContextExperiment
from harness.engine.histories import Histories
from harness.engine.kind import Kind, Program, Seed, Tried, goes_round
from harness.engine.nameserver.histories import NAMESERVER_HISTORIES
from harness.engine.nameserver.quirk_checks import proven
from harness.engine.nameserver.quirks import at_most
from harness.engine.oracle import died
from harness.findings.experiment import Attempt, Ended
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.steps import AnyStep
from harness.session import TargetDied, TooLate
from harness.session.errors import CaseTimeout
from harness.spec import Observation, Violation
from harness.spec.history.judgement import Judgement

HISTORIES: Final[Mapping[RoleName, Histories]] = {
    "nameserver": NAMESERVER_HISTORIES,
    "broker": BROKER_HISTORIES,
}

_PATIENCE = 4.0
"""Waiting seconds within which what happens behind an answer must have happened; twice what cases wait, since
a history makes the server busy.
"""
_VIRTUAL_PATIENCE = 2.0
_UNDECIDED = "a key that the budget did not do for"


def _term(context: TargetContext) -> float:
    capabilities = context.capabilities
    return _VIRTUAL_PATIENCE if capabilities.is_virtual else _PATIENCE * capabilities.warp


class HistoryExperiment(ContextExperiment):
    """Plays programs that are given, on a context, and judges what each key went through."""

    kind = "history"

    def __init__(self, context: TargetContext, words: str) -> None:
        super().__init__(context, words)
        self._histories = HISTORIES[context.role.name]
        self.judged = Counter[str]()
        """Keys that were judged, and those that were not: ``keys``, ``unknown``, ``unjudged``."""

    def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
        """Plays a program to its end and judges it; what a named quirk of the target explains is no
        violation. Raises ``TargetError``.
        """
        attempt, quirk = self.play(program, fresh=fresh, sound=False)
        return attempt if quirk is None else msgspec.structs.replace(attempt, violations=())

    def play(
        self, program: Sequence[AnyStep], *, fresh: bool = False, sound: bool = True
    ) -> tuple[Attempt, str | None]:
        """The same, with the quirk that explains all violations; ``sound`` is that of `InstancePool.take`."""
        names = self.names()
        servers = 1 + max((getattr(step, "server", 0) for step in program), default=0)
        executor, jitters, _ = self._context.executor(
            servers, names, fresh=fresh, sound=sound, case=self.kind
        )
        state = self._context.role.state(self.profile, servers)
        seen: list[Observation] = []
        passing: dict[str, None] = {}
        ended: Ended = "whole"
        violations: tuple[Violation, ...] = ()
        stepped = 0
        try:
            for step in program:
                stepped += 1
                about = self._context.known.about(at_most(step, self._context.capabilities), state)
                passing |= {quirk.id: None for quirk in about if quirk.is_intermittent}
                state.apply(step)
                seen += executor.play(step)
            seen += executor.finish()
        except TargetDied as problem:
            ended, violations = "died", (died(stepped - 1, str(problem)),)
        except (TooLate, CaseTimeout):
            ended = "late"
        except KeyboardInterrupt:
            self._context.leave(executor, state, ended="late", well=False)
            raise
        else:
            violations = self._judged(seen, names, max(jitters)).violations
        quirk = None
        try:
            quirk = proven(executor, servers, passing) if ended == "whole" and violations else None
        except (TooLate, CaseTimeout):
            ended, violations = "late", ()
        if death := self._context.leave(executor, state, ended=ended, well=not violations):
            ended, violations = "died", violations or (died(stepped - 1, death),)
        attempt = Attempt(
            violations=violations,
            trace=executor.trace,
            ended=ended,
            stepped=stepped,
            waited=executor.waited,
            observed=tuple(seen),
            judged=self._histories.judged(seen) if ended == "whole" else {},
        )
        return attempt, quirk

    def _judged(self, seen: Sequence[Observation], names: Names, jitter: float) -> Judgement:
        term = _term(self._context)
        found = self._histories.judge(seen, self.profile, names, jitter=jitter, term=term)
        self.judged["keys"] += found.keys
        self.judged["unknown"] += len(found.unknown)
        self.judged["unjudged"] += len(found.unjudged)
        return found


class HistoryKind(Kind):
    """Programs in which peers meet, against a target."""

    name = "history"

    def __init__(self, context: TargetContext, words: str) -> None:
        super().__init__()
        self.experiment: HistoryExperiment = HistoryExperiment(context, words)
        self._context = context
        self._histories = HISTORIES[context.role.name]
        self._programs = self._histories.programs(context, _term(context))

    @property
    def depends_on(self) -> str:
        return self._programs.depends_on

    def program(self, seed: Seed) -> Program:
        return self._programs.program(chance(self.name, self._context.profile, seed))

    def run(self, seed: Seed) -> Tried:
        program = self.program(seed)
        if goes_round(self.name, seed):
            program = tuple(one for one in program if not self._context.deviations.leaves_out(one))
        goals = self._histories.goals(program)
        before = self.experiment.judged["unknown"]
        self.experiment.seeded.begin(seed)
        attempt, quirk = self.experiment.play(program)
        self.goals.update(goals)
        undecided = self.experiment.judged["unknown"] - before
        if undecided:
            self.goals[_UNDECIDED] += undecided
        return Tried(program=program, attempt=attempt, quirk=quirk, goals=tuple(sorted(goals)))

    def required(self) -> Sequence[str]:
        return self._histories.required(self._context)

    def close(self) -> None:
        self._context.close()
