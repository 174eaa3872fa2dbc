"""Messages that wait for their time are taken back."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import allowing, any_topic, new_message
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk
from harness.program.broker.optional_steps import Allow, Recall
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep

_ENDINGS: tuple[Literal["kill", "term"], ...] = ("term", "kill")
_LATE = 4
"""Seconds behind its time at which a message is surely there."""


def _timed(pick: Pick, state: ProgramState) -> bk.Send:
    """A message that waits for its time."""
    return msgspec.structs.replace(new_message(pick, state), long=False, after=pick.one((20, 6, 10)))


def recalls(pick: Pick, state: ProgramState) -> Steps:
    """Of several messages that wait for the same moment some are taken back, sometimes twice, and sometimes
    the Broker is ended meanwhile.
    """
    first = _timed(pick, state)
    sends = [msgspec.structs.replace(first, message=state.symbol(number)) for number in range(3)]
    taken = sends[: 1 + pick.below(2)]
    steps: list[AnyStep] = [*allowing("recalls", state), *sends]
    steps += [Recall(message=one.message, topic=one.topic) for one in taken]
    if pick.once_in(4):
        steps.append(steps[-1])
    if pick.once_in(4):
        steps.append(Restart(how=pick.one(_ENDINGS)))
    look: tuple[AnyStep, ...] = (
        bk.Pull(topic=first.topic, queue=first.queue),
        bk.Bound(topic=first.topic, queue=first.queue),
    )
    return (*steps, Time(seconds=first.after + _LATE), pick.one(look))


def recalls_what_cannot_be(pick: Pick, state: ProgramState) -> Steps:
    """A recall is refused: it is not allowed, too late, of another topic, or of a message that does not wait.
    Then the message comes.
    """
    on = allowing("recalls", state)
    send = _timed(pick, state)
    recall = Recall(message=send.message, topic=send.topic)
    over, look = Time(seconds=send.after + _LATE), bk.Pull(topic=send.topic, queue=send.queue)
    how = pick.below(5)
    if how == 0:
        return (Allow(what="recalls", allowed=False), send, recall, over, look)
    if how == 1:
        return (*on, send, over, recall, look)
    if how == 2:
        other = next((one for one in state.topics if one != send.topic), "T2")
        made = bk.MakeTopic(topic=other, queues=state.topics.get(other, 4))
        return (
            *on,
            send,
            made,
            msgspec.structs.replace(recall, topic=other),
            over,
            look,
        )
    if how == 3:
        return (*on, send, msgspec.structs.replace(recall, topic="T9"), over, look)
    at_once = msgspec.structs.replace(send, after=0)
    return (
        *on,
        at_once,
        Recall(message=at_once.message, topic=any_topic(pick, state)),
        look,
    )
