"""The histories of Brokers (`harness.engine.histories`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from harness.engine.broker.history_programs import Shape, program_of
from harness.engine.context import TargetContext
from harness.engine.histories import COSTLY, Histories, bursts
from harness.program.broker.steps import Commit, Committed, Pull, Send
from harness.program.chance import Chance
from harness.program.names import Names
from harness.program.step import Restart
from harness.program.steps import AnyStep
from harness.spec import Observation
from harness.spec.broker.history.judge import judge, judged_in_a_history
from harness.spec.history.judgement import Judgement

_RESTARTED = 0.25
"""The share of programs with a restart among those in which a restart costs little."""

_PRODUCERS = "two producers send to one queue at once"
_BATCH = "a batch is sent beside another message of its queue"
_READ = "a queue is pulled beside a send to it"
_COMMITS = "the offset of a group is committed twice at once"
_OFFSETS = "the offset of a group is asked for beside a commit"
_ENDED = "the Broker is ended between two bursts"
_REQUIRED = (_PRODUCERS, _BATCH, _READ, _COMMITS, _OFFSETS)


class _Programs:
    def __init__(self, context: TargetContext, term: float) -> None:
        capabilities = context.capabilities
        self._shape = Shape(
            term=term,
            waits=1.0 if capabilities.is_virtual else COSTLY,
            restarts=_RESTARTED / context.restarts_once_in if capabilities.is_ours else 0.0,
        )

    @property
    def depends_on(self) -> str:
        shape = self._shape
        return f"term={shape.term:g} waits={shape.waits:g} restarts={shape.restarts:g}"

    def program(self, source: Chance) -> tuple[AnyStep, ...]:
        return program_of(source, self._shape)


class _Histories:
    def programs(self, context: TargetContext, term: float) -> _Programs:
        return _Programs(context, term)

    def judge(
        self, seen: Sequence[Observation], profile: str, names: Names, *, jitter: float, term: float
    ) -> Judgement:
        return judge(seen, profile, names, jitter=jitter, term=term)

    def judged(self, seen: Iterable[Observation]) -> dict[int, frozenset[str]]:
        return judged_in_a_history(seen)

    def goals(self, program: Sequence[AnyStep]) -> set[str]:
        return _goals(program)

    def required(self, context: TargetContext) -> Sequence[str]:
        return (*_REQUIRED, _ENDED) if context.capabilities.is_ours else _REQUIRED


BROKER_HISTORIES: Final[Histories] = _Histories()


def _goals(program: Sequence[AnyStep]) -> set[str]:
    found: set[str] = {_ENDED} if any(isinstance(step, Restart) for step in program) else set()
    for burst in bursts(program):
        sent = [step for step in burst if isinstance(step, Send)]
        commits = [
            (step.group, step.topic, step.queue)
            for step in burst
            if isinstance(step, Commit) or (isinstance(step, Pull) and step.commit is not None)
        ]
        for at, one in enumerate(sent):
            if any((one.topic, one.queue) == (other.topic, other.queue) for other in sent[:at]):
                found |= {_PRODUCERS} | ({_BATCH} if one.more else set())
        queues = {(step.topic, step.queue) for step in sent}
        if any(isinstance(step, Pull) and (step.topic, step.queue) in queues for step in burst):
            found.add(_READ)
        if len(set(commits)) < len(commits):
            found.add(_COMMITS)
        if any(
            isinstance(step, Committed) and (step.group, step.topic, step.queue) in commits for step in burst
        ):
            found.add(_OFFSETS)
    return found
