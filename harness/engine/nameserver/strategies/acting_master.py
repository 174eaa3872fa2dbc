"""Slaves act as the master (5.x)."""

from __future__ import annotations

import msgspec

from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.strategies.choices import (
    a_lease,
)
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.engine.nameserver.strategies.registering import registers
from harness.engine.nameserver.strategies.registrations import slave_of
from harness.program.nameserver import steps as ns
from harness.program.steps import AnyStep


def acts_as_master(pick: Pick, state: ProgramState) -> Steps:
    """A broker name of slaves alone that announce an acting master, and a route by it (5.x)."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    server, lease = found
    expected = state.expected[server]
    name = expected.brokers.get(lease.broker)
    steps: list[AnyStep] = []
    if expected.settings.get("supportActingMaster") != "true":
        steps.append(ns.Configure(server=server, lines=("supportActingMaster=true",)))
    slave = slave_of(pick, state, server, lease)
    if slave.address == lease.address:
        return registers(pick, state)
    steps.append(msgspec.structs.replace(slave, acting=pick.one((True, True, False))))
    master = None if name is None else name.ids.get(0)
    if master is not None and not pick.once_in(4):
        steps.append(
            ns.Unregister(
                server=server,
                cluster=lease.cluster,
                broker=lease.broker,
                address=master,
                id=0,
                conn=lease.conn,
            )
        )
    topics = expected.topics_of(lease.broker) or ["T0"]
    steps.append(ns.Route(server=server, topic=pick.one(topics)))
    if pick.once_in(3):
        steps += [
            ns.MemberGroup(server=server, cluster=lease.cluster, broker=lease.broker),
            ns.ClusterInfo(server=server),
        ]
    return tuple(steps)
