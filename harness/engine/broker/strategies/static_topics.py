"""Static topics (5.x): mappings are made and changed, and mapped queues are used."""

from __future__ import annotations

import msgspec

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import ENDINGS, GROUPS, MOST, new_message
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk
from harness.program.broker.static_steps import BEGINS, MapTopic, Search
from harness.program.step import Restart
from harness.program.steps import AnyStep

_TOPICS = ("S0", "S1")
_QUEUES = ((4, 2), (3,), (1, 5, 0))
"""Of mappings. None is all of the queues that a Broker has, by their own numbers."""


def maps_a_topic(pick: Pick, state: ProgramState) -> Steps:
    """A static topic comes into being, and gets a message in a mapped queue, or in one that is not mapped."""
    topic = pick.one(_TOPICS)
    if topic in state.static or topic in state.dropped:
        return uses_mapped_queues(pick, state)
    made = MapTopic(topic=topic, queues=pick.one(_QUEUES))
    queue = pick.one((*made.queues, *made.queues, 7))
    return (made, _message(pick, state, topic, queue), bk.Pull(topic=topic, queue=queue))


def changes_a_mapping(pick: Pick, state: ProgramState) -> Steps:
    """A mapped queue goes on in another queue of the Broker, or at another Broker; or an older mapping is
    put, which is refused. Then the queue is used.
    """
    found = _any(pick, state)
    if found is None:
        return maps_a_topic(pick, state)
    topic, known = found
    queue = pick.one(known.queues)
    changed = msgspec.structs.replace(known, epoch=known.epoch + 1)
    how = pick.below(4)
    if how == 0:
        changed = msgspec.structs.replace(known, epoch=known.epoch - 1, gone=known.queues)
    elif how == 1 and len(known.queues) > 1:
        changed = msgspec.structs.replace(changed, gone=_with(known.gone, queue))
    else:
        changed = msgspec.structs.replace(changed, goes_on=_with(known.goes_on, queue))
    steps: list[AnyStep] = [changed, _message(pick, state, topic, queue)]
    if pick.once_in(4):
        steps.append(Restart(how=pick.one(ENDINGS)))
    offset = pick.one((BEGINS[1], state.stored.get((topic, queue), 0)))
    return (*steps, bk.Pull(topic=topic, queue=queue, offset=offset), bk.Bound(topic=topic, queue=queue))


def uses_mapped_queues(pick: Pick, state: ProgramState) -> Steps:
    """Messages are sent to a mapped queue, or to any, and pulled; offsets are asked for and committed.
    Sometimes the queue is not mapped.
    """
    found = _any(pick, state)
    if found is None:
        return maps_a_topic(pick, state)
    topic, known = found
    queue = pick.one((*known.queues, *known.queues, 7))
    count = state.stored.get((topic, queue), 0)
    how = pick.below(5)
    if how == 0:
        more = (state.symbol(1), state.symbol(2))[: pick.below(3)]
        send = _message(pick, state, topic, queue)
        return (msgspec.structs.replace(send, more=more, long=send.long and not more),)
    if how == 1:
        first = _message(pick, state, topic, -1)
        second = msgspec.structs.replace(first, message=state.symbol(1), queue=queue, awaited=True)
        return (msgspec.structs.replace(first, awaited=bool(pick.below(2))), second)
    if how == 2:
        group, offset = pick.one(GROUPS), pick.one((1, count, BEGINS[1] + 1))
        beat = bk.Beat(client="c0", conn="kc0", groups=(group,), topics=(topic,))
        commit = bk.Commit(group=group, topic=topic, queue=queue, offset=offset)
        asked = bk.Committed(group=pick.one(GROUPS), topic=topic, queue=queue)
        return (beat, commit, asked)
    if how == 3:
        looks: tuple[AnyStep, ...] = (
            bk.Bound(topic=topic, queue=queue, code=30),
            bk.Bound(topic=topic, queue=queue, code=31),
            Search(topic=topic, queue=queue),
        )
        return (pick.one(looks),)
    offset = pick.one((0, max(0, count - 1), count, count + 3, BEGINS[1], BEGINS[1] + 1))
    return (bk.Pull(topic=topic, queue=queue, offset=offset, most=pick.one((MOST, 2))),)


def _any(pick: Pick, state: ProgramState) -> tuple[str, MapTopic] | None:
    return pick.one(list(state.static.items())) if state.static else None


def _message(pick: Pick, state: ProgramState, topic: str, queue: int) -> bk.Send:
    return msgspec.structs.replace(new_message(pick, state), topic=topic, queue=queue)


def _with(numbers: tuple[int, ...], number: int) -> tuple[int, ...]:
    return tuple(sorted({*numbers, number}))
