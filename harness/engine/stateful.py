"""`--kind stateful`: programs of single steps, and the experiment that repeats them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from harness.catalogue import profile_named
from harness.engine.context import TargetContext
from harness.engine.context_experiment import ContextExperiment
from harness.engine.coverage import Coverage, Need
from harness.engine.generator import Allowance, Bounds, Generator
from harness.engine.kind import Kind, Program, Seed, Tried, goes_round
from harness.engine.nameserver.strategies.pick import Pick
from harness.engine.program_run import ProgramRun
from harness.engine.rules import RULES
from harness.findings.experiment import Attempt
from harness.program.chance import Chance, chance
from harness.program.steps import AnyStep, encode_step


class StatefulExperiment(ContextExperiment):
    """Plays given programs on a context and judges each observation."""

    kind = "stateful"

    def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
        """Plays a program to its end or to its first violation. A violation that a named quirk of the target
        explains is left out. Raises ``TargetError``.
        """
        named = 1 + max((getattr(step, "server", 0) for step in program), default=0)
        servers = max(named, self._context.role.least_servers)
        program_run = ProgramRun(
            self._context,
            self.names(),
            servers=servers,
            fresh=fresh,
            sound=False,
            quirks=self._context.known,
            case=self.kind,
        )
        try:
            for step in program:
                program_run.do(step)
        finally:
            program_run.leave()
        attempt = program_run.attempt()
        if program_run.quirk is not None:
            return msgspec.structs.replace(attempt, violations=())
        return attempt


class StatefulKind(Kind):
    """Programs that the rules of a role make, against a target."""

    name = "stateful"
    plays: ClassVar[type[StatefulExperiment]] = StatefulExperiment

    def __init__(self, context: TargetContext, words: str) -> None:
        super().__init__()
        self.experiment: StatefulExperiment = self.plays(context, words)
        self._context = context
        self._generator = Generator(
            RULES[context.role.rules], Bounds.of(context), profile_named(context.profile)
        )
        self._tally = context.role.tally()
        self._program_run: ProgramRun | None = None

    @property
    def depends_on(self) -> str:
        return str(self._generator.bounds)

    def program(self, seed: Seed) -> Program:
        source, steps = self._source(seed), list[AnyStep]()
        allowance = self._generator.allowance(source)
        expected = self._context.role.state(self._context.profile, allowance.servers)
        for step in self._generator.steps(source, allowance, expected):
            steps.append(step)
            expected.apply(step)
        return (*steps, *self._context.role.look(expected, moment=self._context.settling))

    def probes(self) -> list[Program]:
        """Every rule alone, with the plainest choices."""
        found: dict[str, Program] = {}
        plainest = Pick(lambda _: 0)
        for rule in self._generator.rules:
            state = self._context.role.state(self._context.profile, 1)
            steps = tuple(Allowance(self._generator.bounds, 0, 0, 0).within(rule.make(plainest, state)))
            for step in steps:
                state.apply(step)
            program = (*steps, *self._context.role.look(state, moment=self._context.settling))
            found.setdefault("\n".join(map(encode_step, program)), program)
        return list(found.values())

    def probe(self, program: Program, number: int) -> Tried:
        self.experiment.seeded.begin(f"probe/{number}")
        attempt = self.experiment.attempt(program, fresh=False)
        return Tried(program=program[: attempt.stepped] or program, attempt=attempt)

    def run(self, seed: Seed) -> Tried:
        source = self._source(seed)
        allowance = self._generator.allowance(source)
        self.experiment.seeded.begin(seed)
        self._tally, self._program_run = self._context.role.tally(), None
        program_run = self._program_run = self._begun(self._tally, allowance, seed)
        for step in self._generator.steps(source, allowance, program_run.state):
            program_run.do(step)
            if program_run.is_over:
                break
        else:
            program_run.look_at_everything()
        program_run.leave()
        self.goals.update(self._tally.goals)
        self.moves.update(self._tally.transitions)
        return self._tried(program_run)

    def broken_off(self) -> Tried | None:
        program_run, self._program_run = self._program_run, None
        return None if program_run is None else self._tried(program_run)

    def required(self) -> list[str]:
        return [goal.id for goal in self._context.role.tally().required(self._able())]

    def close(self) -> None:
        self._context.close()

    def _source(self, seed: Seed) -> Chance:
        return chance(self.name, self._context.profile, seed)

    def _begun(self, tally: Coverage, allowance: Allowance, seed: Seed) -> ProgramRun:
        return ProgramRun(
            self._context,
            self.experiment.names(),
            servers=allowance.servers,
            quirks=self._context.known,
            seeks=allowance.seeks,
            goes_round=goes_round(self.name, seed),
            tally=tally,
            case=self.name,
        )

    def _tried(self, program_run: ProgramRun) -> Tried:
        return Tried(
            program=tuple(program_run.steps),
            attempt=program_run.attempt(),
            quirk=program_run.quirk,
            goals=tuple(sorted(self._tally.goals)),
        )

    def _able(self) -> set[Need]:
        """What target and run can reach."""
        able: set[Need] = {*profile_named(self._context.profile).features}
        if self._context.capabilities.is_ours:
            able.add("restart")
            if self._context.role.servers > 1:
                able.add("servers")
        if self._context.waits_once_in < 100:
            able.add("leases")
        return able
