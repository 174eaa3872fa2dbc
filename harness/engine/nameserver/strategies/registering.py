"""Brokers register: new, again, with something changed, for what is taken, oddly."""

from __future__ import annotations

import msgspec

from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.strategies.choices import (
    BROKERS,
    CLUSTERS,
    FLAGS,
    a_lease,
    a_server,
    conn_of,
    slot_of,
)
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.engine.nameserver.strategies.registrations import (
    GREAT,
    again,
    new_registration,
    payload,
    slave_of,
)
from harness.program.nameserver.steps import Register


def registers(pick: Pick, state: ProgramState) -> Steps:
    """A broker that may be new."""
    server = a_server(pick, state)
    expected = state.expected[server]
    broker = pick.one(BROKERS)
    name = expected.brokers.get(broker)
    slot = BROKERS.index(broker)
    number = pick.one((0, 1, 2, 0, 1, 5)) if name is not None or pick.once_in(3) else 0
    address = f"a{slot}{pick.below(3)}"
    return (
        new_registration(
            pick,
            state,
            server=server,
            cluster=name.cluster if name is not None and not pick.once_in(8) else pick.one(CLUSTERS),
            broker=broker,
            address=address,
            id=number,
            conn=conn_of(pick, address),
        ),
    )


def registers_everywhere(pick: Pick, state: ProgramState) -> Steps:
    """One broker, at every server."""
    (step,) = registers(pick, state)
    assert isinstance(step, Register)
    return tuple(msgspec.structs.replace(step, server=server) for server in range(state.servers))


def registers_again(pick: Pick, state: ProgramState) -> Steps:
    """A broker that is there: the same, or with something changed."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    server, lease = found
    step = again(pick, state, server, lease)
    counter, timestamp, state_version = lease.version
    change = pick.below(9)
    if change == 1:
        step = msgspec.structs.replace(step, counter=counter + 1)
    elif change == 2:
        step = msgspec.structs.replace(step, counter=max(0, counter - 1))
    elif change == 3:
        step = msgspec.structs.replace(step, timestamp=timestamp + 5, topics=payload(pick))
    elif change == 4:
        step = msgspec.structs.replace(step, topics=payload(pick))
    elif change == 5 and state.has("zones"):
        step = msgspec.structs.replace(step, state=state_version + 1, topics=payload(pick))
    elif change == 6:
        step = msgspec.structs.replace(step, counter=counter + 1, topics=payload(pick))
    elif change == 7:
        step = msgspec.structs.replace(step, ha=False)
    elif change == 8:
        newer = msgspec.structs.replace(
            step, counter=pick.one((counter + 1, counter, GREAT)), timestamp=timestamp + pick.one((0, 5))
        )
        return (newer, msgspec.structs.replace(step, topics=payload(pick)))
    return (step,)


def is_promoted(pick: Pick, state: ProgramState) -> Steps:
    """A slave becomes the master; sometimes a slave and its master change places."""
    found = a_lease(pick, state, lambda lease: lease.id != 0)
    if found is None:
        found = a_lease(pick, state)
        if found is None:
            return registers(pick, state)
        server, lease = found
        return (slave_of(pick, state, server, lease),)
    server, lease = found
    expected = state.expected[server]
    promoted = again(pick, state, server, lease, id=0, counter=lease.version[0] + pick.below(2))
    master = expected.brokers[lease.broker].ids.get(0) if lease.broker in expected.brokers else None
    old = None if master is None else expected.lease(lease.cluster, master)
    if old is None or not pick.once_in(3):
        return (promoted,)
    demoted = again(pick, state, server, old, id=pick.one((lease.id, 3)))
    return (demoted, promoted) if pick.below(2) else (promoted, demoted)


def is_demoted(pick: Pick, state: ProgramState) -> Steps:
    """A broker takes another id."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    server, lease = found
    number = pick.one([n for n in (1, 2, 5, 0, 2**32 + 1) if n != lease.id])
    return (again(pick, state, server, lease, id=number, counter=lease.version[0] + pick.below(2)),)


def joins(pick: Pick, state: ProgramState) -> Steps:
    """A slave of a broker that is there."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    return (slave_of(pick, state, *found),)


def takes_an_id(pick: Pick, state: ProgramState) -> Steps:
    """Another address registers for an id that is held."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    server, lease = found
    address = f"a{slot_of(lease.broker)}{3 + pick.below(2)}"
    step = again(pick, state, server, lease, address=address, conn=conn_of(pick, address))
    step = msgspec.structs.replace(step, counter=max(0, step.counter + pick.one((0, 1, -1))))
    if not state.has("static-topics"):
        return (step,)
    before = lease.version[2]
    state_version = pick.one((before, before + 1, before - 1))
    if state_version >= 0:
        return (msgspec.structs.replace(step, state=state_version),)
    newer = again(pick, state, server, lease, state=before + 1)
    return (newer, msgspec.structs.replace(step, state=before))


def takes_an_address(pick: Pick, state: ProgramState) -> Steps:
    """Another broker name registers from an address that is taken."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    server, lease = found
    broker = pick.one([one for one in BROKERS if one != lease.broker])
    step = again(pick, state, server, lease, broker=broker)
    return (msgspec.structs.replace(step, counter=step.counter + pick.below(2)),)


def registers_oddly(pick: Pick, state: ProgramState) -> Steps:
    """A registration that is refused, or nearly."""
    made = registers(pick, state) if pick.below(2) == 0 else registers_again(pick, state)
    step = made[0]
    assert isinstance(step, Register)
    what = pick.below(10)
    if what == 0:
        return (msgspec.structs.replace(step, crc="wrong"),)
    if what == 9:
        return (msgspec.structs.replace(step, lean=True),)
    if what == 1:
        return (msgspec.structs.replace(step, form=pick.one(("garbage", "null")), topics={}, mappings={}),)
    if what == 2:
        return (msgspec.structs.replace(step, claims_compressed=not step.form.startswith("compressed")),)
    if what == 3:
        return (msgspec.structs.replace(step, form="bare", announces=pick.one((37, 10)), mappings={}),)
    if what == 4:
        topics = {topic: queues for topic, queues in step.topics.items() if topic not in FLAGS}
        version = pick.one((36, 37, 412, 413, None))
        form = pick.one(("compressed", "compressed-5"))
        return (msgspec.structs.replace(step, form=form, announces=version, topics=topics),)
    if what == 5:
        field = pick.one(("brokerName", "brokerAddr", "clusterName", "brokerId", "haServerAddr"))
        return (msgspec.structs.replace(step, drop=(field,)),)
    if what == 6:
        lone = dict(list(step.topics.items())[:1])
        return (msgspec.structs.replace(step, topics=lone, id=pick.one((1, 7, 0)), state=step.state),)
    if what == 7:
        return (msgspec.structs.replace(step, form="none", topics={}),)
    return (msgspec.structs.replace(step, announces=pick.one((37, 0, 400, 412, 2000))),)
