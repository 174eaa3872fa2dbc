"""Pulls that are held, and what ends their waits."""

from __future__ import annotations

import msgspec

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import GROUPS, TAGS, new_message
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk
from harness.program.step import Close, Time
from harness.program.steps import AnyStep


def _held(pick: Pick, state: ProgramState, send: bk.Send, conn: str) -> bk.Pull:
    """A pull at the end of the queue of a message that comes."""
    return bk.Pull(
        conn=conn,
        group=pick.one(GROUPS),
        topic=send.topic,
        queue=send.queue,
        offset=state.stored.get((send.topic, send.queue), 0),
        suspend=pick.one((5, 2, 15, 30)),
        awaited=False,
    )


def waits_for_a_message(pick: Pick, state: ProgramState) -> Steps:
    """A pull at the end of a queue is held, and mostly a message comes."""
    send = new_message(pick, state)
    pull = _held(pick, state, send, f"h{pick.below(2)}")
    if pick.once_in(4):
        return (pull, Time(seconds=pick.one((3, 8, 21))), bk.Bound(topic=send.topic, queue=send.queue))
    if pick.once_in(3):
        return (pull, Time(seconds=1), send)
    return (pull, send)


def several_wait(pick: Pick, state: ProgramState) -> Steps:
    """Two pulls are held for a queue, and of one of them sometimes the connection ends; then a message comes,
    alone or in a batch, there or beside it.
    """
    send = msgspec.structs.replace(new_message(pick, state), long=False)
    first, second = _held(pick, state, send, "h0"), _held(pick, state, send, "h1")
    how = pick.below(6)
    if how == 1:
        first = msgspec.structs.replace(first, tags=(pick.one([tag for tag in TAGS if tag]),))
    steps: list[AnyStep] = [first, second]
    if how == 2:
        steps.append(Close(conn="h0"))
    if how == 3:
        others = [key for key in state.queues() if key != (send.topic, send.queue)]
        if others:
            topic, queue = pick.one(others)
            beside = bk.Send(message=state.symbol(), topic=topic, queue=queue)
            return (*steps, beside, Time(seconds=1), msgspec.structs.replace(send, message=state.symbol(1)))
    if how == 4:
        send = msgspec.structs.replace(send, more=(state.symbol(1),))
    steps += [send, Time(seconds=pick.one((1, 6)))]
    return (*steps, bk.Bound(topic=send.topic, queue=send.queue))


def waits_for_a_tag(pick: Pick, state: ProgramState) -> Steps:
    """A pull that wants a tag is held: what comes has none, and then one has it."""
    send = msgspec.structs.replace(new_message(pick, state), tag=pick.one((None, "red")), long=False)
    wanted = msgspec.structs.replace(send, message=state.symbol(1), tag="green")
    pull = msgspec.structs.replace(_held(pick, state, send, "h0"), tags=("green", "BB"), suspend=15)
    if pick.once_in(3):
        return (pull, send, Time(seconds=8), bk.Bound(topic=send.topic, queue=send.queue))
    return (pull, send, Time(seconds=1), wanted, Time(seconds=1))


def waits_for_what_is_late(pick: Pick, state: ProgramState) -> Steps:
    """What a held pull waits for is no send: a delay that is over, a commit, a message that comes back."""
    send = msgspec.structs.replace(new_message(pick, state), long=False)
    how = pick.below(3)
    pull = msgspec.structs.replace(_held(pick, state, send, "h0"), suspend=30)
    if how == 0:
        delayed = msgspec.structs.replace(send, level=pick.one((1, 2)))
        return (delayed, pull, Time(seconds=9), bk.Bound(topic=send.topic, queue=send.queue), Time(seconds=1))
    if how == 1:
        half = msgspec.structs.replace(send, half=True)
        return (half, pull, Time(seconds=1), bk.End(message=half.message), Time(seconds=1))
    beat = bk.Beat(client="c0", conn="kc0", groups=(pull.group,), topics=(send.topic,))
    offset = state.returned.get(pull.group, 0)
    of_retries = msgspec.structs.replace(pull, topic=f"%RETRY%{pull.group}", queue=0, offset=offset)
    back = bk.Back(message=send.message, topic=send.topic, group=pull.group, level=1)
    return (beat, send, of_retries, back, Time(seconds=4), bk.Bound(topic=send.topic, queue=send.queue))


def commits_while_it_waits(pick: Pick, state: ProgramState) -> Steps:
    """A held pull commits when it comes, and not once more when its wait ends."""
    send = new_message(pick, state)
    pull = msgspec.structs.replace(_held(pick, state, send, "h0"), commit=1, suspend=pick.one((5, 15)))
    commit = bk.Commit(group=pull.group, topic=pull.topic, queue=pull.queue, offset=2)
    asked = bk.Committed(group=pull.group, topic=pull.topic, queue=pull.queue)
    beat = bk.Beat(client="c0", conn="kc0", groups=(pull.group,), topics=(pull.topic,))
    ends: Steps = (send,) if pick.below(2) else (Time(seconds=12),)
    return (beat, pull, Time(seconds=1), commit, *ends, asked)
