"""Leases are refreshed, and time passes."""

from __future__ import annotations

from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.strategies.choices import (
    a_lease,
    a_server,
    slot_of,
)
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.nameserver.steps import Heartbeat, QueryVersion, Route
from harness.program.step import Time


def beats(pick: Pick, state: ProgramState) -> Steps:
    """A heartbeat (5.x)."""
    found = a_lease(pick, state)
    if found is None:
        return (Heartbeat(server=a_server(pick, state)),)
    server, lease = found
    conn = lease.conn if not pick.once_in(3) else "q"
    cluster = lease.cluster if not pick.once_in(6) else pick.one(("c1", "c0"))
    address = lease.address if not pick.once_in(6) else f"a{slot_of(lease.broker)}{pick.below(5)}"
    return (
        Heartbeat(
            server=server,
            conn=conn,
            cluster=cluster,
            broker=lease.broker,
            address=address,
            id=lease.id,
            oneway=pick.once_in(5),
        ),
    )


def asks_for_versions(pick: Pick, state: ProgramState) -> Steps:
    """A broker asks whether its data version is known: the same, newer, older."""
    found = a_lease(pick, state)
    if found is None:
        return (QueryVersion(server=a_server(pick, state)),)
    server, lease = found
    counter, timestamp, state_version = lease.version
    return (
        QueryVersion(
            server=server,
            conn=lease.conn if not pick.once_in(3) else "q",
            cluster=lease.cluster if not pick.once_in(8) else pick.one(("c1", "c0")),
            broker=lease.broker,
            address=lease.address,
            id=lease.id,
            counter=max(0, counter + pick.one((0, 1, -1))),
            timestamp=max(0, timestamp + pick.one((0, 0, 1))),
            state=pick.one((state_version, state_version, state_version + 1))
            if state.has("state-version")
            else pick.one((None, None, 1)),
            form=pick.one(("json", "json", "json", "json", "none", "garbage")),
        ),
    )


def waits(pick: Pick, state: ProgramState) -> Steps:
    """Time passes: a moment, nearly a lease, just past the end of one, or a look at a scan."""
    scan = state.scan
    ends = [
        lease.since + lease.length - expected.now
        for expected in state.expected
        for lease in expected.leases.values()
    ]
    near = int(pick.one(ends)) if ends else state.lease
    seconds = pick.one((1, scan, near + scan + 1, near - 1, near + 1, 3, state.lease + scan + 1, 60))
    return (Time(seconds=max(1, seconds)),)


def lies_idle(pick: Pick, state: ProgramState) -> Steps:
    """Time passes and a connection is left alone, for as long as a server bears it, or longer."""
    found = a_lease(pick, state)
    if found is None:
        return (Route(conn="k99"), Time(seconds=pick.one((121, 119, 60)), idle=("k99",)))
    _, lease = found
    return (Time(seconds=pick.one((121, 119, 60)), idle=(lease.conn,)),)
