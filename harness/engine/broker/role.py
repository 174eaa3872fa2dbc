"""What playing on Brokers needs to know of them (`harness.engine.role`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from harness.catalogue import Quirk
from harness.catalogue import Role as RoleName
from harness.engine.broker.goals import tally
from harness.engine.broker.oracle import BrokerOracle
from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.readback import look
from harness.engine.coverage import Coverage
from harness.engine.executor import Executor
from harness.engine.quirks import StepQuirks
from harness.engine.role import Role
from harness.findings.deviations import Deviations
from harness.program.broker.filters import Unreadable
from harness.program.broker.optional_steps import Allow
from harness.program.broker.steps import DropTopic, End, Force, Pull, Switch
from harness.program.names import Names
from harness.program.steps import AnyStep
from harness.session import DEFAULT_SETUP, BrokerInstance, BrokerSession
from harness.spec import Answered
from harness.spec.quirks import Predicates


def _commits_again(state: ProgramState, step: AnyStep) -> bool:
    """A half message is committed that was committed before."""
    return _is_committed_after(8, state, step)


def _commits_behind_roll_back(state: ProgramState, step: AnyStep) -> bool:
    """A half message is committed that was rolled back before."""
    return _is_committed_after(12, state, step)


def _is_committed_after(verdict: int, state: ProgramState, step: AnyStep) -> bool:
    return isinstance(step, End) and step.verdict == 8 and verdict in state.verdicts.get(step.message, [])


def _brings_an_unreadable_filter(state: ProgramState, step: AnyStep) -> bool:
    """A pull brings a filter that cannot be compiled."""
    return isinstance(step, Pull) and step.subscribes and isinstance(step.filter, Unreadable)


PREDICATES: Final[Predicates[ProgramState]] = {
    "brings-an-unreadable-filter": _brings_an_unreadable_filter,
    "commits-again": _commits_again,
    "commits-behind-roll-back": _commits_behind_roll_back,
}
"""By the name that `specs/targets` uses; the docstring of each is its meaning."""


class _Broker:
    name: RoleName = "broker"
    rules = "broker"
    servers = 1
    least_servers = 1
    setup = (("namesrvAddr", "{nameserver};{nameserver2}"),)
    others = DEFAULT_SETUP
    needs_setup = False
    tolerates = False

    def session(self, instance: BrokerInstance, profile: str, **said: Any) -> BrokerSession:
        """What it tells its NameServers is no part of the trace."""
        return BrokerSession(instance, profile, hears=False, **said)

    def state(self, profile: str, servers: int) -> ProgramState:
        return ProgramState(profile)

    def judge(
        self, profile: str, names: Names, jitter: Sequence[float], *, fresh: bool, deviations: Deviations
    ) -> BrokerOracle:
        return BrokerOracle(profile, names, jitter)

    def look(self, state: ProgramState, *, moment: int) -> list[AnyStep]:
        return look(state, moment=moment)

    def tidy(self, executor: Executor, state: ProgramState) -> bool:
        """Makes the Broker what it was: a master that registers unasked and allows nothing more, without the
        topics of a program.
        """
        executor.finish()
        steps: list[AnyStep] = [Switch(conn="tidy")] if state.switched else []
        steps += [Force(conn="tidy")] if state.is_unforced else []
        steps += [Allow(conn="tidy", what=what, allowed=False) for what in sorted(state.told)]
        for step in steps:
            outcomes = [one.outcome for one in executor.play(step)[-1:]]
            if not any(isinstance(one, Answered) and one.command.code == 0 for one in outcomes):
                return False
        for topic in (*state.topics, *state.static, *(f"%RETRY%{group}" for group in state.returned)):
            seen = executor.play(DropTopic(conn="tidy", topic=topic))[-1:]
            if not all(isinstance(one.outcome, Answered) for one in seen):
                return False
        return True

    def spoils(self, state: ProgramState) -> bool:
        """A Broker that is left as a slave, or that asks first, is of no use to the next program."""
        return state.switched or state.is_unforced

    def tally(self) -> Coverage:
        return tally()

    def quirks(self, found: Sequence[Quirk]) -> StepQuirks:
        return StepQuirks(found, PREDICATES)


BROKER: Final[Role] = _Broker()
