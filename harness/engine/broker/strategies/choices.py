"""What the makers of steps for Brokers choose from: names, and what should exist by now."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.engine.broker.program_state import ProgramState
from harness.engine.nameserver.strategies.pick import Pick
from harness.program.broker import steps as bk
from harness.program.broker.optional_steps import Allow, Allowing
from harness.program.steps import AnyStep

TOPICS = ("T0", "T1", "T2")
GROUPS = ("g0", "g1")
CLIENTS = ("c0", "c1", "c2")
TAGS = (None, "red", "green", "Aa", "BB")
"""The last two have the same hash, which is all that a queue knows of a tag."""
KEYS = ("k0", "k1")
LEVELS = (1, 1, 2, 3, 4, 19)
VERDICTS: tuple[Literal[8, 12], ...] = (8, 12)
ENDINGS: tuple[Literal["kill", "term"], ...] = ("kill", "term")
HOWS: tuple[Literal["fin", "reset"], ...] = ("fin", "reset")
BOUNDS: tuple[Literal[30, 31, 32], ...] = (30, 31, 32)
SAID: tuple[tuple[tuple[str, str], ...], ...] = (
    (),
    (("a", "1"),),
    (("a", "5"), ("b", "1")),
    (("a", "Grün"),),
    (("a", "-3"), ("b", "x")),
    (("b", "2147483648"),),
    (("a", "true"), ("b", "true")),
    (("a", "5"), ("b", "10")),
    (("a", "2.5"), ("A", "1")),
    (("a", "it's"),),
)
"""Properties of messages. What is compared with a number and is none fails."""
MOST = 32
SOON = 8
"""Seconds behind which a Broker that has become a master has delivered what was due."""
LAST = 60
"""Seconds that a program waits for delays in the end, where that costs nothing."""


def any_topic(pick: Pick, state: ProgramState) -> str:
    return pick.one([*state.topics] or list(TOPICS[:1]))


def any_queue(pick: Pick, state: ProgramState) -> tuple[str, int]:
    """A queue, mostly one that has messages."""
    if state.stored and pick.below(4) < 3:
        found = [key for key in state.stored if key[0] in state.topics]
        if found:
            return pick.one(found)
    return pick.one(state.queues() or [("T0", 0)])


def allowing(what: Allowing, state: ProgramState) -> list[AnyStep]:
    """What makes the Broker allow something, if it does not."""
    return [] if state.allowed.get(what) else [Allow(what=what)]


def any_said(pick: Pick) -> tuple[tuple[str, str], ...]:
    """Properties of a message, mostly some."""
    return pick.one(SAID)


def new_message(pick: Pick, state: ProgramState) -> bk.Send:
    topic, queue = pick.one(state.queues() or [("T0", 0)])
    keys = tuple(key for key in KEYS if pick.once_in(4))
    return bk.Send(
        message=state.symbol(),
        topic=topic,
        queue=queue,
        tag=pick.one(TAGS),
        keys=keys,
        flag=pick.one((0, 0, 7)),
        size=pick.one((0, 0, 0, 900)),
        said=any_said(pick) if pick.once_in(3) else (),
        long=pick.once_in(5),
    )


def new_messages(pick: Pick, state: ProgramState, count: int) -> list[bk.Send]:
    """Several for one queue, which differ by their symbols alone."""
    first = msgspec.structs.replace(new_message(pick, state), long=False)
    return [msgspec.structs.replace(first, message=state.symbol(number)) for number in range(count)]


def committed(step: bk.Pull | bk.Commit) -> bk.Committed:
    return bk.Committed(group=step.group, topic=step.topic, queue=step.queue)
