"""Time passes, connections end, roles change, the Broker is ended."""

from __future__ import annotations

import msgspec

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import (
    ENDINGS,
    HOWS,
    SOON,
    VERDICTS,
    any_queue,
    new_message,
)
from harness.engine.broker.strategies.consumers import (
    asks_for_offsets,
    commits_an_offset,
    pulls,
    sends_back,
)
from harness.engine.broker.strategies.groups import locks
from harness.engine.broker.strategies.producers import sends, sends_a_batch, sends_delayed, sends_several
from harness.engine.broker.strategies.topics import makes_a_topic
from harness.engine.broker.strategies.transactions import begins_a_transaction, ends_a_transaction
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk
from harness.program.broker.any_request import AnyRequest
from harness.program.step import Close, Restart, Time
from harness.program.steps import AnyStep


def waits(pick: Pick, state: ProgramState) -> Steps:
    """Time passes: until shortly before or behind the end of a delay, or of a lock."""
    next_ = state.waiting[0] if state.waiting else 10
    seconds = pick.one((1, next_ + 3, next_ - 1, next_, 5, 62, 20))
    steps: list[AnyStep] = [Time(seconds=max(1, seconds))]
    if pick.below(2):
        topic, queue = any_queue(pick, state)
        steps.append(bk.Pull(topic=topic, queue=queue))
    return tuple(steps)


def closes(pick: Pick, state: ProgramState) -> Steps:
    """A connection ends, sometimes right behind a one-way message."""
    if pick.below(2):
        return (Close(conn=pick.one(("q", "h0", "kc0")), how=pick.one(HOWS)),)
    send = msgspec.structs.replace(new_message(pick, state), oneway=True)
    return (send, Close(conn="q", how=pick.one(HOWS)))


def switches(pick: Pick, state: ProgramState) -> Steps:
    """A Broker that is a master becomes a slave, mostly for one thing that is asked of it; a slave becomes a
    master.
    """
    topic, queue = any_queue(pick, state)
    looks: list[AnyStep] = [bk.Pull(topic=topic, queue=queue), bk.Bound(topic=topic, queue=queue)]
    looks += [bk.Committed(group=group, topic=of, queue=at) for group, of, at in [*state.offsets][-1:]]
    back: Steps = (bk.Switch(role="master"), pick.one(looks))
    if state.is_slave:
        return back
    how = pick.below(8)
    if how == 7:
        return (bk.Switch(role="slave"),)
    if how in (5, 6):
        return (_half_on_a_slave, _delayed_on_a_slave)[how - 5](pick, state)
    steps = pick.one(_ON_A_SLAVE)(pick, state)
    if how < 3:
        return (bk.Switch(role="slave"), *steps, *back)
    used = sum(len(step.messages) for step in steps if isinstance(step, bk.Send))
    other = msgspec.structs.replace(new_message(pick, state), message=state.symbol(used))
    return (bk.Switch(role="slave"), *steps, bk.Switch(role="master"), other, back[-1])


def _half_on_a_slave(pick: Pick, state: ProgramState) -> Steps:
    """A transaction that a slave is to end, and then a master."""
    send = msgspec.structs.replace(new_message(pick, state), half=True)
    end = bk.End(message=send.message, verdict=pick.one(VERDICTS), group=send.group)
    again = msgspec.structs.replace(end, verdict=8)
    look_at = bk.Pull(topic=send.topic, queue=send.queue)
    return (send, bk.Switch(role="slave"), end, bk.Switch(role="master"), again, look_at)


def _delayed_on_a_slave(pick: Pick, state: ProgramState) -> Steps:
    """A delay that is over while the Broker is a slave."""
    send = msgspec.structs.replace(new_message(pick, state), long=False, level=1)
    bound, pull = bk.Bound(topic=send.topic, queue=send.queue), bk.Pull(topic=send.topic, queue=send.queue)
    over, delivered = Time(seconds=4), Time(seconds=SOON)
    return (send, bk.Switch(role="slave"), over, bound, bk.Switch(role="master"), delivered, pull)


def restarts(pick: Pick, state: ProgramState) -> Steps:
    """The Broker is killed, or asked to stop, and started again, mostly right behind something; as a slave
    sometimes, and then it becomes a master again.
    """
    how = pick.one(ENDINGS)
    steps: list[AnyStep] = []
    if pick.below(3):
        steps += pick.one(_BEFORE)(pick, state)
    as_slave = pick.once_in(6)
    if as_slave:
        steps.append(bk.Switch(role="slave"))
    steps.append(Restart(how=how))
    if as_slave or state.is_slave:
        steps.append(bk.Switch(role="master"))
    topic, queue = any_queue(pick, state)
    look_at: tuple[AnyStep, ...] = (bk.Pull(topic=topic, queue=queue), bk.Bound(topic=topic, queue=queue))
    return (*steps, pick.one(look_at))


_BEFORE = (sends, commits_an_offset, sends_delayed, begins_a_transaction, sends_back)
_ON_A_SLAVE = (
    sends,
    sends_several,
    pulls,
    ends_a_transaction,
    sends_back,
    makes_a_topic,
    commits_an_offset,
    locks,
    waits,
)


def fails(pick: Pick, state: ProgramState) -> Steps:
    """Any request, with something wrong about how its bytes travel."""
    step = _request(pick, state)
    what = pick.below(4)
    if what == 0:
        cuts = tuple(pick.one((4, 1, 8, -1, 21, 60)) for _ in range(1 + pick.below(3)))
        return (msgspec.structs.replace(step, cuts=cuts),)
    if what == 1:
        return (msgspec.structs.replace(step, cuts=(pick.one((4, 1, 8, -1, 60)),), stall=1),)
    if what == 2:
        return (msgspec.structs.replace(step, broken=pick.one((100_000, -1, 4, 0)), oneway=False),)
    other = msgspec.structs.replace(_request(pick, state), conn=step.conn, awaited=True)
    if isinstance(step, bk.Send) and isinstance(other, bk.Send):
        other = msgspec.structs.replace(other, message=state.symbol(len(step.messages)), more=())
    return (msgspec.structs.replace(step, held=True, awaited=True), other)


def _request(pick: Pick, state: ProgramState) -> AnyRequest:
    step = pick.one(_FAULTY)(pick, state)[0]
    return step if isinstance(step, bk.BrokerRequest) else bk.Bound()


_FAULTY = (
    sends,
    commits_an_offset,
    asks_for_offsets,
    pulls,
    ends_a_transaction,
    sends_delayed,
    sends_a_batch,
)
