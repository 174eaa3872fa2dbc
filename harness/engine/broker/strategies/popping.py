"""Groups pop messages, acknowledge some of them, and are given the others again."""

from __future__ import annotations

import msgspec

from harness.engine.broker.program_state import ProgramState
from harness.engine.broker.strategies.choices import ENDINGS, MOST, new_messages
from harness.engine.broker.strategies.consumers import pulls
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk
from harness.program.broker.optional_steps import Ack, Hide, Pop
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep
from harness.spec.broker.hidden import RECOVERY, REVIVAL, WRITTEN

_HIDDEN = (10, 10, 20)
"""Seconds; where time is real, programs wait for them."""
_LONGER = WRITTEN + 10
_OVER = REVIVAL + 1
"""Seconds behind its hidden time at which a message is surely there."""


def _uses(pick: Pick, sends: list[bk.Send], pop: Pop) -> list[AnyStep]:
    """What a group does with what it was given: it acknowledges, hides for another time, or neither."""
    steps: list[AnyStep] = []
    for one in sends:
        message, topic, group = one.message, pop.topic, pop.group
        how = pick.below(5)
        if how in (1, 2):
            steps.append(Hide(message=message, topic=topic, group=group, hidden=pick.one((5, 10, 30))))
        if how in (0, 1):
            steps.append(Ack(message=message, topic=topic, group=group))
    return steps


def _pop(pick: Pick, state: ProgramState, sends: list[bk.Send]) -> Pop:
    group = f"j{state.pops}"
    return Pop(group=group, topic=sends[0].topic, queue=sends[0].queue, hidden=pick.one(_HIDDEN))


def acknowledges(pick: Pick, state: ProgramState) -> Steps:
    """A group pops, and pops again before what it has not acknowledged comes again, and behind that, once or
    twice.
    """
    if state.is_slave:
        return pulls(pick, state)
    sends = new_messages(pick, state, 2 + pick.below(3))
    pop = _pop(pick, state, sends)
    few = msgspec.structs.replace(pop, most=pick.one((MOST, MOST, 1, 2)))
    steps: list[AnyStep] = [*sends, few, *_uses(pick, sends, pop)]
    if pick.below(2):
        steps += [Time(seconds=pop.hidden - pick.one((1, 8))), pop, Time(seconds=_OVER)]
    else:
        steps.append(Time(seconds=pop.hidden + _OVER))
    steps.append(pop)
    if pick.below(2):
        steps += [*_uses(pick, sends, pop), Time(seconds=pop.hidden + _OVER), pop]
    return tuple(steps)


def outlives_the_broker(pick: Pick, state: ProgramState) -> Steps:
    """The Broker is ended while messages are hidden, of which some are acknowledged."""
    if state.is_slave:
        return pulls(pick, state)
    sends = new_messages(pick, state, 2 + pick.below(3))
    pop = msgspec.structs.replace(_pop(pick, state, sends), hidden=_LONGER)
    steps: list[AnyStep] = [*sends, pop, *_uses(pick, sends, pop), Time(seconds=WRITTEN + 1)]
    steps += [Restart(how=pick.one(ENDINGS)), pop, Time(seconds=_LONGER + _OVER), pop]
    if pick.once_in(8):
        steps += [Time(seconds=RECOVERY), pop]
    return tuple(steps)
