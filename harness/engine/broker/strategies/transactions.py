"""Half messages: their ends, and the questions of a Broker about those that have none."""

from __future__ import annotations

import msgspec

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import VERDICTS, new_message
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep

_ROUND = 70
"""Seconds within which a Broker asks about a half message, whichever its line."""


def begins_a_transaction(pick: Pick, state: ProgramState) -> Steps:
    """A half message; sometimes it is ended at once, and its queue looked at."""
    step = _half(pick, state)
    steps: list[AnyStep] = [step]
    if pick.once_in(3):
        steps.append(bk.Pull(topic=step.topic, queue=step.queue))
    if pick.once_in(3):
        verdict = pick.one(VERDICTS)
        steps.append(bk.End(message=step.message, verdict=verdict, group=step.group))
        steps.append(bk.Pull(topic=step.topic, queue=step.queue))
    return tuple(steps)


def ends_a_transaction(pick: Pick, state: ProgramState) -> Steps:
    """A transaction ends, or one that has ended is ended again, or a wrong group tries to, or the producer
    does not know.
    """
    if not state.verdicts:
        return begins_a_transaction(pick, state)
    open_ = [message for message, verdicts in state.verdicts.items() if not verdicts]
    message = pick.one(open_) if open_ and pick.below(4) < 3 else pick.one(list(state.verdicts))
    send = state.messages[message]
    group = send.group if not pick.once_in(8) else "p9"
    step = bk.End(message=message, verdict=pick.one(VERDICTS), group=group, oneway=pick.once_in(8))
    if pick.once_in(4):
        step = msgspec.structs.replace(step, verdict=0, oneway=pick.once_in(2))
    return (step, bk.Pull(topic=send.topic, queue=send.queue))


def is_asked(pick: Pick, state: ProgramState) -> Steps:
    """A producer is silent about a half message until the Broker asks, and about another one it is not."""
    step = _half(pick, state)
    other = msgspec.structs.replace(step, message=state.symbol(1))
    beat = bk.Beat(client=f"{step.group}c", conn=f"k{step.group}", topics=(), producers=(step.group,))
    steps: list[AnyStep] = [beat, step]
    if pick.below(2):
        steps += [other, bk.End(message=other.message, verdict=pick.one(VERDICTS), group=step.group)]
    if pick.once_in(4):
        steps.append(bk.End(message=step.message, verdict=0, group=step.group, oneway=True))
    if pick.once_in(4):
        steps += [Time(seconds=3), beat]  # it is too young to be asked about
    if pick.once_in(4):
        steps += [Restart(how=pick.one(("kill", "term"))), beat]
    steps += [Time(seconds=_ROUND), beat]
    if pick.once_in(3):
        steps += [Time(seconds=_ROUND), beat]
    if pick.below(4) < 3:
        end = bk.End(message=step.message, verdict=pick.one(VERDICTS), group=step.group, asked=True)
        steps += [end, bk.Pull(topic=step.topic, queue=step.queue)]
        if pick.below(2):
            steps += [Time(seconds=_ROUND), beat]
    return tuple(steps)


def is_immune(pick: Pick, state: ProgramState) -> Steps:
    """A half message that was born just now asks for immunity: its producer is asked only when that is over,
    and 5.x takes an end only before. Sometimes the Broker is ended meanwhile, or asks about another message.
    """
    said = msgspec.structs.replace(new_message(pick, state), long=False)
    seconds = pick.one((25, 45, 80))
    step = msgspec.structs.replace(_half(pick, state), message=state.symbol(1), immune=seconds)
    beat = bk.Beat(client=f"{step.group}c", conn=f"k{step.group}", topics=(), producers=(step.group,))
    steps: list[AnyStep] = [beat, said, bk.View(message=said.message), step]
    if pick.once_in(3):
        steps.append(msgspec.structs.replace(_half(pick, state), message=state.symbol(2), group=step.group))
    if pick.once_in(3):
        steps += [Restart(how=pick.one(("kill", "term"))), beat]
    end = bk.End(message=step.message, verdict=pick.one(VERDICTS), group=step.group)
    pull = bk.Pull(topic=step.topic, queue=step.queue)
    steps += [Time(seconds=seconds - 6), beat]
    how = pick.below(4)
    if how == 0:
        return (*steps, end, pull)
    if how == 1:
        return (*steps, Time(seconds=9), end, pull)
    steps += [Time(seconds=_ROUND + 6), beat]
    return (*steps, msgspec.structs.replace(end, asked=how == 2), pull)


def _half(pick: Pick, state: ProgramState) -> bk.Send:
    return msgspec.structs.replace(new_message(pick, state), half=True, group=pick.one(("p0", "p1")))
