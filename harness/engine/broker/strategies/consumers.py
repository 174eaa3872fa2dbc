"""Queues are read, held pulls wait, offsets are committed, messages are sent back."""

from __future__ import annotations

import msgspec

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import (
    BOUNDS,
    CLIENTS,
    GROUPS,
    MOST,
    TAGS,
    any_queue,
    any_topic,
    committed,
)
from harness.engine.broker.strategies.producers import sends
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk
from harness.program.step import Time
from harness.program.steps import AnyStep
from harness.spec.broker.ledger import DELAYS


def pulls(pick: Pick, state: ProgramState) -> Steps:
    """A pull, inside its queue, at its end, or beside it."""
    topic, queue = any_queue(pick, state)
    if state.returned and pick.once_in(4):
        topic, queue = f"%RETRY%{pick.one(list(state.returned))}", 0
    count = state.stored.get((topic, queue), 0)
    offset = pick.one((0, max(0, count - 1), count, pick.below(count + 1), count + 1, count + 7, -1))
    group = pick.one(GROUPS)
    step = bk.Pull(group=group, topic=topic, queue=queue, offset=offset, most=pick.one((MOST, 1, 2, 3)))
    how = pick.below(6)
    if how == 3:
        tags = tuple(tag for tag in TAGS[1:] if tag and pick.below(2)) or ("red",)
        return (msgspec.structs.replace(step, tags=tags),)
    if how in (2, 4):
        return (msgspec.structs.replace(step, commit=pick.one((1, count, 3, 0))), committed(step))
    if how == 5:
        client = pick.one(CLIENTS)
        beat = bk.Beat(client=client, conn=f"k{client}", groups=(group,), topics=(topic,))
        return (beat, msgspec.structs.replace(step, subscribes=False))
    return (step,)


def commits_an_offset(pick: Pick, state: ProgramState) -> Steps:
    """A group commits an offset, mostly a greater one, and mostly asks for it."""
    topic, queue = any_queue(pick, state)
    group = pick.one(GROUPS)
    before = state.offsets.get((group, topic, queue), 0)
    offset = max(0, pick.one((before + 1, before + 2, before - 1, 0)))
    step = bk.Commit(group=group, topic=topic, queue=queue, offset=offset, oneway=pick.once_in(3))
    steps: list[AnyStep] = []
    if pick.once_in(8):  # of a group that is unknown, or in a topic that is not there
        where = pick.one(((topic, "g9"), ("T9", group)))
        step = bk.Commit(group=where[1], topic=where[0], queue=queue, offset=offset)
    elif (group, topic, queue) not in state.offsets:
        steps.append(bk.Beat(client="c0", conn="kc0", groups=(group,), topics=(topic,)))
    steps.append(step)
    if pick.below(2):
        steps.append(committed(step))
    return tuple(steps)


def asks_for_offsets(pick: Pick, state: ProgramState) -> Steps:
    """What a group has committed, and what a queue holds."""
    topic, queue = any_queue(pick, state)
    if state.offsets and pick.below(2):
        group, topic, queue = pick.one(list(state.offsets))
        if pick.once_in(3):
            group = pick.one(GROUPS)
        return (bk.Committed(group=group, topic=topic, queue=queue),)
    return (bk.Bound(topic=topic, queue=queue, code=pick.one(BOUNDS)),)


def sends_back(pick: Pick, state: ProgramState) -> Steps:
    """A consumer could not do with a message, or with one that had come back already."""
    plain = [
        message
        for message, send in state.messages.items()
        if not (send.half or send.level or send.after) and send.queue < state.topics.get(send.topic, 0)
    ]
    if not plain:
        return sends(pick, state)
    group = pick.one(GROUPS)
    beat = bk.Beat(client="c0", conn="kc0", groups=(group,), topics=(any_topic(pick, state),))
    message = pick.one(plain)
    step = bk.Back(
        message=message,
        topic=state.messages[message].topic,
        group=group,
        level=pick.one((1, 2, 0, 1, -1)),
        most=pick.one((16, 16, 1, 0, 2)),
    )
    if pick.below(3) < 2 or step.level < 0 or not step.most:
        return (beat, step)
    comes: Steps = (
        Time(seconds=DELAYS[(step.level or 3) - 1] + 2),
        bk.Pull(group=group, topic=f"%RETRY%{group}"),
    )
    again = msgspec.structs.replace(step, again=True, level=pick.one((0, 1, step.level)))
    return (beat, step, *comes, again, Time(seconds=12), *comes[1:])


def resets_an_offset(pick: Pick, state: ProgramState) -> Steps:
    """An administrator sets an offset back: the next pull of the group is sent there, and no commit counts
    until then. No other rule names the group: a pull of it that is held would learn of the offset, too.
    """
    topic, queue = any_queue(pick, state)
    count = state.stored.get((topic, queue), 0)
    group, offset = "g3", pick.one((0, count, max(0, count - 1)))
    beat = bk.Beat(client="c3", conn="kc3", groups=(group,), topics=(topic,))
    commit = bk.Commit(group=group, topic=topic, queue=queue, offset=count + 1)
    reset = bk.Reset(group=group, topic=topic, queue=queue, offset=offset)
    pull = bk.Pull(group=group, topic=topic, queue=queue, offset=max(0, count - 1))
    steps: list[AnyStep] = [beat, commit, reset, committed(commit)]
    if pick.once_in(3):
        steps.append(commit)
    if pick.once_in(3):
        steps.append(msgspec.structs.replace(pull, group="g0"))
    if pick.below(4) < 3:
        steps += [pull, pull]
    return (*steps, msgspec.structs.replace(commit, offset=count + 2), committed(commit))


def asks_for_all_offsets(pick: Pick, state: ProgramState) -> Steps:
    """What all groups have committed, mostly when one has gone back or has got the offsets of another."""
    topic, queue = any_queue(pick, state)
    group = pick.one(GROUPS)
    if pick.once_in(3):
        return (bk.Offsets(),)
    beat = bk.Beat(client="c0", conn="kc0", groups=GROUPS, topics=(topic,))
    steps: list[AnyStep] = [
        beat,
        *(
            bk.Commit(group=one, topic=topic, queue=queue, offset=number + 3)
            for number, one in enumerate(GROUPS)
        ),
    ]
    if pick.below(2):
        to = "g2" if pick.below(2) else next(one for one in GROUPS if one != group)
        steps.append(bk.Clone(group=group, to=to, topic=topic))
        steps.append(bk.Committed(group=to, topic=topic, queue=queue))
    else:
        steps.append(bk.Commit(group=group, topic=topic, queue=queue, offset=pick.one((1, 0))))
    return (*steps, bk.Offsets())
