"""Messages are wanted for their properties: pulls, groups and pops have filters by SQL92."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import GROUPS, MOST, allowing, any_queue, any_said, new_messages
from harness.engine.broker.strategies.expressions import any_filter, odd_filter
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk
from harness.program.broker.filters import Compare, Empty, Filter, Unreadable
from harness.program.broker.optional_steps import Allow, Check, Pop
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep

_ENDINGS: tuple[Literal["kill", "term"], ...] = ("term", "kill")


def _messages(pick: Pick, state: ProgramState, count: int) -> list[bk.Send]:
    """Messages with properties for a queue."""
    return [msgspec.structs.replace(one, said=any_said(pick)) for one in new_messages(pick, state, count)]


def filters_a_queue(pick: Pick, state: ProgramState) -> Steps:
    """Messages with properties come, and pulls bring filters: from any offset, for a few messages or all."""
    sends = _messages(pick, state, 1 + pick.below(4))
    count = state.stored.get((sends[0].topic, sends[0].queue), 0) + len(sends)
    pulls = [
        bk.Pull(
            topic=sends[0].topic,
            queue=sends[0].queue,
            offset=pick.one((0, 0, count - 1, count)),
            most=pick.one((MOST, MOST, 1, 2)),
            filter=odd_filter(pick, state),
        )
        for _ in range(1 + pick.below(3))
    ]
    return (*allowing("filters", state), *sends, *pulls)


def _says(group: str, topic: str, one: Filter, version: int, client: str = "c0") -> list[AnyStep]:
    """A member says what its group wants of a topic, and of another one, and has it checked before."""
    beat = bk.Beat(
        client=client, conn=f"k{client}", groups=(group,), topics=("T9", topic), filter=one, version=version
    )
    return [Check(conn=beat.conn, filter=one), beat]


def filters_for_a_group(pick: Pick, state: ProgramState) -> Steps:
    """A heartbeat says what a group wants, and a pull leaves it to that."""
    on = allowing("filters", state)
    send, *_ = sends = _messages(pick, state, 1 + pick.below(3))
    group, version = pick.one(GROUPS), pick.one((1, 2, 3, 4))
    pull = bk.Pull(group=group, topic=send.topic, queue=send.queue, subscribes=False, version=version)
    steps = [
        *on,
        *sends,
        *_says(group, send.topic, odd_filter(pick, state), version),
        pull,
    ]
    if pick.once_in(3):
        steps.append(msgspec.structs.replace(pull, version=pick.one((1, version + 1))))
    return tuple(steps)


def changes_the_filter_of_a_group(pick: Pick, state: ProgramState) -> Steps:
    """A group says another filter, or the same, or none, of a version that counts or not; sometimes it was
    away, or the Broker is started again meanwhile.
    """
    send, *_ = sends = _messages(pick, state, 2)
    topic, group, version = send.topic, pick.one((*GROUPS, "g4")), pick.one((2, 3, 5))
    later = max(1, version + pick.one((1, 0, -1)))
    first = any_filter(pick, state)
    second = pick.one((odd_filter(pick, state), odd_filter(pick, state), first, Empty()))
    pull = bk.Pull(group=group, topic=topic, queue=send.queue, subscribes=False, version=1)
    steps = [*allowing("filters", state), *sends, *_says(group, topic, first, version), pull]
    how = pick.below(6)
    if how == 1:
        steps.append(bk.Leave(client="c0", conn="kc0", group=group))
    if how == 2:
        other = bk.Beat(client="c0", conn="kc0", groups=(group,), topics=("T9",), filter=first, version=later)
        steps += [other, pull]
    if how == 3:
        steps += [Restart(how=pick.one(_ENDINGS)), Allow()]
    if how == 4:
        steps += [Time(seconds=30), Restart(how=pick.one(_ENDINGS)), Allow()]
    steps += [*_says(group, topic, second, later), pull, msgspec.structs.replace(pull, version=later)]
    if how == 5:
        leave = bk.Leave(client="c0", conn="kc0", group=group)
        steps += [leave, *_says(group, topic, any_filter(pick, state), max(1, later - 1)), pull]
    return tuple(steps)


def waits_for_what_passes(pick: Pick, state: ProgramState) -> Steps:
    """A pull with a filter is held: what comes does not pass, and then something does, or nothing does."""
    on = allowing("filters", state)
    send, wanted = _messages(pick, state, 2)
    send = msgspec.structs.replace(send, said=pick.one(((("a", "4"),), (), (("b", "7"),))))
    wanted = msgspec.structs.replace(wanted, said=(("a", "6"),))
    pull = bk.Pull(
        conn="h0",
        group=pick.one(GROUPS),
        topic=send.topic,
        queue=send.queue,
        offset=state.stored.get((send.topic, send.queue), 0),
        filter=Compare("a", ">", 5),
        suspend=15,
        awaited=False,
    )
    how = pick.below(3)
    if how == 0:
        return (
            *on,
            pull,
            msgspec.structs.replace(wanted, message=send.message),
            Time(seconds=1),
        )
    if how == 1:
        return (*on, pull, send, Time(seconds=1), wanted, Time(seconds=1))
    return (
        *on,
        pull,
        send,
        Time(seconds=8),
        bk.Bound(topic=send.topic, queue=send.queue),
    )


def refuses_filters(pick: Pick, state: ProgramState) -> Steps:
    """Where filters are off, pulls with one are refused, and others are not; what groups say is kept."""
    topic, queue = any_queue(pick, state)
    one, group = odd_filter(pick, state), pick.one(GROUPS)
    steps: list[AnyStep] = [Allow(allowed=False)]
    if pick.below(2):
        steps.append(bk.Pull(topic=topic, queue=queue, filter=one))
    else:
        steps += _says(group, topic, one, 6, "c1")
        steps.append(bk.Pull(group=group, topic=topic, queue=queue, subscribes=False, version=1))
    steps += [bk.Pull(topic=topic, queue=queue), Allow()]
    return (*steps, Check(filter=pick.one((one, Unreadable()))))


def pops(pick: Pick, state: ProgramState) -> Steps:
    """A group that never consumed pops what passes a filter, and then all that is left; mostly another group
    pops, too.
    """
    if state.is_slave:
        return filters_a_queue(pick, state)
    sends = _messages(pick, state, 1 + pick.below(3))
    pop = Pop(
        group=f"h{state.pops}",
        topic=sends[0].topic,
        queue=sends[0].queue,
        most=pick.one((MOST, MOST, 1, 2)),
        filter=odd_filter(pick, state),
    )
    steps: list[AnyStep] = [*sends, pop]
    if pick.below(2):
        steps.append(msgspec.structs.replace(pop, filter=None))
    if pick.below(2):
        steps.append(msgspec.structs.replace(pop, group=f"i{state.pops}", filter=None))
    return tuple(steps)
