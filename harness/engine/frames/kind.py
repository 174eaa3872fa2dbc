"""`--kind frames`: damaged frames as a kind of fuzzing.

Programs are a Hypothesis strategy, fed with bytes of the seed: the version of Hypothesis is part of the
generator. A batch begins from the corpus as it was when the batch began, so that equal seeds and corpora give
equal programs, as long as the target answers alike.

A program that brings a new reaction is kept in the corpus: of it, where that is enough, the one step that
brought it, behind a request that begins the connection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, given, settings

from harness.engine.frames.corpus import Corpus
from harness.engine.frames.experiment import FrameExperiment
from harness.engine.frames.generate import programs
from harness.engine.frames.play import Reaction
from harness.engine.kind import Kind, Program, Seed, Tried, goes_round
from harness.findings.deviations import Deviations
from harness.program.chance import chance
from harness.program.frames import code_of
from harness.program.nameserver.steps import ClusterInfo, Damaged
from harness.program.steps import AnyStep

_BYTES: Final = 4096
"""Bytes of chance for a program; more where they are too few."""

_REQUIRED: Final = ("a damaged frame is answered", "a damaged frame closes", "a damaged frame is ignored")
_GOALS: Final = dict(zip(("answered", "closed", "silent"), _REQUIRED, strict=True))


class FramesKind(Kind):
    """Damaged frames against a target. Without a corpus nothing is learned from programs."""

    name = "frames"

    def __init__(
        self,
        experiment: FrameExperiment,
        corpus: Corpus | None = None,
        deviations: Deviations | None = None,
    ) -> None:
        super().__init__()
        self._deviations = Deviations() if deviations is None else deviations
        self.experiment: FrameExperiment = experiment
        self._corpus = corpus
        self._made: list[Program] = []
        self._feed = self._fed_by_bytes()

    @property
    def depends_on(self) -> str:
        return f"hypothesis={hypothesis.__version__}"

    def program(self, seed: Seed) -> Program:
        source, size = chance(self.name, self.experiment.profile, seed), _BYTES
        self._made.clear()
        while not self._made:
            self._feed(source.randbytes(size))
            size *= 2
        return self._made[0]

    def run(self, seed: Seed) -> Tried:
        program = self.program(seed)
        if goes_round(self.name, seed):
            program = tuple(one for one in program if not self._deviations.leaves_out(one))
        self.experiment.seeded.begin(seed)
        attempt = self.experiment.attempt(program, fresh=False)
        reactions = self.experiment.reactions
        goals = goals_of(reactions)
        self.goals.update(goals)
        if self._corpus is not None and attempt.ended == "whole" and not attempt.violations:
            self._keep(self._corpus, program, reactions)
        return Tried(program=program, attempt=attempt, goals=tuple(sorted(set(goals))))

    def settle(self) -> None:
        """The programs to come begin from the corpus as it is now."""
        if self._corpus is not None:
            self._corpus.save()
            self._feed = self._fed_by_bytes()

    def required(self) -> Sequence[str]:
        return _REQUIRED

    def close(self) -> None:
        if self._corpus is not None:
            self._corpus.save()
        self.experiment.close()

    def _fed_by_bytes(self) -> Callable[[bytes], object]:
        """Makes a program of bytes; there may be too few of them for one."""

        @settings(
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        @given(programs(() if self._corpus is None else self._corpus.programs))
        def make(program: Program) -> None:
            self._made.append(program)

        test: Any = make
        feed: Callable[[bytes], object] = test.hypothesis.fuzz_one_input
        return feed

    def _keep(self, corpus: Corpus, program: Program, reactions: Sequence[Reaction]) -> None:
        new = corpus.new(reactions_of(program, reactions))
        for reaction in reactions:
            alone = reactions_of(program, [reaction])
            if not any(one in new for one in alone):
                continue
            small = _alone(program, reaction.number)
            again = self.experiment.attempt(small, fresh=False)
            brings = reactions_of(small, self.experiment.reactions)
            if again.ended == "whole" and not again.violations and set(alone) <= set(brings):
                corpus.add(small, alone)
            else:
                corpus.add(program, alone)
            new = corpus.new(new)


def goals_of(reactions: Sequence[Reaction]) -> list[str]:
    """The goals that reactions reach, one for each of them."""
    return [_GOALS[one.happened] for one in reactions if one.why and one.happened in _GOALS]


def reactions_of(program: Sequence[AnyStep], reactions: Sequence[Reaction]) -> list[str]:
    """What the corpus knows reactions by: what happened, the code of the request, the kinds of damage."""
    found = []
    for reaction in reactions:
        step = program[reaction.number]
        if isinstance(step, Damaged) and len(step.damages) < 3:
            kinds = sorted({str(type(damage).__struct_config__.tag) for damage in step.damages})
            code = "" if reaction.code is None else f" {reaction.code}"
            found.append(f"{reaction.happened}{code} / {code_of(step.base)} / {' + '.join(kinds) or 'none'}")
    return found


def _alone(program: Program, number: int) -> Program:
    step = program[number]
    warm = any(getattr(one, "conn", None) == getattr(step, "conn", "") for one in program[:number])
    return (ClusterInfo(conn=getattr(step, "conn", "q")), step) if warm else (step,)
