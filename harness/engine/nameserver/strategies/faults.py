"""Connections end, servers are restarted, bytes travel badly."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.strategies.choices import (
    a_lease,
    a_server,
)
from harness.engine.nameserver.strategies.leases import asks_for_versions
from harness.engine.nameserver.strategies.pick import Maker, Pick, Steps
from harness.engine.nameserver.strategies.queries import asks_for_a_route, asks_for_brokers
from harness.engine.nameserver.strategies.registering import registers, registers_again
from harness.engine.nameserver.strategies.registrations import again
from harness.engine.nameserver.strategies.state_changes import keeps_pairs
from harness.engine.nameserver.strategies.unregister import unregisters
from harness.program.nameserver.steps import AnyRequest, Configure, Kv, Route
from harness.program.step import Close, Reconnect, Restart
from harness.program.steps import AnyStep

_ENDINGS: tuple[Literal["kill", "term"], ...] = ("kill", "term")
_GET_AND_LIST: tuple[Literal[101, 219], ...] = (101, 219)
_HOWS: tuple[Literal["fin", "reset", "half"], ...] = ("fin", "reset", "half")


def closes(pick: Pick, state: ProgramState) -> Steps:
    """A connection ends, a broker's mostly; an old one that was replaced ends late."""
    how = pick.one(_HOWS)
    if state.replaced and pick.below(3) < 2:
        server, conn = pick.one(list(state.replaced))
        return (Close(server=server, conn=conn, how=how),)
    found = a_lease(pick, state)
    if found is None:
        return (Close(server=a_server(pick, state), how=how),)
    server, lease = found
    return (Close(server=server, conn=lease.conn, how=how),)


def reconnects(pick: Pick, state: ProgramState) -> Steps:
    """A broker is back on a new connection before its old one is seen to end."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    server, lease = found
    steps: list[AnyStep] = [Reconnect(server=server, conn=lease.conn, old=f"{lease.conn}-old")]
    if pick.below(4) < 3:
        steps.append(again(pick, state, server, lease))
        if pick.below(2):
            steps.append(Close(server=server, conn=f"{lease.conn}-old", how=pick.one(_HOWS[:2])))
    return tuple(steps)


def restarts(pick: Pick, state: ProgramState) -> Steps:
    """A server is killed, or asked to stop, and started again; sometimes it has just been given pairs."""
    server = a_server(pick, state)
    how = pick.one(_ENDINGS)
    if pick.below(2) == 0:
        return (Restart(server=server, how=how),)
    put = Kv(server=server, code=100, namespace="n0", key="x")
    changes = (put, msgspec.structs.replace(put, value="w"), msgspec.structs.replace(put, code=102))
    asked = msgspec.structs.replace(put, code=pick.one(_GET_AND_LIST))
    return (*changes[: 1 + pick.below(3)], Restart(server=server, how=how), asked)


def fails(pick: Pick, state: ProgramState) -> Steps:
    """Any request, with something wrong about how its bytes travel."""
    step = _request(pick, state)
    what = pick.below(6)
    if what == 0:
        cuts = tuple(pick.one((4, 1, 8, -1, 21, 60)) for _ in range(1 + pick.below(3)))
        return (msgspec.structs.replace(step, cuts=cuts),)
    if what == 1:
        cuts = (pick.one((4, 1, 8, -1, 60)),)
        return (msgspec.structs.replace(step, cuts=cuts, stall=pick.one((1, 3, 30))),)
    if what == 2:
        other = _request(pick, state)
        other = msgspec.structs.replace(other, server=step.server, conn=step.conn, awaited=True)
        return (msgspec.structs.replace(step, held=True, awaited=True), other)
    if what == 3:
        return (msgspec.structs.replace(step, twice=True),)
    if what == 4:
        return (msgspec.structs.replace(step, broken=pick.one((-1, 4, 0, 9, 100_000)), oneway=False),)
    cuts = tuple(range(1, 24))
    return (msgspec.structs.replace(step, cuts=cuts),)


def _request(pick: Pick, state: ProgramState) -> AnyRequest:
    step = pick.one(_FAULTY)(pick, state)[0]
    # A setting that may or may not have been changed could not be restored.
    return step if isinstance(step, AnyRequest) and not isinstance(step, Configure) else Route()


_FAULTY: tuple[Maker, ...] = (
    registers,
    registers_again,
    asks_for_brokers,
    asks_for_a_route,
    unregisters,
    asks_for_versions,
    keeps_pairs,
)
