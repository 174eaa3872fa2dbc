"""Programs carried out on a running target, for the tests of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.engine.executor import Executor
from harness.program.names import Names
from harness.program.nameserver.steps import Unregister
from harness.program.step import Close, Request, Time
from harness.program.steps import AnyStep
from harness.session import Instance
from harness.spec import Observation, StateTracker, Violation


def observed(
    instance: Instance, profile: str, names: Names, steps: Sequence[AnyStep]
) -> Iterator[Observation]:
    """What is seen of a program."""
    player = Executor([instance], profile, names, deadline=600.0)
    try:
        for step in steps:
            yield from player.play(step)
        yield from player.finish()
    finally:
        player.close()


def settled(steps: Sequence[AnyStep]) -> Iterator[AnyStep]:
    """The same with time behind everything that has effects behind it."""
    for step in steps:
        yield step
        if isinstance(step, Close | Unregister) or (isinstance(step, Request) and step.oneway):
            yield Time(seconds=3)


def violations_of(knowledge: StateTracker, seen: Iterator[Observation]) -> list[Violation]:
    """All violations of a program."""
    return [violation for one in seen for violation in knowledge.observe(one)]
