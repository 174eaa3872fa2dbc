"""`--kind stateful`: programs of the machines, and the experiment that does them again.

Rules of this module: Hypothesis generates and nothing else: no database, no shrinking; one seed, one
sequence of programs, as long as the target answers alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from harness.findings.experiment import Attempt
from harness.machines.machine import known_quirks
from harness.machines.machines import MACHINES
from harness.machines.performance import Performance
from harness.machines.run import Tell, Tried, counted
from harness.machines.stage import Stage
from harness.machines.tally import Need
from harness.program.chance import chance
from harness.program.frames import Names
from harness.program.steps import AnyStep
from harness.targets import TargetError

__all__ = ["StatefulExperiment", "StatefulKind"]


class StatefulExperiment:
    """Plays programs that are given, on a stage. Names are new each time, and decided by ``words``."""

    kind = "stateful"

    def __init__(self, stage: Stage, words: str) -> None:
        self._stage = stage
        self._words = words
        self._quirks = known_quirks(stage)
        self._attempts = 0

    @property
    def target(self) -> str:
        return self._stage.target.uri

    @property
    def profile(self) -> str:
        return self._stage.profile

    def names(self) -> Names:
        """Names that nobody has used: other kinds of one run play on the same servers."""
        self._attempts += 1
        return Names(chance("names", self.kind, self._words, self._attempts))

    def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
        """Plays a program to its end, or to its first violation; one that a named quirk of the target
        explains is none. Raises ``TargetError``.
        """
        servers = 1 + max((getattr(step, "server", 0) for step in program), default=0)
        performance = Performance(
            self._stage,
            self.names(),
            servers=servers,
            fresh=fresh,
            sound=False,
            quirks=self._quirks,
            case=self.kind,
        )
        try:
            for step in program:
                performance.do(step)
        finally:
            performance.leave()
        attempt = performance.attempt()
        if performance.quirk is not None:
            return msgspec.structs.replace(attempt, violations=())
        return attempt


def _first(group: BaseExceptionGroup[TargetError]) -> TargetError:
    one = group.exceptions[0]
    return _first(one) if isinstance(one, BaseExceptionGroup) else one


class StatefulKind:
    """Machines of a profile against a target: ``seed`` decides programs, ``words`` names."""

    name = "stateful"

    def __init__(self, stage: Stage, seed: str, words: str) -> None:
        self.experiment = StatefulExperiment(stage, words)
        self._stage = stage
        self._seed = seed
        self._quirks = known_quirks(stage)
        self._tally = stage.role.tally()
        self._tell: Tell = lambda _: None

    def batch(self, number: int, programs: int, tell: Tell) -> None:
        self._tell = tell
        machine = MACHINES[self._stage.role.name].played(self._stage, self._stage.profile, self)
        words = chance("batch", self._seed, self._stage.profile, number)
        try:
            run_state_machine_as_test(
                seed(words.getrandbits(64))(machine),
                settings=settings(
                    max_examples=programs,
                    stateful_step_count=self._stage.rules,
                    deadline=None,
                    database=None,
                    phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck),
                    verbosity=Verbosity.quiet,
                ),
            )
        except BaseExceptionGroup as group:
            # Hypothesis has tried again what failed, as when a target does not start, and it did not fail.
            unable, _ = group.split(TargetError)
            if unable is None:
                raise
            raise _first(unable) from group

    def reached(self) -> dict[str, int]:
        return counted(self._tally.goals, [goal.id for goal in self._tally.required(self._able())])

    def transitions(self) -> list[tuple[str, str, str, int]]:
        return [(*three, times) for three, times in sorted(self._tally.transitions.items())]

    def take_over(self, goals: dict[str, int], transitions: Sequence[tuple[str, str, str, int]]) -> None:
        self._tally.goals.update(goals)
        self._tally.transitions.update({(kind, old, new): times for kind, old, new, times in transitions})

    def close(self) -> None:
        self._stage.close()

    # --- what the machine asks ------------------------------------------------------------------------------

    def begins(self, servers: int, *, seeks: bool) -> Performance:
        """A performance for the next program of the machine."""
        return Performance(
            self._stage,
            self.experiment.names(),
            servers=servers,
            quirks=self._quirks,
            seeks=seeks,
            tally=self._tally,
            case=self.name,
        )

    def ended(self, performance: Performance) -> None:
        """A program of the machine has been played."""
        self._tell(
            Tried(
                program=tuple(performance.steps),
                attempt=performance.attempt(),
                quirk=performance.quirk,
            )
        )

    def _able(self) -> set[Need]:
        """What target and run can reach."""
        able: set[Need] = set()
        if self._stage.profile != "4.9":
            able.add("five")
        if self._stage.nature.is_ours:
            able.add("restart")
            if self._stage.role.servers > 1:
                able.add("servers")
        if self._stage.waits_once_in < 100:
            able.add("leases")
        return able
