"""Messages are sent, in every way in which one can be."""

from __future__ import annotations

import msgspec

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import LEVELS, TOPICS, new_message
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk
from harness.program.step import Restart, Time
from harness.spec.broker.ledger import DELAYS


def sends(pick: Pick, state: ProgramState) -> Steps:
    """A message, in one of the ways in which one can be sent."""
    step = new_message(pick, state)
    how = pick.below(8)
    if how == 5:
        return (msgspec.structs.replace(step, oneway=True),)
    if how == 6:
        return (msgspec.structs.replace(step, queue=-1),)
    if how == 7:
        return (msgspec.structs.replace(step, topic=pick.one(TOPICS), queue=pick.one((0, 3, 9))),)
    return (step,)


def sends_several(pick: Pick, state: ProgramState) -> Steps:
    """Several messages, mostly into one queue, some of them without waiting for answers."""
    first = new_message(pick, state)
    awaited = not pick.once_in(4)
    steps = [msgspec.structs.replace(first, awaited=awaited)]
    for number in range(1, 2 + pick.below(4)):
        other = new_message(pick, state)
        if pick.below(4) < 3:
            other = msgspec.structs.replace(other, topic=first.topic, queue=first.queue)
        steps.append(msgspec.structs.replace(other, message=state.symbol(number), awaited=awaited))
    return tuple(steps)


def sends_a_batch(pick: Pick, state: ProgramState) -> Steps:
    """Two or three messages at once."""
    more = tuple(state.symbol(1 + number) for number in range(1 + pick.below(2)))
    return (msgspec.structs.replace(new_message(pick, state), more=more, long=False),)


def sends_delayed(pick: Pick, state: ProgramState) -> Steps:
    """A message that waits, by its level or by 5.x's timers; sometimes it is looked for shortly before its
    time.
    """
    step = msgspec.structs.replace(new_message(pick, state), long=False)
    if state.has("delayed-messages") and pick.once_in(4):
        return (msgspec.structs.replace(step, after=pick.one((2, 4, 9))),)
    step = msgspec.structs.replace(step, level=pick.one(LEVELS))
    if step.level in (2, 3) and pick.below(2):
        return (step, Time(seconds=DELAYS[step.level - 1] - 1), bk.Bound(topic=step.topic, queue=step.queue))
    return (step,)


def sends_delays_in_order(pick: Pick, state: ProgramState) -> Steps:
    """Several messages wait at once in a queue, for equal delays or for different ones; sometimes the Broker
    is ended in between.
    """
    first = msgspec.structs.replace(new_message(pick, state), long=False, level=pick.one((1, 2)))
    second = msgspec.structs.replace(
        first, message=state.symbol(1), level=pick.one((first.level, 3, 1)), tag="red"
    )
    third = msgspec.structs.replace(first, message=state.symbol(2), level=first.level, keys=("k1",))
    steps: Steps = (first, second, third)
    if pick.once_in(3):
        steps = (*steps, Restart(how=pick.one(("kill", "term"))))
    return (*steps, Time(seconds=7), bk.Pull(topic=first.topic, queue=first.queue), Time(seconds=7))


def sends_timed(pick: Pick, state: ProgramState) -> Steps:
    """Messages that name their time, to a Broker that knows of it or not; with a level the level counts."""
    send = msgspec.structs.replace(new_message(pick, state), long=False, after=pick.one((3, 6, 20)))
    how = pick.below(4)
    look = bk.Pull(topic=send.topic, queue=send.queue)
    if how == 1:
        send = msgspec.structs.replace(send, level=pick.one((1, 3)))
    if how == 2:
        return (send, Restart(how=pick.one(("kill", "term"))), Time(seconds=send.after + 4), look)
    if how == 3:
        return (send, Time(seconds=send.after - 1), look, Time(seconds=5), look)
    return (send, Time(seconds=send.after + 4), look)
