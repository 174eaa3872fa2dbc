"""What would show what has been done: one question right behind a step, all of them at the end."""

from __future__ import annotations

from harness.engine.controller.program_state import ProgramState
from harness.engine.controller.strategies.choices import BROKERS, SOON, looks_at
from harness.engine.nameserver.strategies.pick import Maker, Pick, Steps
from harness.program.nameserver import controller_steps as ctl
from harness.program.step import Time
from harness.program.steps import AnyStep


def made(make: Maker, pick: Pick, state: ProgramState) -> Steps:
    """The steps of a maker; at every third time they are followed by a question about the last of them."""
    steps = make(pick, state)
    return (*steps, pick.one(looks_at(_broker_of(steps), pick))) if steps and pick.once_in(3) else steps


def _broker_of(steps: Steps) -> str:
    return next((step.broker for step in reversed(steps) if hasattr(step, "broker")), BROKERS[0])


def look(state: ProgramState, *, moment: int) -> list[AnyStep]:
    """All that can be seen of what a program did. ``moment``: protocol seconds that pass before."""
    names = tuple(state.ever)
    found: list[AnyStep] = [Time(seconds=moment or SOON)]
    if names:
        found.append(ctl.SyncStateData(brokers=names))
    for broker, cluster in state.ever.items():
        found += [ctl.ReplicaInfo(broker=broker), ctl.NextId(broker=broker, cluster=cluster)]
        of_name = state.names.get(broker)
        if of_name is not None and of_name.members:
            number, (address, _) = max(of_name.members.items())
            found.append(
                ctl.RegisterReplica(broker=broker, cluster=of_name.cluster, id=number, address=address)
            )
    return [*found, ctl.Controllers(), ctl.ControllerSettings()]
