"""What playing on controllers needs to know of them (`harness.engine.role`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from harness.catalogue import Quirk
from harness.catalogue import Role as RoleName
from harness.conformance.nameserver.settings import ROLES_ARE_NOT_TOLD
from harness.engine.controller.goals import tally
from harness.engine.controller.program_state import ProgramState
from harness.engine.controller.strategies.readback import look
from harness.engine.coverage import Coverage
from harness.engine.executor import Executor
from harness.engine.oracle import Oracle
from harness.engine.quirks import StepQuirks
from harness.engine.role import Role
from harness.findings.deviations import Deviations
from harness.program.names import Names
from harness.program.nameserver import controller_steps as ctl
from harness.program.steps import AnyStep
from harness.session import DEFAULT_SETUP, ControllerSession, Instance, NameServerInstance
from harness.spec import Answered
from harness.spec.nameserver.controller.tracker import ControllerTracker
from harness.spec.quirks import Predicates

_CHAPTER = "ns.controller."
_FAR = 1 << 31


def _tells_a_far_end(state: ProgramState, step: AnyStep) -> bool:
    """A heartbeat to the controller says that a log ends beyond 2 GiB."""
    return isinstance(step, ctl.ReplicaBeat) and step.log_end is not None and step.log_end >= _FAR


PREDICATES: Final[Predicates[ProgramState]] = {"tells-a-far-end": _tells_a_far_end}
"""By the name that `specs/targets` uses; the docstring of each is its meaning."""


class _Controller:
    name: RoleName = "nameserver"
    rules = "controller"
    servers = 1
    least_servers = 1
    # Replicas of programs listen nowhere: a controller that told them of masters would wait for them in vain.
    setup = tuple(sorted(ROLES_ARE_NOT_TOLD.items()))
    others = DEFAULT_SETUP
    needs_setup = True
    tolerates = False

    def session(self, instance: Instance, profile: str, **said: Any) -> ControllerSession:
        return ControllerSession(cast(NameServerInstance, instance), profile, **said)

    def state(self, profile: str, servers: int) -> ProgramState:
        return ProgramState(profile)

    def judge(
        self, profile: str, names: Names, jitter: Sequence[float], *, fresh: bool, deviations: Deviations
    ) -> Oracle:
        return Oracle([ControllerTracker(profile, names, jitter=one) for one in jitter])

    def look(self, state: ProgramState, *, moment: int) -> list[AnyStep]:
        return look(state, moment=moment)

    def tidy(self, executor: Executor, state: ProgramState) -> bool:
        """Makes a controller forget the names of a program, and elect as at its start."""
        executor.finish()
        steps: list[AnyStep] = [ctl.AllowUnclean(conn="tidy", allowed=False)] if state.was_unclean else []
        steps += [
            ctl.CleanReplicas(conn="tidy", broker=broker, cluster=cluster, living=True)
            for broker, cluster in state.ever.items()
        ]
        for step in steps:
            seen = executor.play(step)[-1:]
            if not all(isinstance(one.outcome, Answered) for one in seen):
                return False
        return True

    def spoils(self, state: ProgramState) -> bool:
        """Whether replicas out of sync may still be elected."""
        return state.was_unclean

    def tally(self) -> Coverage:
        return tally()

    def quirks(self, found: Sequence[Quirk]) -> StepQuirks:
        own = [one for one in found if any(name.startswith(_CHAPTER) for name in one.statements)]
        return StepQuirks(own, PREDICATES)


CONTROLLER: Final[Role] = _Controller()
