"""`--kind frames`: damaged frames as a kind of fuzzing.

Rules of this module:
- Hypothesis generates and nothing else. A batch begins from the corpus as it was when the batch began, so
  that equal seeds and corpora give equal programs, as long as the target answers alike.
- A program that brings a reaction which nobody has brought is kept in the corpus: of it, where that is
  enough, the one step that brought it, behind a request that begins the connection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

from harness.machines.frames.corpus import Corpus
from harness.machines.frames.generate import Program, programs
from harness.machines.frames.play import FrameExperiment, Reaction
from harness.machines.run import Tell, Tried, counted
from harness.program.chance import chance
from harness.program.frames import code_of
from harness.program.steps import AnyStep, ClusterInfo, Damaged

__all__ = ["FramesKind", "goals_of", "reactions_of"]

_REQUIRED: Final = ("a damaged frame is answered", "a damaged frame closes", "a damaged frame is ignored")
_GOALS: Final = dict(zip(("answered", "closed", "silent"), _REQUIRED, strict=True))


class FramesKind:
    """Damaged frames against a target; ``directory`` is where the corpus is."""

    name = "frames"

    def __init__(self, experiment: FrameExperiment, seed: str, directory: Path | None) -> None:
        self.experiment = experiment
        self.corpus = Corpus(directory, experiment.profile)
        self._seed = seed
        self._goals: Counter[str] = Counter()

    def batch(self, number: int, programs_: int, tell: Tell) -> None:
        seeds = self.corpus.programs
        words = chance("batch", self._seed, self.experiment.profile, number)

        @seed(words.getrandbits(64))
        @settings(
            max_examples=programs_,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        @given(programs(seeds))
        def play(program: Program) -> None:
            self._play(program, tell)

        try:
            play()
        finally:
            self.corpus.save()

    def _play(self, program: Program, tell: Tell) -> None:
        attempt = self.experiment.attempt(program, fresh=False)
        reactions = self.experiment.reactions
        if attempt.ended == "whole" and not attempt.violations:
            self._keep(program, reactions)
        self._goals.update(goals_of(reactions))
        tell(Tried(program=program, attempt=attempt))

    def _keep(self, program: Program, reactions: Sequence[Reaction]) -> None:
        new = self.corpus.new(reactions_of(program, reactions))
        for reaction in reactions:
            alone = reactions_of(program, [reaction])
            if not any(one in new for one in alone):
                continue
            small = _alone(program, reaction.number)
            again = self.experiment.attempt(small, fresh=False)
            brings = reactions_of(small, self.experiment.reactions)
            if again.ended == "whole" and not again.violations and set(alone) <= set(brings):
                self.corpus.add(small, alone)
            else:
                self.corpus.add(program, alone)
            new = self.corpus.new(new)

    def reached(self) -> dict[str, int]:
        return counted(self._goals, _REQUIRED)

    def transitions(self) -> list[tuple[str, str, str, int]]:
        return []

    def take_over(self, goals: dict[str, int], transitions: Sequence[tuple[str, str, str, int]]) -> None:
        self._goals.update(goals)

    def close(self) -> None:
        self.corpus.save()
        self.experiment.close()


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
