"""`--kind history`: programs of peers that act at the same time, and the experiment that does them again.

- A program is played to its end and judged as a whole (`harness.spec.nameserver.history`): what overlaps can
  only be judged when all of it is known.
- Programs stay away from whatever a named quirk of Apache's server is about. The one that time can show all
  the same, an expiry scan that has died of a race (4.x), is reported as that quirk.
- Real overlap needs a server that is asked over sockets. In virtual time requests of several connections are
  sent before any answer is taken, and are carried out in that order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from harness.engine.context import TargetContext
from harness.engine.context_experiment import ContextExperiment
from harness.engine.kind import Kind, Program, Seed, Tried, goes_round
from harness.engine.nameserver.history_programs import Shape, program_of
from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.quirk_checks import proven
from harness.engine.nameserver.quirks import at_most
from harness.engine.oracle import died
from harness.findings.experiment import Attempt, Ended
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.nameserver.steps import Kv, Register, Unregister
from harness.program.step import Close, Request
from harness.program.steps import AnyStep
from harness.session import TargetDied, TooLate
from harness.session.errors import CaseTimeout
from harness.spec import Observation, Violation
from harness.spec.nameserver.history.judge import Judgement, judge
from harness.spec.nameserver.judged import judged_in_a_history
from harness.targets import Capabilities

_PATIENCE = 4.0
"""Waiting seconds within which what happens behind an answer must have happened; twice what cases wait, since
a history makes the server busy.
"""
_VIRTUAL_PATIENCE = 2.0
_COSTLY = 0.01
"""The share of programs that wait where that costs real time: one wait is as long as thousands of requests.
In half as many leases run out.
"""
_SEVERAL = 0.04
"""The share of programs for two servers, where the second costs something."""
_FAST = 10
"""From this warp on, leases may run out."""

_RIVALS = "rivals register at once"
_BESIDE = "a broker leaves beside a registration of its name"
_WRITERS = "a pair is written twice at once"
_BACK = "a broker closes and is back in the next burst"
_UNDECIDED = "a key that the budget did not do for"
_REQUIRED = (_RIVALS, _BESIDE, _WRITERS, _BACK)


def _term(context: TargetContext) -> float:
    capabilities = context.capabilities
    return _VIRTUAL_PATIENCE if capabilities.is_virtual else _PATIENCE * capabilities.warp


class HistoryExperiment(ContextExperiment):
    """Plays programs that are given, on a context, and judges what each key went through."""

    kind = "history"

    def __init__(self, context: TargetContext, words: str) -> None:
        super().__init__(context, words)
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
        state = ProgramState(self.profile, servers)
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
            judged=judged_in_a_history(seen) if ended == "whole" else {},
        )
        return attempt, quirk

    def _judged(self, seen: Sequence[Observation], names: Names, jitter: float) -> Judgement:
        found = judge(seen, self.profile, names, jitter=jitter, term=_term(self._context))
        self.judged["keys"] += found.keys
        self.judged["unknown"] += len(found.unknown)
        self.judged["unjudged"] += len(found.unjudged)
        return found


def _share_of_leases(target: Capabilities) -> float:
    if target.is_virtual:
        return 0.1
    return _COSTLY / 2 if target.warp >= _FAST else 0.0


class HistoryKind(Kind):
    """Programs in which peers meet, against a target."""

    name = "history"

    def __init__(self, context: TargetContext, words: str) -> None:
        super().__init__()
        self.experiment: HistoryExperiment = HistoryExperiment(context, words)
        self._context = context
        self._shape = Shape(
            profile=context.profile,
            term=_term(context),
            waits=1.0 if context.capabilities.is_virtual else _COSTLY,
            leases=_share_of_leases(context.capabilities),
        )

    @property
    def depends_on(self) -> str:
        shape = self._shape
        servers = 1 + self._context.capabilities.is_ours
        return f"term={shape.term:g} waits={shape.waits:g} leases={shape.leases:g} servers={servers}"

    def program(self, seed: Seed) -> Program:
        source = chance(self.name, self._context.profile, seed)
        capabilities = self._context.capabilities
        several = capabilities.is_ours and source.random() < (0.125 if capabilities.is_virtual else _SEVERAL)
        return program_of(source, msgspec.structs.replace(self._shape, servers=2 if several else 1))

    def run(self, seed: Seed) -> Tried:
        program = self.program(seed)
        if goes_round(self.name, seed):
            program = tuple(one for one in program if not self._context.deviations.leaves_out(one))
        goals = _goals(program)
        before = self.experiment.judged["unknown"]
        self.experiment.seeded.begin(seed)
        attempt, quirk = self.experiment.play(program)
        self.goals.update(goals)
        undecided = self.experiment.judged["unknown"] - before
        if undecided:
            self.goals[_UNDECIDED] += undecided
        return Tried(program=program, attempt=attempt, quirk=quirk, goals=tuple(sorted(goals)))

    def required(self) -> Sequence[str]:
        return _REQUIRED

    def close(self) -> None:
        self._context.close()


def _goals(program: Sequence[AnyStep]) -> set[str]:
    """Which meetings a program has."""
    found: set[str] = set()
    closed: set[str] = set()
    for burst in _bursts(program):
        registered = [step for step in burst if isinstance(step, Register)]
        if any(
            one.address != other.address
            and (one.server, one.broker, one.id) == (other.server, other.broker, other.id)
            for one in registered
            for other in registered
        ):
            found.add(_RIVALS)
        leaving = [step for step in burst if isinstance(step, Unregister)]
        if any((a.server, a.broker) == (b.server, b.broker) for a in registered for b in leaving):
            found.add(_BESIDE)
        written = [
            (step.server, step.topic) for step in burst if isinstance(step, Kv) and step.code in (100, 102)
        ]
        if len(set(written)) < len(written):
            found.add(_WRITERS)
        if any(step.conn in closed for step in registered):
            found.add(_BACK)
        closed = {step.conn for step in burst if isinstance(step, Close)}
    return found


def _bursts(program: Sequence[AnyStep]) -> list[list[AnyStep]]:
    """The steps that are under way together; a close ends what it stands behind."""
    bursts: list[list[AnyStep]] = [[]]
    for step in program:
        bursts[-1].append(step)
        if not isinstance(step, Request) or step.awaited:
            bursts.append([])
    return bursts
