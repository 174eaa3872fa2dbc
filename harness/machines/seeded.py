"""Runs that one seed decides each: the same machines as those of fuzzing, for campaigns.

Rules of this module:
- A seed, the generator and the profile decide a program, and nothing else does: not what ran before, not in
  which process. Programs of one `generator` are one population: it has a digest of the first few programs, as
  they are where nothing answers, so that a change to makers or rules makes it another one.
- The rules of a machine are carried out as they are, with chance from the seed instead of from Hypothesis,
  whose first example is the plainest and whose choices cost as much as a third of a run. Each program leaves
  some of the rules out (swarm testing), so that programs differ more than their steps do.
- What is fuzzed by frames is a Hypothesis strategy, which is fed bytes of the seed: there the version of
  Hypothesis is part of the generator.
- A program ends at the first step that shows a violation; those of histories are judged whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import hypothesis
import msgspec
from hypothesis import HealthCheck, Phase, Verbosity, given, settings

from harness.catalogue import catalogue
from harness.findings.experiment import Experiment
from harness.machines.concurrent import HistoryKind
from harness.machines.frames.generate import Program, programs
from harness.machines.frames.kind import goals_of
from harness.machines.frames.play import FrameExperiment
from harness.machines.goals import tally
from harness.machines.histories import Shape, program_of
from harness.machines.machine import known_quirks
from harness.machines.nameserver import NameServerMachine
from harness.machines.performance import Performance
from harness.machines.run import Tried
from harness.machines.stage import Stage
from harness.machines.stateful import StatefulExperiment
from harness.machines.strategies import Pick, made
from harness.machines.strategies import restarts as restarts_one
from harness.program.chance import chance
from harness.program.steps import AnyStep, encode_step
from harness.session import ProfileName
from harness.targets import Target

__all__ = ["SEEDED", "Seeded", "Terms"]

_LEFT_OUT = 0.8
"""The greatest share of the rules that a program leaves out."""
_BYTES = 4096
"""Of chance for a program of damaged frames; more where that is too little."""
_IMAGINED = 12
"""So many programs tell one generator from another."""
_LEVELS: dict[str, str] = {}


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What runs are made of, besides their seeds."""

    target: Target
    profile: ProfileName
    words: str
    """Decide the names, together with the seed: on a server that others use they must be nobody else's."""
    deadline: float
    """Real seconds for a run, what it waits for by itself not counted."""
    suite: str = ""
    started: float = 0.0
    """Unix time."""

    def stage(self) -> Stage:
        """A stage of its own; nothing runs on it yet."""
        return Stage(
            self.target, self.profile, suite=self.suite, started=self.started, deadline=self.deadline
        )


class Seeded(Protocol):
    """One kind of runs against one target. What is started for a run is used for those after it."""

    @property
    def generator(self) -> str:
        """What makes the programs: its kind, its number, and what of the target they depend on."""
        ...

    def run(self, seed: int) -> tuple[Tried, Experiment]:
        """Plays the program of a seed; and what can do it again. Raises ``TargetError``."""
        ...

    def begun(self) -> Tried | None:
        """What is known of a run that was broken off, where it can be told. Nothing more is done for it: what
        it left on the target goes with that (`close`).
        """
        ...

    def close(self) -> None:
        """Stops what it has started. May be called more than once."""
        ...


class _Stateful:
    """Programs of the machine of a profile."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._stage = stage = terms.stage()
        self._quirks = known_quirks(stage)
        self._machine = NameServerMachine.played(stage, terms.profile, self)
        self._makers = self._machine.makers()
        if self._machine.restarts:
            self._makers.append(restarts_one)
        self._experiment = self._of(0)
        self._tally = tally()
        self._performance: Performance | None = None
        traits = self._machine
        made_of = _digest([self._imagined(seed) for seed in range(_IMAGINED)])
        self.generator = (
            f"stateful-{made_of} rules={stage.rules} servers={traits.servers} moment={traits.moment} "
            f"moments=1/{traits.moments_once_in} "
            f"waits=1/{traits.waits_once_in} restarts={int(traits.restarts)}/{traits.restarts_once_in} "
            f"quirks={f'1/{traits.seeks_once_in}' if traits.seeks_once_in else 'all'}"
        )

    def run(self, seed: int) -> tuple[Tried, Experiment]:
        source = chance("stateful", self._terms.profile, seed)
        self._experiment, self._tally, self._performance = self._of(seed), tally(), None
        machine = self._machine()
        machine.begin(
            several=source.randrange(4), patience=source.randrange(10_001), seeking=source.randrange(10_001)
        )
        self._play(machine, source.random() * _LEFT_OUT, source.random, source.randrange)
        machine.teardown()
        tried = self._tried()
        assert tried is not None
        return tried, self._experiment

    def _imagined(self, seed: int) -> list[AnyStep]:
        """The program of a seed where nothing is played, nothing left out and no end comes early."""
        source, steps = chance("stateful", self._terms.profile, seed), list[AnyStep]()
        machine = NameServerMachine.played(None, self._terms.profile, _Nobody())()
        machine.begin(several=source.randrange(4), patience=0, seeking=0)
        pick = Pick(lambda most: source.randrange(most + 1))
        for _ in range(self._stage.rules):
            some = made(pick.one(self._makers), pick, machine.picture)
            steps += some
            machine.do(some)
        return steps

    def begun(self) -> Tried | None:
        tried = self._tried()
        self._performance = None
        return tried

    def close(self) -> None:
        self._stage.close()

    def _play(
        self,
        machine: NameServerMachine,
        left_out: float,
        share: Callable[[], float],
        below: Callable[[int], int],
    ) -> None:
        pick = Pick(lambda most: below(most + 1))
        makers = [maker for maker in self._makers if share() >= left_out]
        makers = makers or [pick.one(self._makers)]
        for _ in range(self._stage.rules):
            assert self._performance is not None
            if self._performance.is_over:
                return
            maker = pick.one(makers)
            steps = made(maker, pick, machine.picture)
            if maker is restarts_one:
                machine.restart(steps=steps, rarely=pick.below(4))
            else:
                machine.do(steps)

    def _of(self, seed: int) -> StatefulExperiment:
        return StatefulExperiment(self._stage, f"{self._terms.words}/{seed}")

    def _tried(self) -> Tried | None:
        performance = self._performance
        if performance is None:
            return None
        return Tried(
            program=tuple(performance.steps),
            attempt=performance.attempt(),
            quirk=performance.quirk,
            goals=tuple(sorted(self._tally.goals)),
        )

    # --- what the machine asks ------------------------------------------------------------------------------

    def begins(self, servers: int, *, seeks: bool) -> Performance:
        """The performance of the run."""
        self._performance = Performance(
            self._stage,
            self._experiment.names(),
            servers=servers,
            quirks=self._quirks,
            seeks=seeks,
            tally=self._tally,
        )
        return self._performance

    def ended(self, performance: Performance) -> None:
        """The run has come to its end."""


class _Nobody:
    """Has nothing played."""

    def begins(self, servers: int, *, seeks: bool) -> None:
        return None

    def ended(self, performance: Performance) -> None:
        pass


class _Histories:
    """Programs of peers that act at the same time."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._stage = terms.stage()
        shape = Shape(profile=terms.profile, servers=2, leases=0.5)
        sources = [chance("history", terms.profile, seed) for seed in range(_IMAGINED)]
        made_of = _digest([program_of(source, shape) for source in sources])
        self.generator = f"history-{made_of} {HistoryKind(self._stage, '', '').traits}"

    def run(self, seed: int) -> tuple[Tried, Experiment]:
        kind = HistoryKind(self._stage, str(seed), f"{self._terms.words}/{seed}")
        return kind.one(chance("history", self._terms.profile, seed)), kind.experiment

    def begun(self) -> Tried | None:
        return None

    def close(self) -> None:
        self._stage.close()


class _Frames:
    """Programs of damaged frames."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._experiment = self._of(0)
        self._programs: list[Program] = []

        @settings(
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        @given(programs())
        def made_of_bytes(program: Program) -> None:
            self._programs.append(program)

        test: Any = made_of_bytes
        self._generate: Callable[[bytes], object] = test.hypothesis.fuzz_one_input
        made_of = _digest([self._made(seed) for seed in range(_IMAGINED)])
        self.generator = f"frames-{made_of} hypothesis={hypothesis.__version__}"

    def run(self, seed: int) -> tuple[Tried, Experiment]:
        if self._terms.target.nature.is_virtual:
            self._experiment = self._of(seed)
        program = self._made(seed)
        attempt = self._experiment.attempt(program, fresh=False)
        goals = set(goals_of(self._experiment.reactions))
        return Tried(program=program, attempt=attempt, goals=tuple(sorted(goals))), self._experiment

    def begun(self) -> Tried | None:
        return None

    def close(self) -> None:
        self._experiment.close()

    def _made(self, seed: int) -> Program:
        source, size = chance("frames", self._terms.profile, seed), _BYTES
        self._programs.clear()
        while not self._programs:
            self._generate(source.randbytes(size))
            size *= 2
        return self._programs[0]

    def _of(self, seed: int) -> FrameExperiment:
        return FrameExperiment(
            self._terms.target,
            self._terms.profile,
            levels=_levels(),
            words=f"{self._terms.words}/{seed}",
            suite=self._terms.suite,
            started=self._terms.started,
        )


def _digest(programs: Sequence[Sequence[AnyStep]]) -> str:
    said = "\n".join(encode_step(step) for program in programs for step in program)
    return hashlib.blake2b(said.encode(), digest_size=4).hexdigest()


def _levels() -> Mapping[str, str]:
    if not _LEVELS:
        _LEVELS.update({one.id: one.level for one in catalogue().statements})
    return _LEVELS


SEEDED: dict[str, Callable[[Terms], Seeded]] = {
    "stateful": _Stateful,
    "frames": _Frames,
    "history": _Histories,
}
"""By name, as `--kind` calls them."""
