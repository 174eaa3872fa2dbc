"""Clients join and leave groups, take their subscriptions along, and lock queues."""

from __future__ import annotations

from typing import Literal

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import CLIENTS, GROUPS, HOWS, TOPICS, any_queue, any_topic
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk
from harness.program.step import Close, Time
from harness.program.steps import AnyStep

_LEASE = 120
"""Seconds for which a client is a member from its last heartbeat on."""
_SCAN = 12
"""Seconds within which a Broker notices surely that one has run out."""


def _beat(pick: Pick, state: ProgramState, client: str) -> bk.Beat:
    """A heartbeat of a client, with subscriptions to one topic or to several, of this version or another."""
    topics: tuple[str, ...] = (any_topic(pick, state),)
    if pick.once_in(3):
        topics = TOPICS[: 2 + pick.below(2)]
    return bk.Beat(
        client=client,
        conn=f"k{client}",
        groups=pick.one(((GROUPS[0],), (GROUPS[1],), GROUPS)),
        topics=topics,
        tags=pick.one(((), (), ("red",), ("green", "Aa"))),
        version=pick.one((1, 2, 1, 3)),
    )


def joins(pick: Pick, state: ProgramState) -> Steps:
    """A client says which groups it is in, or says so again; mostly their members are looked at."""
    beat = _beat(pick, state, pick.one(CLIENTS))
    return (beat, bk.Members(group=beat.groups[0])) if pick.below(2) else (beat,)


def gathers(pick: Pick, state: ProgramState) -> Steps:
    """A group has several members: one of them leaves, or none does, and the others hear of it or do not."""
    first, second = pick.one(CLIENTS), pick.one(CLIENTS)
    beat, other = _beat(pick, state, first), _beat(pick, state, second)
    steps: list[AnyStep] = [beat, other]
    how = pick.below(4)
    if how == 0:
        steps.append(bk.Leave(client=second, conn=other.conn, group=other.groups[0]))
    elif how == 1:
        steps.append(Close(conn=other.conn, how=pick.one(HOWS)))
    elif how == 2:
        steps.append(other)
    return (*steps, bk.Members(conn=beat.conn, group=pick.one(other.groups)))


def outlives_its_heartbeat(pick: Pick, state: ProgramState) -> Steps:
    """A client sends no more heartbeats, or sends one in time; then its group is looked at."""
    client = pick.one(CLIENTS)
    beat = _beat(pick, state, client)
    look = bk.Members(group=beat.groups[-1])
    how = pick.below(3)
    if how == 0:
        return (beat, Time(seconds=_LEASE + _SCAN), look)
    if how == 1:
        return (beat, Time(seconds=_LEASE - 5), look)
    return (beat, Time(seconds=80), beat, Time(seconds=80), look)


def pulls_as_a_member(pick: Pick, state: ProgramState) -> Steps:
    """A pull for which heartbeats say what its group wants, or do not."""
    topic, queue = any_queue(pick, state)
    group = pick.one(GROUPS)
    version = pick.one((1, 1, 2, 4))
    pull = bk.Pull(group=group, topic=topic, queue=queue, subscribes=False, version=version)
    if pick.once_in(3):
        return (pull,)
    return (_beat(pick, state, pick.one(CLIENTS)), pull)


def leaves(pick: Pick, state: ProgramState) -> Steps:
    """A client leaves a group, as it says or because its connection ends."""
    if not state.beats:
        return joins(pick, state)
    client = pick.one(list(state.beats))
    beat = state.beats[client]
    group = pick.one(list(beat.groups) or ["g0"])
    if pick.once_in(3):
        return (Close(conn=beat.conn, how=pick.one(HOWS)), bk.Members(group=group))
    producer = "p0" if pick.once_in(4) else None
    return (bk.Leave(client=client, conn=beat.conn, group=group, producer=producer), bk.Members(group=group))


def locks(pick: Pick, state: ProgramState) -> Steps:
    """A client locks queues, or gives them up; sometimes another one has them."""
    group, topic = pick.one(GROUPS), any_topic(pick, state)
    client = pick.one(CLIENTS)
    codes: tuple[Literal[41, 42], ...] = (41, 41, 41, 42)
    queues = pick.one(((0,), (0, 1), (1,)))
    holder = state.locks.get((group, topic))
    code = pick.one(codes)
    if code == 42 and holder is not None and pick.below(4) < 3:
        client = holder
    first = bk.Lock(client=client, group=group, topic=topic, queues=queues, code=code)
    if pick.below(2):
        return (first,)
    other = bk.Lock(client=pick.one(CLIENTS), group=group, topic=topic, queues=queues)
    return (first, Time(seconds=62), other) if pick.once_in(4) else (first, other)


def renews_a_lock(pick: Pick, state: ProgramState) -> Steps:
    """A client holds a lock for longer than a minute, because it renews it, and another one wants it."""
    group, topic, queues = pick.one(GROUPS), any_topic(pick, state), pick.one(((0, 1), (0,), (1, 2)))
    client, other = pick.one((("c0", "c1"), ("c1", "c2"), ("c2", "c0")))
    lock = bk.Lock(client=client, group=group, topic=topic, queues=queues)
    wanted = bk.Lock(client=other, group=group, topic=topic, queues=pick.one((queues, queues[-1:], (2, 0))))
    how = pick.below(6)
    if how == 0:
        return (lock, Time(seconds=40), lock, Time(seconds=40), wanted)
    if how == 1:
        return (lock, Time(seconds=40), wanted, Time(seconds=22), wanted)
    if how == 2:
        return (lock, Time(seconds=58), wanted, Time(seconds=4), wanted, lock)
    if how == 3:
        return (lock, bk.Lock(client=other, group=group, topic=topic, queues=queues, code=42), wanted)
    if how == 4:
        part = bk.Lock(client=client, group=group, topic=topic, queues=queues[:1], code=42)
        return (lock, part, wanted, lock)
    return (lock, bk.Lock(client=other, group="g1" if group == "g0" else "g0", topic=topic, queues=queues))
