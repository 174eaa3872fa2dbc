"""Masters are elected, say who is in sync, and go."""

from __future__ import annotations

import msgspec

from harness.engine.controller.program_state import ProgramState
from harness.engine.controller.strategies.choices import (
    BROKERS,
    CLUSTERS,
    HOWS,
    SOON,
    a_broker,
    a_set,
    all_in_sync,
    altering,
    applied,
    cluster_of,
    conn_of,
    heard,
)
from harness.engine.controller.strategies.replicas import gathers
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.nameserver import controller_steps as ctl
from harness.program.step import Close, Time
from harness.program.steps import AnyStep


def elects(pick: Pick, state: ProgramState) -> Steps:
    """A replica asks for an election; of an unknown name sometimes."""
    broker = a_broker(pick, state)
    of_name = state.names.get(broker)
    cluster = cluster_of(pick, state, broker)
    if of_name is None or not of_name.members:
        return (ctl.Elect(broker=broker, cluster=cluster),)
    elect = ctl.Elect(broker=broker, cluster=cluster, id=pick.one(list(of_name.members)))
    return (elect, ctl.ReplicaInfo(broker=broker)) if pick.below(2) else (elect,)


def demands(pick: Pick, state: ProgramState) -> Steps:
    """An administrator demands a certain master: one in sync, one that is not, one that is dead."""
    found = a_set(pick, state, least=2)
    if found is None:
        return gathers(pick, state)
    broker, of_name = found
    steps: list[AnyStep] = list(all_in_sync(state, broker, of_name)) if pick.below(3) else []
    number = pick.one([*state.living(broker), *of_name.members])
    demand = ctl.Elect(broker=broker, cluster=of_name.cluster, id=number, designate=True)
    look = ctl.ReplicaInfo(broker=broker)
    if pick.once_in(4):
        other = next((one for one in state.living(broker) if one != of_name.master), number)
        gone = msgspec.structs.replace(demand, id=other)
        return (*steps, Close(conn=conn_of(broker, other)), Time(seconds=SOON), gone, look)
    return (*steps, demand, demand, look) if pick.once_in(3) else (*steps, demand, look)


def alters(pick: Pick, state: ProgramState) -> Steps:
    """The master says who is in sync with it."""
    found = a_set(pick, state)
    if found is None:
        return gathers(pick, state)
    broker, of_name = found
    others = [one for one in state.living(broker) if one != of_name.master]
    ids = [of_name.master, *(one for one in others if pick.below(3))]
    if pick.once_in(3):
        ids = [*reversed(ids), *ids[:1]]
    steps: Steps = (altering(broker, of_name, tuple(ids)),)
    return (*steps, ctl.ReplicaInfo(broker=broker)) if pick.below(2) else steps


def alters_wrongly(pick: Pick, state: ProgramState) -> Steps:
    """A set in sync that must be refused, for one reason, and what there is after it."""
    found = a_set(pick, state)
    if found is None:
        return gathers(pick, state)
    broker, of_name = found
    living = state.living(broker)
    other = tuple(living) if frozenset(living) != of_name.in_sync else (of_name.master,)
    right = altering(broker, of_name, other)
    dead = [one for one in of_name.members if not state.lives(broker, one)]
    how = pick.below(8)
    wrong = right
    if how in (0, 1):
        wrong = msgspec.structs.replace(right, master_epoch=of_name.master_epoch + (1 if how else -1))
    elif how in (2, 3):
        wrong = msgspec.structs.replace(right, set_epoch=of_name.set_epoch + (5 - how * 2))
    elif how == 4:
        asks = next((one for one in of_name.members if one != of_name.master), 11)
        wrong = msgspec.structs.replace(right, id=pick.one((asks, of_name.master + (1 << 40))))
    elif how == 5:
        unknown = pick.one(((of_name.master, 14), (14, of_name.master)))
        wrong = msgspec.structs.replace(right, ids=(*other, *unknown) if pick.below(2) else unknown)
    elif how == 6 and dead:
        with_dead = pick.one(((of_name.master, dead[0]), (dead[0], of_name.master)))
        wrong = msgspec.structs.replace(right, ids=with_dead)
    elif how == 7:
        left = tuple(one for one in living if one != of_name.master)
        wrong = msgspec.structs.replace(right, ids=left or tuple(of_name.in_sync))
    else:
        wrong = msgspec.structs.replace(right, ids=tuple(sorted(of_name.in_sync)))
    return (wrong, ctl.ReplicaInfo(broker=broker))


def asks_at_large(pick: Pick, state: ProgramState) -> Steps:
    """A set in sync of more than 64 KiB: ids that no replica has, or each of them very often."""
    found = a_set(pick, state, least=2)
    if found is None:
        return gathers(pick, state)
    broker, of_name = found
    living = state.living(broker)
    short = tuple(living) if frozenset(living) != of_name.in_sync else (of_name.master,)
    ids = short * (40_000 // len(short)) if pick.below(2) else (*short, *range(10**12, 10**12 + 6_000))
    return (altering(broker, of_name, ids), ctl.ReplicaInfo(broker=broker))


def loses_its_master(pick: Pick, state: ProgramState) -> Steps:
    """The connection of a master ends, sometimes behind that of another one in sync; then it may come back,
    or another asks.
    """
    found = a_set(pick, state, least=2)
    if found is None:
        return gathers(pick, state)
    broker, of_name = found
    steps: list[AnyStep] = list(all_in_sync(state, broker, of_name)) if pick.below(4) else []
    others = [one for one in state.living(broker) if one != of_name.master]
    if others and pick.once_in(4):
        steps += [Close(conn=conn_of(broker, pick.one(others))), Time(seconds=SOON)]
    steps += [Close(conn=conn_of(broker, of_name.master), how=pick.one(HOWS)), Time(seconds=SOON)]
    look: tuple[AnyStep, ...] = (ctl.ReplicaInfo(broker=broker), ctl.SyncStateData(brokers=(broker,)))
    how = pick.below(4)
    ask = ctl.Elect(broker=broker, cluster=of_name.cluster, id=pick.one(others or [of_name.master]))
    if how == 1:
        steps += [pick.one(look), ask]
    elif how == 2:
        steps += [heard(pick, broker, of_name.cluster, of_name.master), ask]
    elif how == 3:
        register = ctl.RegisterReplica(
            cluster=of_name.cluster, broker=broker, id=ask.id, address=of_name.members[ask.id][0]
        )
        steps += [register]
    return (*steps, *look[: 1 + pick.below(2)])


def races(pick: Pick, state: ProgramState) -> Steps:
    """A master is lost whose set has logs of different length: by epoch, by end, by priority."""
    fresh = [one for one in BROKERS if one not in state.names]
    if not fresh:
        return loses_its_master(pick, state)
    broker, cluster = pick.one(fresh), pick.one(CLUSTERS)
    logs = pick.one(
        (
            ((1, 900, None), (2, 100, None), (1, 700, None)),
            ((3, 100, 1), (3, 101, 2), (3, 102, 3)),
            ((3, 100, 4), (3, 100, 6), (3, 100, 5)),
            ((2, 200, None), (2, 150, None), (1, 10, None)),
            ((3, 100, None), (3, 100 + 3 * 2**30, None), (2, 900, None)),
        )
    )
    numbers = (2, 3, 4) if pick.below(2) else (4, 3, 2)
    steps: list[AnyStep] = [applied(broker, cluster, one) for one in (1, 2, 3, 4)]
    plain = [
        msgspec.structs.replace(
            heard(pick, broker, cluster, one), log_epoch=epoch, log_end=end, priority=priority
        )
        for one, (epoch, end, priority) in zip(numbers, logs, strict=True)
    ]
    steps += [heard(pick, broker, cluster, 1), *plain]
    if pick.below(2):
        shorter = msgspec.structs.replace(plain[0], log_epoch=logs[0][0], log_end=logs[0][1] - 90)
        steps.append(shorter)
    steps += [
        ctl.Elect(broker=broker, cluster=cluster),
        ctl.AlterInSync(broker=broker, ids=(1, 2, 3, 4)),
        Close(conn=conn_of(broker, 1)),
        Time(seconds=SOON),
    ]
    return (*steps, ctl.ReplicaInfo(broker=broker))


def lets_its_master_expire(pick: Pick, state: ProgramState) -> Steps:
    """The heartbeat of a master runs out while others live; before that it is the master."""
    found = a_set(pick, state, least=2)
    if found is None:
        return gathers(pick, state)
    broker, of_name = found
    steps: list[AnyStep] = list(all_in_sync(state, broker, of_name)) if pick.below(4) else []
    short = msgspec.structs.replace(heard(pick, broker, of_name.cluster, of_name.master), lasts=30_000)
    look = ctl.ReplicaInfo(broker=broker)
    return (*steps, short, Time(seconds=20), look, Time(seconds=30), look)


def closes(pick: Pick, state: ProgramState) -> Steps:
    """A connection ends, of a replica as a rule, and who lives then."""
    living = [(broker, one) for broker in state.names for one in state.living(broker)]
    how = pick.one(HOWS)
    if not living:
        return (Close(how=how),)
    broker, number = pick.one(living)
    close = Close(conn=state.conn(broker, number) or conn_of(broker, number), how=how)
    look = ctl.SyncStateData(brokers=(broker,))
    return (close, Time(seconds=SOON), look) if pick.below(2) else (close,)


def comes_back(pick: Pick, state: ProgramState) -> Steps:
    """A replica that was gone is heard again, says where it is, and asks who is the master."""
    fallen = [
        (broker, one)
        for broker, one in state.fallen
        if broker in state.names and one in state.names[broker].members
    ]
    if not fallen:
        return loses_its_master(pick, state)
    broker, number = pick.one(fallen)
    of_name = state.names[broker]
    address = of_name.members[number][0]
    steps: list[AnyStep] = [heard(pick, broker, of_name.cluster, number)]
    if pick.below(2):
        steps.append(ctl.RegisterReplica(cluster=of_name.cluster, broker=broker, id=number, address=address))
    if pick.below(2):
        steps.append(ctl.Elect(broker=broker, cluster=of_name.cluster, id=number))
    return (*steps, ctl.ReplicaInfo(broker=broker))
