"""What the rules of a Broker's machine do: steps, chosen with regard to what should exist.

See `harness.engine.nameserver.strategies`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.engine.broker.program_state import ProgramState
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.broker import steps as bk
from harness.program.step import Close, Restart, Time
from harness.program.steps import AnyStep
from harness.spec.broker.ledger import DELAYS

_TOPICS = ("T0", "T1", "T2")
_GROUPS = ("g0", "g1")
_CLIENTS = ("c0", "c1", "c2")
_TAGS = (None, "red", "green", "Aa", "BB")
"""The last two have the same hash, which is all that a queue knows of a tag."""
_KEYS = ("k0", "k1")
_LEVELS = (1, 1, 2, 3, 4, 19)
_VERDICTS: tuple[Literal[8, 12], ...] = (8, 12)
_ENDINGS: tuple[Literal["kill", "term"], ...] = ("kill", "term")
_HOWS: tuple[Literal["fin", "reset"], ...] = ("fin", "reset")
_BOUNDS: tuple[Literal[30, 31], ...] = (30, 31)
_MOST = 32
_SOON = 8
"""Seconds behind which a Broker that has become a master has delivered what was due."""
_LAST = 60
"""Seconds that a program waits for delays in the end, where that costs nothing."""


def _topic(pick: Pick, state: ProgramState) -> str:
    return pick.one([*state.topics] or list(_TOPICS[:1]))


def _queue(pick: Pick, state: ProgramState) -> tuple[str, int]:
    """A queue, mostly one that has messages."""
    if state.stored and pick.below(4) < 3:
        found = [key for key in state.stored if key[0] in state.topics]
        if found:
            return pick.one(found)
    return pick.one(state.queues() or [("T0", 0)])


def _send(pick: Pick, state: ProgramState) -> bk.Send:
    topic, queue = pick.one(state.queues() or [("T0", 0)])
    keys = tuple(key for key in _KEYS if pick.once_in(4))
    return bk.Send(
        message=state.symbol(),
        topic=topic,
        queue=queue,
        tag=pick.one(_TAGS),
        keys=keys,
        flag=pick.one((0, 0, 7)),
        size=pick.one((0, 0, 0, 900)),
        long=pick.once_in(5),
    )


# --- topics -------------------------------------------------------------------------------------------------


def makes_a_topic(pick: Pick, state: ProgramState) -> Steps:
    """A topic comes into being, or gets more queues."""
    topic = pick.one(_TOPICS)
    return (bk.MakeTopic(topic=topic, queues=max(state.topics.get(topic, 0), pick.one((2, 1, 4)))),)


def deletes_a_topic(pick: Pick, state: ProgramState) -> Steps:
    """Rarely: little is known of a topic afterwards."""
    if not state.topics or not pick.once_in(4):
        return makes_a_topic(pick, state)
    topic = _topic(pick, state)
    return (bk.DropTopic(topic=topic), bk.Pull(topic=topic))


def cleans(pick: Pick, state: ProgramState) -> Steps:
    """Queues without messages are removed, and one with messages is looked at."""
    topic, queue = _queue(pick, state)
    return (bk.Clean(), bk.Bound(topic=topic, queue=queue), bk.Pull(topic=topic, queue=queue))


# --- producers ----------------------------------------------------------------------------------------------


def sends(pick: Pick, state: ProgramState) -> Steps:
    """A message, in one of the ways in which one can be sent."""
    step = _send(pick, state)
    how = pick.below(8)
    if how == 5:
        return (msgspec.structs.replace(step, oneway=True),)
    if how == 6:
        return (msgspec.structs.replace(step, queue=-1),)
    if how == 7:
        return (msgspec.structs.replace(step, topic=pick.one(_TOPICS), queue=pick.one((0, 3, 9))),)
    return (step,)


def sends_several(pick: Pick, state: ProgramState) -> Steps:
    """Several messages, mostly into one queue, some of them without waiting for answers."""
    first = _send(pick, state)
    awaited = not pick.once_in(4)
    steps = [msgspec.structs.replace(first, awaited=awaited)]
    for number in range(1, 2 + pick.below(4)):
        other = _send(pick, state)
        if pick.below(4) < 3:
            other = msgspec.structs.replace(other, topic=first.topic, queue=first.queue)
        steps.append(msgspec.structs.replace(other, message=state.symbol(number), awaited=awaited))
    return tuple(steps)


def sends_a_batch(pick: Pick, state: ProgramState) -> Steps:
    """Two or three messages at once."""
    more = tuple(state.symbol(1 + number) for number in range(1 + pick.below(2)))
    return (msgspec.structs.replace(_send(pick, state), more=more, long=False),)


def sends_delayed(pick: Pick, state: ProgramState) -> Steps:
    """A message that waits, by its level or by 5.x's timers; sometimes it is looked for shortly before its
    time.
    """
    step = msgspec.structs.replace(_send(pick, state), long=False)
    if state.has("delayed-messages") and pick.once_in(4):
        return (msgspec.structs.replace(step, after=pick.one((2, 4, 9))),)
    step = msgspec.structs.replace(step, level=pick.one(_LEVELS))
    if step.level in (2, 3) and pick.below(2):
        return (step, Time(seconds=DELAYS[step.level - 1] - 1), bk.Bound(topic=step.topic, queue=step.queue))
    return (step,)


def begins_a_transaction(pick: Pick, state: ProgramState) -> Steps:
    """A half message; sometimes it is ended at once, and its queue looked at."""
    step = msgspec.structs.replace(_send(pick, state), half=True, group=pick.one(("p0", "p1")))
    steps: list[AnyStep] = [step]
    if pick.once_in(3):
        steps.append(bk.Pull(topic=step.topic, queue=step.queue))
    if pick.once_in(3):
        verdict = pick.one(_VERDICTS)
        steps.append(bk.End(message=step.message, verdict=verdict, group=step.group))
        steps.append(bk.Pull(topic=step.topic, queue=step.queue))
    return tuple(steps)


def ends_a_transaction(pick: Pick, state: ProgramState) -> Steps:
    """A transaction ends, or one that has ended is ended again, or a wrong group tries to."""
    if not state.verdicts:
        return begins_a_transaction(pick, state)
    open_ = [message for message, verdicts in state.verdicts.items() if not verdicts]
    message = pick.one(open_) if open_ and pick.below(4) < 3 else pick.one(list(state.verdicts))
    send = state.messages[message]
    group = send.group if not pick.once_in(8) else "p9"
    step = bk.End(message=message, verdict=pick.one(_VERDICTS), group=group, oneway=pick.once_in(8))
    return (step, bk.Pull(topic=send.topic, queue=send.queue))


# --- consumers ----------------------------------------------------------------------------------------------


def pulls(pick: Pick, state: ProgramState) -> Steps:
    """A pull, inside its queue, at its end, or beside it."""
    topic, queue = _queue(pick, state)
    if state.returned and pick.once_in(4):
        topic, queue = f"%RETRY%{pick.one(list(state.returned))}", 0
    count = state.stored.get((topic, queue), 0)
    offset = pick.one((0, max(0, count - 1), count, pick.below(count + 1), count + 1, count + 7, -1))
    group = pick.one(_GROUPS)
    step = bk.Pull(group=group, topic=topic, queue=queue, offset=offset, most=pick.one((_MOST, 1, 2, 3)))
    how = pick.below(6)
    if how == 3:
        tags = tuple(tag for tag in _TAGS[1:] if tag and pick.below(2)) or ("red",)
        return (msgspec.structs.replace(step, tags=tags),)
    if how in (2, 4):
        return (msgspec.structs.replace(step, commit=pick.one((1, count, 3, 0))), _committed(step))
    if how == 5:
        client = pick.one(_CLIENTS)
        beat = bk.Beat(client=client, conn=f"k{client}", groups=(group,), topics=(topic,))
        return (beat, msgspec.structs.replace(step, subscribes=False))
    return (step,)


def _committed(step: bk.Pull | bk.Commit) -> bk.Committed:
    return bk.Committed(group=step.group, topic=step.topic, queue=step.queue)


def waits_for_a_message(pick: Pick, state: ProgramState) -> Steps:
    """A pull at the end of a queue is held, and mostly a message comes."""
    send = _send(pick, state)
    count = state.stored.get((send.topic, send.queue), 0)
    pull = bk.Pull(
        conn=f"h{pick.below(2)}",
        topic=send.topic,
        queue=send.queue,
        offset=count,
        suspend=pick.one((5, 2, 15)),
        awaited=False,
    )
    if pick.once_in(4):
        return (pull, Time(seconds=pick.one((3, 8, 21))), bk.Bound(topic=send.topic, queue=send.queue))
    if pick.once_in(3):
        return (pull, Time(seconds=1), send)
    return (pull, send)


def joins(pick: Pick, state: ProgramState) -> Steps:
    """A client says which groups it is in, or says so again."""
    client = pick.one(_CLIENTS)
    groups = pick.one(((_GROUPS[0],), (_GROUPS[1],), _GROUPS))
    topic = _topic(pick, state)
    beat = bk.Beat(client=client, conn=f"k{client}", groups=groups, topics=(topic,))
    return (beat, bk.Members(group=groups[0])) if pick.below(2) else (beat,)


def leaves(pick: Pick, state: ProgramState) -> Steps:
    """A client leaves a group, as it says or because its connection ends."""
    if not state.beats:
        return joins(pick, state)
    client = pick.one(list(state.beats))
    beat = state.beats[client]
    group = pick.one(list(beat.groups) or ["g0"])
    if pick.once_in(3):
        return (Close(conn=beat.conn, how=pick.one(_HOWS)), bk.Members(group=group))
    return (bk.Leave(client=client, conn=beat.conn, group=group), bk.Members(group=group))


def commits_an_offset(pick: Pick, state: ProgramState) -> Steps:
    """A group commits an offset, mostly a greater one, and mostly asks for it."""
    topic, queue = _queue(pick, state)
    group = pick.one(_GROUPS)
    before = state.offsets.get((group, topic, queue), 0)
    offset = max(0, pick.one((before + 1, before + 2, before - 1, 0)))
    step = bk.Commit(group=group, topic=topic, queue=queue, offset=offset, oneway=pick.once_in(3))
    steps: list[AnyStep] = []
    if (group, topic, queue) not in state.offsets:
        steps.append(bk.Beat(client="c0", conn="kc0", groups=(group,), topics=(topic,)))
    steps.append(step)
    if pick.below(2):
        steps.append(_committed(step))
    return tuple(steps)


def asks_for_offsets(pick: Pick, state: ProgramState) -> Steps:
    """What a group has committed, and what a queue holds."""
    topic, queue = _queue(pick, state)
    if state.offsets and pick.below(2):
        group, topic, queue = pick.one(list(state.offsets))
        if pick.once_in(3):
            group = pick.one(_GROUPS)
        return (bk.Committed(group=group, topic=topic, queue=queue),)
    return (bk.Bound(topic=topic, queue=queue, code=pick.one(_BOUNDS)),)


def sends_back(pick: Pick, state: ProgramState) -> Steps:
    """A consumer could not do with a message."""
    plain = [
        message
        for message, send in state.messages.items()
        if not (send.half or send.level or send.after) and send.queue < state.topics.get(send.topic, 0)
    ]
    if not plain:
        return sends(pick, state)
    group = pick.one(_GROUPS)
    beat = bk.Beat(client="c0", conn="kc0", groups=(group,), topics=(_topic(pick, state),))
    level = pick.one((1, 2, 0, 1, -1))
    message = pick.one(plain)
    return (
        beat,
        bk.Back(message=message, topic=state.messages[message].topic, group=group, level=level),
    )


def locks(pick: Pick, state: ProgramState) -> Steps:
    """A client locks queues, or gives them up; sometimes another one has them."""
    group, topic = pick.one(_GROUPS), _topic(pick, state)
    client = pick.one(_CLIENTS)
    codes: tuple[Literal[41, 42], ...] = (41, 41, 41, 42)
    queues = pick.one(((0,), (0, 1), (1,)))
    holder = state.locks.get((group, topic))
    code = pick.one(codes)
    if code == 42 and holder is not None and pick.below(4) < 3:
        client = holder
    first = bk.Lock(client=client, group=group, topic=topic, queues=queues, code=code)
    if pick.below(2):
        return (first,)
    other = bk.Lock(client=pick.one(_CLIENTS), group=group, topic=topic, queues=queues)
    return (first, Time(seconds=62), other) if pick.once_in(4) else (first, other)


# --- searching ----------------------------------------------------------------------------------------------


def asks_by_key(pick: Pick, state: ProgramState) -> Steps:
    """Messages with a key, or the one with a unique key."""
    topic = _topic(pick, state)
    if state.messages and pick.once_in(3):
        message = pick.one(list(state.messages))
        return (bk.Find(topic=state.messages[message].topic, key=message, unique=True),)
    return (bk.Find(topic=topic, key=pick.one((*_KEYS, "k9"))),)


def asks_by_id(pick: Pick, state: ProgramState) -> Steps:
    """The message that an answer to a send named."""
    return (bk.View(message=pick.one(list(state.messages) or ["m0"])),)


# --- time and trouble ---------------------------------------------------------------------------------------


def waits(pick: Pick, state: ProgramState) -> Steps:
    """Time passes: until shortly before or behind the end of a delay, or of a lock."""
    next_ = state.waiting[0] if state.waiting else 10
    seconds = pick.one((1, next_ + 3, next_ - 1, next_, 5, 62, 20))
    steps: list[AnyStep] = [Time(seconds=max(1, seconds))]
    if pick.below(2):
        topic, queue = _queue(pick, state)
        steps.append(bk.Pull(topic=topic, queue=queue))
    return tuple(steps)


def closes(pick: Pick, state: ProgramState) -> Steps:
    """A connection ends, sometimes right behind a one-way message."""
    if pick.below(2):
        return (Close(conn=pick.one(("q", "h0", "kc0")), how=pick.one(_HOWS)),)
    send = msgspec.structs.replace(_send(pick, state), oneway=True)
    return (send, Close(conn="q", how=pick.one(_HOWS)))


def switches(pick: Pick, state: ProgramState) -> Steps:
    """A Broker that is a master becomes a slave, mostly for one thing that is asked of it; a slave becomes a
    master.
    """
    topic, queue = _queue(pick, state)
    looks: list[AnyStep] = [bk.Pull(topic=topic, queue=queue), bk.Bound(topic=topic, queue=queue)]
    looks += [bk.Committed(group=group, topic=of, queue=at) for group, of, at in [*state.offsets][-1:]]
    back: Steps = (bk.Switch(role="master"), pick.one(looks))
    if state.is_slave:
        return back
    how = pick.below(8)
    if how == 7:
        return (bk.Switch(role="slave"),)
    if how in (5, 6):
        return (_half_on_a_slave, _delayed_on_a_slave)[how - 5](pick, state)
    steps = pick.one(_ON_A_SLAVE)(pick, state)
    if how < 3:
        return (bk.Switch(role="slave"), *steps, *back)
    used = sum(len(step.messages) for step in steps if isinstance(step, bk.Send))
    other = msgspec.structs.replace(_send(pick, state), message=state.symbol(used))
    return (bk.Switch(role="slave"), *steps, bk.Switch(role="master"), other, back[-1])


def _half_on_a_slave(pick: Pick, state: ProgramState) -> Steps:
    """A transaction that a slave is to end, and then a master."""
    send = msgspec.structs.replace(_send(pick, state), half=True)
    end = bk.End(message=send.message, verdict=pick.one(_VERDICTS), group=send.group)
    again = msgspec.structs.replace(end, verdict=8)
    look_at = bk.Pull(topic=send.topic, queue=send.queue)
    return (send, bk.Switch(role="slave"), end, bk.Switch(role="master"), again, look_at)


def _delayed_on_a_slave(pick: Pick, state: ProgramState) -> Steps:
    """A delay that is over while the Broker is a slave."""
    send = msgspec.structs.replace(_send(pick, state), long=False, level=1)
    bound, pull = bk.Bound(topic=send.topic, queue=send.queue), bk.Pull(topic=send.topic, queue=send.queue)
    over, delivered = Time(seconds=4), Time(seconds=_SOON)
    return (send, bk.Switch(role="slave"), over, bound, bk.Switch(role="master"), delivered, pull)


def restarts(pick: Pick, state: ProgramState) -> Steps:
    """The Broker is killed, or asked to stop, and started again, mostly right behind something; as a slave
    sometimes, and then it becomes a master again.
    """
    how = pick.one(_ENDINGS)
    steps: list[AnyStep] = []
    if pick.below(3):
        steps += pick.one(_BEFORE)(pick, state)
    as_slave = pick.once_in(6)
    if as_slave:
        steps.append(bk.Switch(role="slave"))
    steps.append(Restart(how=how))
    if as_slave or state.is_slave:
        steps.append(bk.Switch(role="master"))
    topic, queue = _queue(pick, state)
    look_at: tuple[AnyStep, ...] = (bk.Pull(topic=topic, queue=queue), bk.Bound(topic=topic, queue=queue))
    return (*steps, pick.one(look_at))


_BEFORE = (sends, commits_an_offset, sends_delayed, begins_a_transaction, sends_back)
_ON_A_SLAVE = (
    sends,
    sends_several,
    pulls,
    ends_a_transaction,
    sends_back,
    makes_a_topic,
    commits_an_offset,
    locks,
    waits,
)


def fails(pick: Pick, state: ProgramState) -> Steps:
    """Any request, with something wrong about how its bytes travel."""
    step = _request(pick, state)
    what = pick.below(4)
    if what == 0:
        cuts = tuple(pick.one((4, 1, 8, -1, 21, 60)) for _ in range(1 + pick.below(3)))
        return (msgspec.structs.replace(step, cuts=cuts),)
    if what == 1:
        return (msgspec.structs.replace(step, cuts=(pick.one((4, 1, 8, -1, 60)),), stall=1),)
    if what == 2:
        return (msgspec.structs.replace(step, broken=pick.one((100_000, -1, 4, 0)), oneway=False),)
    other = msgspec.structs.replace(_request(pick, state), conn=step.conn, awaited=True)
    if isinstance(step, bk.Send) and isinstance(other, bk.Send):
        other = msgspec.structs.replace(other, message=state.symbol(len(step.messages)), more=())
    return (msgspec.structs.replace(step, held=True, awaited=True), other)


def _request(pick: Pick, state: ProgramState) -> bk.AnyRequest:
    step = pick.one(_FAULTY)(pick, state)[0]
    return step if isinstance(step, bk.BrokerRequest) else bk.Bound()


_FAULTY = (
    sends,
    commits_an_offset,
    asks_for_offsets,
    pulls,
    ends_a_transaction,
    sends_delayed,
    sends_a_batch,
)


# --- the end ------------------------------------------------------------------------------------------------


def look(state: ProgramState, *, moment: int) -> list[AnyStep]:
    """Everything that can be seen of what a program did. ``moment``: seconds after which a Broker surely
    shows what it has done, 0 where that is at once.
    """
    found: list[AnyStep] = [bk.Switch(role="master")] if state.is_slave else []
    if moment or found:
        found.append(Time(seconds=moment or _SOON))
    if not moment and state.waiting:
        found.append(Time(seconds=min(state.waiting[-1], _LAST) + 4))
    for topic, queue in state.queues():
        count = state.stored.get((topic, queue), 0)
        found += [
            bk.Pull(group="gz", topic=topic, queue=queue, offset=offset)
            for offset in range(0, count + 1, _MOST)
        ]
        found.append(bk.Bound(topic=topic, queue=queue))
        if count:
            found.append(bk.Pull(group="gz", topic=topic, queue=queue, tags=("green", "Aa")))
    found += [bk.Pull(group=group, topic=f"%RETRY%{group}") for group in state.returned]
    found += [bk.Bound(topic=f"%DLQ%{group}") for group in sorted(state.dead)]
    found += [bk.Committed(group=group, topic=topic, queue=queue) for group, topic, queue in state.offsets]
    found += [bk.Find(topic=topic, key=key) for topic in state.topics for key in _KEYS]
    found += [bk.View(message=message) for message in list(state.messages)[-8:]]
    return found
