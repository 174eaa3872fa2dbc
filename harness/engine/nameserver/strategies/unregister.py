"""Brokers unregister: rightly, wrongly, and late."""

from __future__ import annotations

import msgspec

from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.strategies.choices import (
    BROKERS,
    a_lease,
    slot_of,
)
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.engine.nameserver.strategies.registering import registers
from harness.engine.nameserver.strategies.registrations import again
from harness.program.nameserver.steps import Unregister
from harness.spec.nameserver.expected import Live


def unregisters(pick: Pick, state: ProgramState) -> Steps:
    """A broker that is there goes, once or twice."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    step = departure(pick, *found)
    if pick.once_in(5):
        return (msgspec.structs.replace(step, oneway=True),)
    return (step, step) if pick.once_in(4) else (step,)


def unregisters_wrongly(pick: Pick, state: ProgramState) -> Steps:
    """An unregistration that is wrong about something."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    server, lease = found
    step = departure(pick, server, lease)
    what = pick.below(5)
    if what == 0:
        return (msgspec.structs.replace(step, id=pick.one((lease.id + 1, 0, 7))),)
    if what == 1:
        return (msgspec.structs.replace(step, address=f"a{slot_of(lease.broker)}{pick.below(5)}"),)
    if what == 2:
        return (msgspec.structs.replace(step, broker=pick.one(BROKERS)),)
    if what == 3:
        return (msgspec.structs.replace(step, cluster=pick.one(("c1", "c0"))),)
    drop = pick.one(("brokerName", "brokerAddr", "clusterName", "brokerId"))
    return (msgspec.structs.replace(step, drop=(drop,)),)


def unregisters_late(pick: Pick, state: ProgramState) -> Steps:
    """A broker goes and is back at once; or what it sent before it came back arrives when it is."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    server, lease = found
    back = again(pick, state, server, lease)
    return (departure(pick, server, lease), back)


def departure(pick: Pick, server: int, lease: Live) -> Unregister:
    return Unregister(
        server=server,
        conn=lease.conn if not pick.once_in(4) else "q",
        cluster=lease.cluster,
        broker=lease.broker,
        address=lease.address,
        id=lease.id,
        binary=pick.once_in(10),
    )
