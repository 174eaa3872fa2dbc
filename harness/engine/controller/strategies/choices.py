"""The symbols that programs are made of, and choices among what should exist.

- Each replica has a connection of its own: which of several replicas of one connection end with it, and which
  of several connections of a replica counts, is free.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.engine.controller.program_state import ProgramState, Replicas
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.nameserver import controller_steps as ctl

BROKERS = ("b0", "b1", "bé\\", "bè\\")
CLUSTERS = ("c0", "c0", "c1", "cé\\")
FAR = (1 << 40) + 7
"""An id of which an int keeps 7."""
HOUR = 3_600_000
SOON = 4
"""Protocol seconds behind the end of a connection, in which another master is elected."""
_SLOTS = 60
"""Addresses of one name."""
_FEW = 16
"""Ids that are greater have the last two places."""
ENDINGS: tuple[Literal["kill", "term"], ...] = ("kill", "term")
HOWS: tuple[Literal["fin", "reset"], ...] = ("fin", "reset")


def looks_at(broker: str, pick: Pick) -> Steps:
    others = (broker,) if pick.below(3) else (broker, "b9", *BROKERS[:2])
    return (ctl.SyncStateData(brokers=others), ctl.ReplicaInfo(broker=broker), ctl.NextId(broker=broker))


def a_broker(pick: Pick, state: ProgramState) -> str:
    """A name that exists, as a rule."""
    known = list(state.names)
    return pick.one(known) if known and pick.below(4) else pick.one(BROKERS)


def cluster_of(pick: Pick, state: ProgramState, broker: str) -> str:
    of_name = state.names.get(broker)
    return of_name.cluster if of_name is not None else state.ever.get(broker) or pick.one(CLUSTERS)


def address_of(broker: str, number: int, moved: int = 0) -> str:
    slot = BROKERS.index(broker) if broker in BROKERS else 0
    place = number if number < _FEW else _FEW + number % 2
    return f"a{1 + slot * _SLOTS + place * 3 + moved}"


def conn_of(broker: str, number: int) -> str:
    slot = BROKERS.index(broker) if broker in BROKERS else 9
    return f"k{slot}{number % 1000}"


def applied(broker: str, cluster: str, number: int) -> ctl.ApplyId:
    address = address_of(broker, number)
    return ctl.ApplyId(cluster=cluster, broker=broker, id=number, address=address)


def heard(pick: Pick, broker: str, cluster: str, number: int) -> ctl.ReplicaBeat:
    """A heartbeat for an hour; some say how far a log goes."""
    beat = ctl.ReplicaBeat(
        conn=conn_of(broker, number),
        cluster=cluster,
        broker=broker,
        id=number,
        address=address_of(broker, number),
    )
    if pick.below(2):
        return beat
    return msgspec.structs.replace(
        beat,
        log_epoch=pick.one((1, 2, 3)),
        log_end=pick.one((100, 200, 300)),
        priority=pick.one((None, 3, 1, 2)),
    )


def a_set(pick: Pick, state: ProgramState, *, least: int = 1) -> tuple[str, Replicas] | None:
    """A name whose master lives, and at least this many replicas."""
    found = [
        (broker, of_name)
        for broker, of_name in state.names.items()
        if state.lives(broker, of_name.master) and len(state.living(broker)) >= least
    ]
    return pick.one(found) if found else None


def altering(broker: str, of_name: Replicas, ids: tuple[int, ...]) -> ctl.AlterInSync:
    return ctl.AlterInSync(
        broker=broker,
        id=of_name.master or 1,
        master_epoch=of_name.master_epoch,
        ids=ids,
        set_epoch=of_name.set_epoch,
    )


def all_in_sync(state: ProgramState, broker: str, of_name: Replicas) -> Steps:
    """All that live are in sync from now on."""
    living = tuple(state.living(broker))
    return () if frozenset(living) == of_name.in_sync else (altering(broker, of_name, living),)
