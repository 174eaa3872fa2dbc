"""Replicas take ids, say where they are, and send heartbeats."""

from __future__ import annotations

import msgspec

from harness.engine.controller.program_state import ProgramState
from harness.engine.controller.strategies.choices import (
    BROKERS,
    CLUSTERS,
    FAR,
    HOUR,
    a_broker,
    address_of,
    applied,
    cluster_of,
    conn_of,
    heard,
)
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.nameserver import controller_steps as ctl
from harness.program.step import Time
from harness.program.steps import AnyStep


def gathers(pick: Pick, state: ProgramState) -> Steps:
    """Several replicas of a new name begin: ids, heartbeats, a master, and who is in sync with it."""
    fresh = [one for one in BROKERS if one not in state.names]
    if not fresh:
        return joins(pick, state)
    broker = pick.one(fresh)
    cluster = pick.one(CLUSTERS)
    numbers = [*range(1, 3 + pick.below(3))]
    if pick.once_in(4):
        numbers.append(FAR)
    steps: list[AnyStep] = [applied(broker, cluster, one) for one in numbers]
    steps += [heard(pick, broker, cluster, one) for one in numbers]
    master = pick.one(numbers)
    steps.append(ctl.Elect(broker=broker, cluster=cluster, id=master))
    if pick.below(4):
        ids = tuple(one for one in numbers if one == master or pick.below(4))
        if len(ids) > 1:
            steps.append(ctl.AlterInSync(broker=broker, id=master, ids=ids))
    return tuple(steps)


def joins(pick: Pick, state: ProgramState) -> Steps:
    """A replica begins as Brokers do: it asks for the next id, applies for it, says where it is, is heard."""
    broker = a_broker(pick, state)
    cluster = cluster_of(pick, state, broker)
    of_name = state.names.get(broker)
    number = 1 if of_name is None else of_name.next_id
    register = ctl.RegisterReplica(
        cluster=cluster, broker=broker, id=number, address=address_of(broker, number)
    )
    steps: Steps = (
        ctl.NextId(cluster=cluster, broker=broker),
        applied(broker, cluster, number),
        register,
        heard(pick, broker, cluster, number),
    )
    return steps[pick.below(2) : 2 + pick.below(3)] or steps


def applies(pick: Pick, state: ProgramState) -> Steps:
    """An application: again, with another check code, of another Broker, for a free id, for a wrong first
    one.
    """
    broker = a_broker(pick, state)
    cluster = cluster_of(pick, state, broker)
    of_name = state.names.get(broker)
    if of_name is None:
        return (applied(broker, cluster, pick.one((2, 1, 7))),)
    number = pick.one(list(of_name.members)) if of_name.members else 1
    _, start = of_name.members.get(number, (address_of(broker, number), "1"))
    same = ctl.ApplyId(
        cluster=cluster, broker=broker, id=number, address=address_of(broker, number), start=start
    )
    how = pick.below(6)
    if how == 0:
        return (same,)
    if how == 1:
        return (msgspec.structs.replace(same, start=pick.one(("2", "é", "è"))),)
    if how == 2:
        return (msgspec.structs.replace(same, address=address_of(broker, number, 2)),)
    if how == 3:
        return (applied(broker, cluster, pick.one((7, 9, FAR, FAR + 1))), ctl.NextId(broker=broker))
    if how == 4:
        accented = msgspec.structs.replace(applied(broker, cluster, of_name.next_id), start="é")
        return (accented, msgspec.structs.replace(accented, start=pick.one(("è", "é"))))
    return (same, ctl.NextId(cluster=cluster, broker=broker))


def registers(pick: Pick, state: ProgramState) -> Steps:
    """A replica says where it is: the same, elsewhere, or it has no id."""
    broker = a_broker(pick, state)
    cluster = cluster_of(pick, state, broker)
    of_name = state.names.get(broker)
    number = pick.one(list(of_name.members)) if of_name is not None and of_name.members else 1
    if pick.once_in(5):
        number = pick.one((8, 19))
    address = address_of(broker, number, pick.one((0, 1, 2)))
    register = ctl.RegisterReplica(cluster=cluster, broker=broker, id=number, address=address)
    return (register, ctl.SyncStateData(brokers=(broker,))) if pick.below(2) else (register,)


def beats(pick: Pick, state: ProgramState) -> Steps:
    """A heartbeat, of a replica that has an id as a rule, for a longer or a shorter time."""
    broker = a_broker(pick, state)
    cluster = cluster_of(pick, state, broker)
    of_name = state.names.get(broker)
    number = pick.one(list(of_name.members)) if of_name is not None and of_name.members else 1
    beat = heard(pick, broker, cluster, number)
    return (msgspec.structs.replace(beat, lasts=pick.one((HOUR, 40_000, 120_000, HOUR, None))),)


def beats_elsewhere(pick: Pick, state: ProgramState) -> Steps:
    """A heartbeat of another cluster, or of an id that no replica has, and who lives then."""
    broker = a_broker(pick, state)
    cluster = cluster_of(pick, state, broker)
    of_name = state.names.get(broker)
    dead = [] if of_name is None else [one for one in of_name.members if not state.lives(broker, one)]
    number = pick.one(dead) if dead else 1
    beat = heard(pick, broker, cluster, number)
    how = pick.below(3)
    if how == 0:
        other = "c1" if cluster != "c1" else "c0"
        beat = msgspec.structs.replace(beat, cluster=other, conn=f"{beat.conn}x")
    elif how == 1:
        beat = msgspec.structs.replace(beat, id=13, conn=f"{conn_of(broker, 13)}x")
    else:
        other = pick.one([one for one in BROKERS if one != broker])
        beat = msgspec.structs.replace(beat, broker=other, conn=f"{conn_of(other, number)}y")
    return (beat, ctl.SyncStateData(brokers=(broker,)))


def runs_out(pick: Pick, state: ProgramState) -> Steps:
    """A heartbeat runs out, or is renewed in time, or counts for longer than an int says."""
    broker = a_broker(pick, state)
    cluster = cluster_of(pick, state, broker)
    of_name = state.names.get(broker)
    number = pick.one(list(of_name.members)) if of_name is not None and of_name.members else 1
    steps: list[AnyStep] = [] if of_name is not None else [applied(broker, cluster, 1)]
    beat = heard(pick, broker, cluster, number)
    look = ctl.SyncStateData(brokers=(broker,))
    how = pick.below(5)
    short = msgspec.structs.replace(beat, lasts=40_000)
    if how == 0:
        steps += [short, Time(seconds=35), look, Time(seconds=16), look, beat]
    elif how == 1:
        steps += [short, Time(seconds=30), short, Time(seconds=30), look, Time(seconds=25), look]
    elif how == 2:
        steps += [msgspec.structs.replace(beat, lasts=None), Time(seconds=18), look, beat, look]
    elif how == 3:
        steps += [msgspec.structs.replace(beat, lasts=(1 << 32) + 2704), Time(seconds=15), look]
    else:
        steps += [short, Time(seconds=20), look, Time(seconds=40), look, beat]
    return tuple(steps)


def waits(pick: Pick, state: ProgramState) -> Steps:
    """Time passes: a moment, or until shortly before or behind the end of a heartbeat."""
    next_ = next((one for one in state.waiting if 0 < one < 1000), 10)
    return (Time(seconds=max(1, pick.one((1, 5, next_ - 2, next_ + 14, 60)))),)
