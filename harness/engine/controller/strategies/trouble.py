"""Bytes travel badly, fields are missing, the server is ended."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.engine.controller.program_state import ProgramState
from harness.engine.controller.strategies.administration import asks
from harness.engine.controller.strategies.choices import ENDINGS, SOON, a_broker, applied, cluster_of, heard
from harness.engine.controller.strategies.masters import alters, demands, elects
from harness.engine.controller.strategies.replicas import applies, beats, gathers, joins, registers
from harness.engine.nameserver.strategies.pick import Maker, Pick, Steps
from harness.program.nameserver import controller_steps as ctl
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep


def leaves_out(pick: Pick, state: ProgramState) -> Steps:
    """A request lacks a field that it needs."""
    broker = a_broker(pick, state)
    cluster = cluster_of(pick, state, broker)
    lacking: Sequence[tuple[ctl.AnyRequest, Sequence[str]]] = (
        (ctl.NextId(broker=broker, cluster=cluster), ("brokerName",)),
        (applied(broker, cluster, 1), ("brokerName", "appliedBrokerId", "registerCheckCode")),
        (ctl.RegisterReplica(broker=broker, cluster=cluster), ("brokerId", "brokerAddress")),
        (heard(pick, broker, cluster, 1), ("brokerId",)),
        (ctl.ReplicaInfo(broker=broker), ("brokerName",)),
        (ctl.AlterInSync(broker=broker), ("brokerName",)),
    )
    step, fields = pick.one(lacking)
    return (msgspec.structs.replace(step, drop=(pick.one(fields),)), ctl.SyncStateData(brokers=(broker,)))


def fails(pick: Pick, state: ProgramState) -> Steps:
    """Any request, with something wrong about how its bytes travel."""
    step = pick.one(_FAULTY)(pick, state)[0]
    if not isinstance(step, ctl.ControllerRequest):
        step = ctl.Controllers()
    what = pick.below(5)
    if what == 0:
        cuts = tuple(pick.one((4, 1, 8, -1, 21, 60)) for _ in range(1 + pick.below(3)))
        return (msgspec.structs.replace(step, cuts=cuts),)
    if what == 1:
        return (msgspec.structs.replace(step, cuts=(pick.one((4, 1, 8, -1, 60)),), stall=pick.one((1, 3))),)
    if what == 2:
        return (msgspec.structs.replace(step, broken=pick.one((-1, 4, 0, 9, 100_000)), oneway=False),)
    if what == 3:
        return (msgspec.structs.replace(step, oneway=True), Time(seconds=SOON))
    # Of two registrations that come together, 5.5.0 may tell the second one the address before the first.
    if isinstance(step, ctl.Elect | ctl.AlterInSync | ctl.CleanReplicas | ctl.RegisterReplica):
        return (msgspec.structs.replace(step, binary=True),)
    return (msgspec.structs.replace(step, twice=True),)


_FAULTY: tuple[Maker, ...] = (asks, applies, registers, beats, elects, alters)


def restarts(pick: Pick, state: ProgramState) -> Steps:
    """The server is killed, or asked to stop, and started again, mostly right behind a change; then replicas
    are heard, and masters that are gone are replaced.
    """
    steps: list[AnyStep] = list(pick.one(_BEFORE)(pick, state)) if pick.below(3) else []
    steps.append(Restart(how=pick.one(ENDINGS)))
    broker = a_broker(pick, state)
    looks: tuple[AnyStep, ...] = (
        ctl.ReplicaInfo(broker=broker),
        ctl.SyncStateData(brokers=(broker,)),
        ctl.NextId(broker=broker),
    )
    steps.append(pick.one(looks))
    of_name = state.names.get(broker)
    if of_name is not None and of_name.members and pick.below(2):
        steps += [heard(pick, broker, of_name.cluster, one) for one in list(of_name.members)[-2:]]
        steps += [Time(seconds=5), ctl.ReplicaInfo(broker=broker)]
    return tuple(steps)


_BEFORE: tuple[Maker, ...] = (alters, elects, registers, joins, demands, gathers)
