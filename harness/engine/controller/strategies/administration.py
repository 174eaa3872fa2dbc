"""What administrators do: forget replicas, change settings, ask."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.engine.controller.program_state import NOWHERE, ProgramState
from harness.engine.controller.strategies.choices import (
    SOON,
    a_broker,
    a_set,
    all_in_sync,
    altering,
    cluster_of,
    conn_of,
    looks_at,
)
from harness.engine.controller.strategies.replicas import gathers
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.nameserver import controller_steps as ctl
from harness.program.step import Close, Time
from harness.program.steps import AnyStep


def forgets(pick: Pick, state: ProgramState) -> Steps:
    """Replicas that are gone are forgotten, and what there is after that."""
    found = a_set(pick, state, least=2)
    if found is None:
        return gathers(pick, state)
    broker, of_name = found
    others = [one for one in of_name.members if one != of_name.master]
    gone = others[: 1 + pick.below(2)]
    steps: list[AnyStep] = list(all_in_sync(state, broker, of_name)) if pick.below(2) else []
    living = [one for one in gone if state.lives(broker, one)]
    steps += [Close(conn=conn_of(broker, one)) for one in living]
    if living:
        steps.append(Time(seconds=SOON))
    ids = ";".join(map(str, gone)) + (";" if pick.once_in(3) else "")
    clean = ctl.CleanReplicas(cluster=of_name.cluster, broker=broker, ids=ids)
    return (*steps, clean, ctl.SyncStateData(brokers=(broker,)), ctl.NextId(broker=broker))


def forgets_wrongly(pick: Pick, state: ProgramState) -> Steps:
    """A replica that lives, all of a name with a master, and what is no number are not forgotten."""
    broker = a_broker(pick, state)
    cluster = cluster_of(pick, state, broker)
    living = state.living(broker)
    clean = ctl.CleanReplicas(cluster=cluster, broker=broker)
    of_name = state.names.get(broker)
    if of_name is None or (of_name.master == NOWHERE and not living):
        clean = msgspec.structs.replace(clean, ids="1;x")
    elif living and pick.below(3):
        dead = [str(one) for one in of_name.members if one not in living]
        clean = msgspec.structs.replace(clean, ids=";".join([*dead[:1], str(living[-1])]))
    elif pick.below(2) or of_name.master == NOWHERE:
        clean = msgspec.structs.replace(clean, ids=f"{next(iter(of_name.members), 1)};x")
    return (clean, ctl.SyncStateData(brokers=(broker,)))


def forgets_by_force(pick: Pick, state: ProgramState) -> Steps:
    """A name is forgotten as a whole, while others are there; sometimes it begins again."""
    broker = a_broker(pick, state)
    cluster = cluster_of(pick, state, broker)
    clean = ctl.CleanReplicas(cluster=cluster, broker=broker, living=True)
    looks: Steps = (ctl.NextId(broker=broker, cluster=cluster), ctl.ReplicaInfo(broker=broker))
    others = ctl.SyncStateData(brokers=(*(one for one in state.names if one != broker), broker))
    return (clean, *looks[: 1 + pick.below(2)], others)


def allows_unclean(pick: Pick, state: ProgramState) -> Steps:
    """Replicas that are not in sync may be elected: the master is lost, and one of them leads; then not."""
    found = a_set(pick, state, least=2)
    on, off = ctl.AllowUnclean(), ctl.AllowUnclean(allowed=False)
    if found is None or pick.once_in(4):
        how = pick.below(4)
        if how == 0:
            keys: tuple[Literal["configBlackList", "configStorePath", "rocketmqHome"], ...] = (
                "configStorePath",
                "configBlackList",
                "rocketmqHome",
            )
            on = msgspec.structs.replace(on, beside=pick.one(keys))
        elif how == 1:
            on = msgspec.structs.replace(on, beside="long")
        return (on, ctl.ControllerSettings(), off)
    broker, of_name = found
    alone = altering(broker, of_name, (of_name.master,))
    steps: list[AnyStep] = [alone] if len(of_name.in_sync) > 1 else []
    steps += [on, Close(conn=conn_of(broker, of_name.master)), Time(seconds=SOON)]
    steps += [ctl.ReplicaInfo(broker=broker)]
    return (*steps, off, ctl.ControllerSettings()) if pick.below(2) else (*steps, off)


def asks(pick: Pick, state: ProgramState) -> Steps:
    """A question: about a name, about several, about the controllers, about settings."""
    broker = a_broker(pick, state)
    several = ctl.SyncStateData(brokers=(*state.names, "b9") if pick.below(3) else ())
    questions = (*looks_at(broker, pick), several, ctl.Controllers(), ctl.ControllerSettings())
    return (pick.one(questions),)
