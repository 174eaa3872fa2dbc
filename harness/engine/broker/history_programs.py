"""Programs in which producers and consumers act at the same time, and what is read when they are quiet.

- A program is bursts and a quiet end. The steps of a burst are on different connections as a rule and are all
  sent before any answer is waited for; there are few queues and groups, so that they meet.
- No step of a program is one that a named quirk of Apache's server is about. What groups and topics need to
  exist is there before the first burst.
- At the end time passes until everything that happens behind an answer must have happened, and everything is
  read, with nothing else under way. Where that would cost real time, only some programs wait.
- Where the server can be started again, it may be killed or stopped between two bursts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from harness.engine.histories import Meetings
from harness.program.broker import steps as bk
from harness.program.chance import Chance
from harness.program.step import Close, Restart, Time
from harness.program.steps import AnyStep

_TOPICS = ("T0", "T1")
_GROUPS = ("g0", "g1")
_CLIENTS = ("q0", "q1", "q2", "q3", "q4", "q5")
_MOST_AT_ONCE = 32
"""A Broker gives no more messages to one pull (`maxTransferCountOnMessageInMemory`)."""


class Shape(Meetings, frozen=True, kw_only=True):
    """How programs for a target are made."""

    restarts: float = 0.1
    """The share of programs in which the server is ended and started again."""


def program_of(source: Chance, shape: Shape) -> tuple[AnyStep, ...]:
    """One program, decided by ``source`` and ``shape``."""
    return tuple(_Maker(source, shape).program())


class _Maker:
    def __init__(self, source: Chance, shape: Shape) -> None:
        self._chance = source
        self._shape = shape
        self._messages = 0
        self._offset = 0
        topics = _TOPICS[: source.choice((1, 1, 2))]
        self._queues = {topic: source.choice((1, 1, 2)) for topic in topics}
        self._sent: dict[tuple[str, int], int] = {
            (topic, queue): 0 for topic, count in self._queues.items() for queue in range(count)
        }
        """How many messages a queue may have."""

    def program(self) -> Iterator[AnyStep]:
        for topic, count in self._queues.items():
            yield bk.MakeTopic(topic=topic, queues=count)
        for group in _GROUPS:
            yield bk.Pull(group=group, topic=_TOPICS[0])
        bursts = self._chance.randrange(2, self._shape.bursts + 1)
        ends_before = self._chance.randrange(1, bursts) if self._is_restarted() else None
        for number in range(bursts):
            if number == ends_before:
                yield Restart(how=self._chance.choice(("kill", "kill", "term")))
            yield from self._burst()
        yield from self._quiet()

    def _is_restarted(self) -> bool:
        return self._chance.random() < self._shape.restarts

    # --- bursts ---------------------------------------------------------------------------------------------

    def _burst(self) -> Iterator[AnyStep]:
        width = self._chance.randrange(1, self._shape.width + 1)
        for at in range(width):
            if at == width - 1 and self._chance.random() < 0.05:
                yield Close(conn=self._chance.choice(_CLIENTS))
                return
            yield msgspec.structs.replace(
                self._step(), conn=self._chance.choice(_CLIENTS), awaited=at == width - 1
            )

    def _step(self) -> bk.Send | bk.Pull | bk.Bound | bk.Commit | bk.Committed:
        topic, queue = self._chance.choice(tuple(self._sent))
        group = self._chance.choice(_GROUPS)
        kind = self._chance.random()
        if kind < 0.40:
            return self._send(topic, queue)
        if kind < 0.65:
            return self._pull(group, topic, queue)
        if kind < 0.75:
            return bk.Bound(topic=topic, queue=queue)
        if kind < 0.88:
            return bk.Commit(
                group=group,
                topic=topic,
                queue=queue,
                offset=self._new_offset(),
                oneway=self._chance.random() < 0.2,
            )
        return bk.Committed(group=group, topic=topic, queue=queue)

    def _send(self, topic: str, queue: int) -> bk.Send:
        count = self._chance.choice((1, 1, 1, 1, 2, 3))
        first, *more = (f"m{self._messages + number}" for number in range(count))
        self._messages += count
        if self._chance.random() < 0.04:
            return bk.Send(message=first, topic=topic, queue=self._queues[topic])  # it is refused
        if self._chance.random() < 0.05:
            queue = -1
        for number in (queue,) if queue >= 0 else range(self._queues[topic]):
            self._sent[topic, number] += count
        return bk.Send(message=first, more=tuple(more), topic=topic, queue=queue)

    def _pull(self, group: str, topic: str, queue: int) -> bk.Pull:
        there = self._sent[topic, queue]
        return bk.Pull(
            group=group,
            topic=topic,
            queue=queue,
            offset=self._chance.randrange(there + 2) if self._chance.random() < 0.6 else 0,
            most=self._chance.choice((_MOST_AT_ONCE, _MOST_AT_ONCE, 1, 3)),
            commit=self._new_offset() if self._chance.random() < 0.15 else None,
        )

    def _new_offset(self) -> int:
        """One that was not committed before as a rule, so that a reading tells which commit it shows."""
        if self._offset and self._chance.random() < 0.1:
            return self._chance.randrange(self._offset) + 1
        self._offset += 1
        return self._offset

    # --- the end --------------------------------------------------------------------------------------------

    def _quiet(self) -> Iterator[AnyStep]:
        if self._chance.random() < self._shape.waits:
            yield Time(seconds=math.ceil(self._shape.term) + 1)
        for (topic, queue), count in self._sent.items():
            for offset in range(0, count + 1, _MOST_AT_ONCE):
                yield bk.Pull(topic=topic, queue=queue, offset=offset)
            yield bk.Bound(topic=topic, queue=queue)
            for group in _GROUPS:
                yield bk.Committed(group=group, topic=topic, queue=queue)
