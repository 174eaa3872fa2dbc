"""Slaves act as the master (5.x)."""

from __future__ import annotations

import msgspec

from harness.machines.picture import Picture
from harness.machines.strategies.choices import (
    a_lease,
)
from harness.machines.strategies.pick import Pick, Steps
from harness.machines.strategies.registering import registers
from harness.machines.strategies.registrations import slave_of
from harness.program.steps import (
    AnyStep,
    ClusterInfo,
    Configure,
    MemberGroup,
    Route,
    Unregister,
)

__all__ = [
    "acts_as_master",
]


def acts_as_master(pick: Pick, picture: Picture) -> Steps:
    """A broker name of slaves alone that announce an acting master, and a route by it (5.x)."""
    found = a_lease(pick, picture)
    if found is None:
        return registers(pick, picture)
    server, lease = found
    model = picture.models[server]
    name = model.names.get(lease.broker)
    steps: list[AnyStep] = []
    if model.settings.get("supportActingMaster") != "true":
        steps.append(Configure(server=server, lines=("supportActingMaster=true",)))
    slave = slave_of(pick, picture, server, lease)
    if slave.address == lease.address:
        return registers(pick, picture)
    steps.append(msgspec.structs.replace(slave, acting=pick.one((True, True, False))))
    master = None if name is None else name.ids.get(0)
    if master is not None and not pick.once_in(4):
        steps.append(
            Unregister(
                server=server,
                cluster=lease.cluster,
                broker=lease.broker,
                address=master,
                id=0,
                conn=lease.conn,
            )
        )
    topics = sorted(name.topics) if name is not None and name.topics else ["T0"]
    steps.append(Route(server=server, topic=pick.one(topics)))
    if pick.once_in(3):
        steps += [
            MemberGroup(server=server, cluster=lease.cluster, broker=lease.broker),
            ClusterInfo(server=server),
        ]
    return tuple(steps)
