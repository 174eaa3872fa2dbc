"""Messages reach the slave or do not, one of the two ends, the slave takes the place of its master."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from harness.engine.broker.strategies.choices import (
    ENDINGS,
    GROUPS,
    KEYS,
    MOST,
    SOON,
    VERDICTS,
    any_queue,
    committed,
    new_message,
)
from harness.engine.broker.strategies.consumers import commits_an_offset
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.engine.pair.program_state import PairState
from harness.program.broker import steps as bk
from harness.program.broker.pair_steps import Part, Replicate, TakeOver
from harness.program.step import Request, Restart, Time
from harness.program.steps import AnyStep
from harness.spec.broker.ledger import DELAYS, FIRST_RETRY

_TOPICS = ("T0", "T1")
_PARTS = (None, None, None, 300, 40, -1)
"""Bytes of the log that the slave gets at once."""


def makes_a_topic(pick: Pick, state: PairState) -> Steps:
    """A topic comes into being on both. In 4.9 a slave takes none, so it has been a master for a moment,
    before it met its own.
    """
    made = bk.MakeTopic(topic=pick.one(_TOPICS), queues=pick.one((2, 1, 3)))
    if made.topic in state.topics or state.is_promoted:
        return ()
    if state.has("busy-slaves"):
        return made, _of_slave(made)
    if state.was_connected:
        return ()
    become, again = bk.Switch(server=1, role="master"), bk.Switch(server=1, role="slave")
    return made, become, _of_slave(made), again


def sends(pick: Pick, state: PairState) -> Steps:
    """Messages that the slave gets at once, later, in part, or does not get."""
    steps = _begun(pick, state)
    waits = not pick.once_in(4)
    for number in range(1 + pick.below(3)):
        send = _message(pick, state, number)
        steps.append(msgspec.structs.replace(send, awaited=False, waits=waits))
    if state.is_promoted:
        return tuple(steps)
    return (*steps, _replicate(pick), *_looks(pick, state))


def sends_to_itself(pick: Pick, state: PairState) -> Steps:
    """A message that the slave does not get before it is answered, or several at once."""
    send = _message(pick, state, 0)
    if pick.once_in(3):
        more = tuple(state.symbol(1 + number) for number in range(1 + pick.below(2)))
        send = msgspec.structs.replace(send, more=more, long=False)
    elif pick.once_in(4):
        send = msgspec.structs.replace(send, oneway=True)
    return (*_begun(pick, state), send)


def replicates(pick: Pick, state: PairState) -> Steps:
    """The slave gets what there is, or a part of it; then it is looked at."""
    if state.is_promoted:
        return _looks(pick, state)
    return (*_begun(pick, state), _replicate(pick), *_looks(pick, state))


def parts(pick: Pick, state: PairState) -> Steps:
    """Both lose each other, and find each other again; sometimes there is a message in between."""
    steps: list[AnyStep] = [*_begun(pick, state), Part()]
    if pick.below(2):
        steps.append(_message(pick, state, 0))
    if not state.is_promoted:
        steps.append(_replicate(pick))
    return (*steps, *_looks(pick, state))


def restarts(pick: Pick, state: PairState) -> Steps:
    """One of them is ended and started again, mostly with a message under way before or behind that."""
    steps = _begun(pick, state)
    if pick.below(4):
        steps.append(_message(pick, state, 0))
        steps += [] if state.is_promoted else [_replicate(pick)]
    steps.append(Restart(server=0 if pick.once_in(3) else 1, how=pick.one(ENDINGS)))
    if pick.below(2) and not state.is_promoted:
        steps.append(_replicate(pick))
    return (*steps, *_looks(pick, state))


def looks(pick: Pick, state: PairState) -> Steps:
    """The slave is looked at."""
    return (*_begun(pick, state), *_looks(pick, state))


def commits(pick: Pick, state: PairState) -> Steps:
    """A group commits an offset to the slave."""
    steps = commits_an_offset(pick, state.slave) if state.slave.topics else ()
    return tuple(_of_slave(step) for step in steps)


def takes_over(pick: Pick, state: PairState) -> Steps:
    """A group commits offsets to the master, the slave takes them over, and shows them, perhaps when it has
    been killed or has taken the place of its master.
    """
    if state.is_promoted:
        return _looks(pick, state)
    steps = _begun(pick, state)
    if pick.below(4):
        steps += commits_an_offset(pick, state)
    steps.append(TakeOver())
    commits = [one for one in steps if isinstance(one, bk.Commit)]
    if commits and pick.once_in(3):  # the slave does not know of this one
        steps.append(msgspec.structs.replace(commits[-1], offset=commits[-1].offset + 2))
    how = pick.below(4)
    if how == 1:
        steps.append(Restart(server=1, how=pick.one(ENDINGS)))
    elif how == 2 and state.was_connected:
        steps += _promoted(pick, killed=bool(pick.below(2)))
    found: list[AnyStep] = [committed(one) for one in commits]
    found = found or [_committed(pick, state)]
    return (*steps, *(_of_slave(one) for one in found))


def delays(pick: Pick, state: PairState) -> Steps:
    """A message waits, on the slave, too, by its level or by 5.x's timers; perhaps until the slave has taken
    the place of its master, and delivers it.
    """
    steps = _begun(pick, state)
    send = msgspec.structs.replace(_message(pick, state, 0), long=False)
    if state.has("delayed-messages") and pick.below(3):
        seconds = pick.one((3, 6, 12))
        send = msgspec.structs.replace(send, after=seconds)
    else:
        send = msgspec.structs.replace(send, level=pick.one((1, 1, 2, 3)))
        seconds = DELAYS[send.level - 1]
    over = Time(seconds=pick.one((1, seconds + 2, seconds + SOON)))
    pull = _of_slave(bk.Pull(topic=send.topic, queue=send.queue))
    if state.is_promoted:
        return (*steps, _of_slave(send), *_looks(pick, state), over, pull)
    steps += [send, _replicate(pick)]
    if pick.once_in(3):
        steps.append(TakeOver())
    if pick.once_in(3):
        steps += _promoted(pick, killed=bool(pick.below(2)))
    return (*steps, over, pull)


def sends_back(pick: Pick, state: PairState) -> Steps:
    """A consumer sends a message back, which waits, or is dead, on the slave, too; perhaps until the slave
    has taken the place of its master: then it comes back there, and is sent back again.
    """
    steps = _begun(pick, state)
    send, group = _message(pick, state, 0), pick.one(GROUPS)
    beat = bk.Beat(client="c0", conn="kc0", groups=(group,), topics=(send.topic,))
    back = bk.Back(
        message=send.message,
        topic=send.topic,
        group=group,
        level=pick.one((1, 1, 2, 0, -1)),
        most=pick.one((16, 16, 16, 0)),
    )
    over = Time(seconds=DELAYS[(max(0, back.level) or FIRST_RETRY) - 1] + pick.one((2, SOON)))
    pull = _of_slave(bk.Pull(group=group, topic=f"%RETRY%{group}"))
    is_promoted = state.is_promoted
    if is_promoted:
        steps += [_of_slave(one) for one in (send, beat, back)]
    else:
        steps += [msgspec.structs.replace(send, awaited=False), Replicate(), beat, back]
        steps.append(Replicate() if pick.below(3) else _replicate(pick))
        if pick.once_in(4):
            steps.append(TakeOver())
        if pick.once_in(3):
            steps += _promoted(pick, killed=bool(pick.below(2)))
            is_promoted = True
        steps.append(_of_slave(beat))
    if not is_promoted:
        return (*steps, over, *([_replicate(pick)] if pick.below(2) else []), pull)
    again = msgspec.structs.replace(back, again=bool(pick.below(2)), level=pick.one((0, 1)))
    return (*steps, over, pull, _of_slave(again), Time(seconds=DELAYS[FIRST_RETRY] + SOON), pull)


def begins_a_transaction(pick: Pick, state: PairState) -> Steps:
    """A half message, mostly on the slave, too, is ended by the master, by the slave that has become the
    master, or by both.
    """
    steps = _begun(pick, state)
    half = msgspec.structs.replace(_message(pick, state, 0), half=True, awaited=False)
    end = bk.End(message=half.message, group=half.group, verdict=pick.one(VERDICTS))
    pull = bk.Pull(topic=half.topic, queue=half.queue)
    if state.is_promoted:
        half = msgspec.structs.replace(half, awaited=True)
        return (*steps, *(_of_slave(one) for one in (half, pull, end, pull)))
    steps += [half, Replicate() if pick.below(4) else _replicate(pick), _of_slave(pull)]
    if pick.once_in(3):
        steps += [end, _replicate(pick), _of_slave(pull)]
    if state.was_connected and pick.once_in(3):
        return (*steps, *_promoted(pick, killed=bool(pick.below(2))), _of_slave(end), _of_slave(pull))
    return tuple(steps)


def fails_over(pick: Pick, state: PairState) -> Steps:
    """The master ends, mostly when the slave has all, and the slave is started again as a master: it has what
    was acknowledged, and goes on behind that.
    """
    if state.is_promoted or not pick.once_in(3):
        return sends(pick, state)
    steps = [*_begun(pick, state), _message(pick, state, 0)]
    if state.is_half or not state.was_connected or pick.below(4):
        steps.append(Replicate())
    steps += _promoted(pick, killed=bool(pick.below(2)))
    for number in range(1, 1 + pick.below(3)):
        steps.append(_of_slave(_message(pick, state, number)))
    return (*steps, *_looks(pick, state))


def goes_on(pick: Pick, state: PairState) -> Steps:
    """A slave that has become the master gets messages."""
    if not state.is_promoted:
        return replicates(pick, state)
    return (_of_slave(_message(pick, state, 0)), *_looks(pick, state))


def waits(pick: Pick, state: PairState) -> Steps:
    """Time passes."""
    return (Time(seconds=pick.one((1, 5, 25))),)


def _promoted(pick: Pick, *, killed: bool) -> list[AnyStep]:
    """The slave loses its master and takes its place. Not all keep a role that was changed."""
    return [
        Restart(how="kill") if killed else Part(),
        bk.Switch(server=1),
        Restart(server=1, how=pick.one(ENDINGS)),
        bk.Switch(server=1),
    ]


def _begun(pick: Pick, state: PairState) -> list[AnyStep]:
    """What there has to be before all else: a topic that both have."""
    return [] if state.slave.topics else list(makes_a_topic(pick, state))


def _message(pick: Pick, state: PairState, ahead: int) -> bk.Send:
    return msgspec.structs.replace(new_message(pick, state), message=state.symbol(ahead))


def _replicate(pick: Pick) -> Replicate:
    return Replicate(most=pick.one(_PARTS), reports=not pick.once_in(5))


def _looks(pick: Pick, state: PairState) -> Steps:
    """A look at the slave."""
    return (_of_slave(pick.one(_LOOKS)(pick, state)),)


def _pull(pick: Pick, state: PairState) -> AnyStep:
    topic, queue = any_queue(pick, state.slave)
    count = state.stored.get((topic, queue), 0)
    offset = pick.one((0, 0, max(0, count - 1), count))
    return bk.Pull(group=pick.one(GROUPS), topic=topic, queue=queue, offset=offset, most=pick.one((MOST, 2)))


def _bound(pick: Pick, state: PairState) -> AnyStep:
    topic, queue = any_queue(pick, state.slave)
    return bk.Bound(topic=topic, queue=queue, code=pick.one((30, 31)))


def _view(pick: Pick, state: PairState) -> AnyStep:
    return bk.View(message=pick.one([*state.slave.messages] or ["m0"]))


def _find(pick: Pick, state: PairState) -> AnyStep:
    return bk.Find(topic=pick.one([*state.slave.topics] or ["T0"]), key=pick.one(KEYS))


def _committed(pick: Pick, state: PairState) -> AnyStep:
    return committed(
        pick.one(
            [bk.Commit(group=one, topic=of, queue=at) for one, of, at in state.slave.offsets] or [bk.Commit()]
        )
    )


_LOOKS: tuple[Callable[[Pick, PairState], AnyStep], ...] = (_pull, _pull, _bound, _view, _find, _committed)


def _of_slave(step: AnyStep) -> AnyStep:
    """The same, asked of the slave."""
    return msgspec.structs.replace(step, server=1) if isinstance(step, Request) else step
