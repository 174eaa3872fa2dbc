"""Messages popped in order: while one of a queue is not acknowledged, the group gets no more of that queue.

1. What was popped from a queue blocks it until each message of it is acknowledged or its time is over; then
   the queue goes on with the first that is not acknowledged, and waiting pops go on. A pop with the same
   attempt id is the same pop once more.
2. How far the group has consumed grows with the acknowledgements only. So after a crash all comes again that
   was not acknowledged, and the queue is not blocked: what blocks it is in memory.
3. An answer tells how often each message was given before.

(Apache writes what blocks a queue to `consumerOrderInfo.json` now and then.)

Source: ConsumerOrderInfoManager of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from .light_names import is_of_light_topic
from .part import NEVER, Part
from .pop_terms import kind_of

if TYPE_CHECKING:
    from .core import Broker

Popped: TypeAlias = tuple[str, str, int]
"""(topic, group, queue)."""


class Blocking(msgspec.Struct):
    """What was popped last from a queue."""

    attempt: str | None
    pop_time: int
    until: dict[int, int]
    """Queue offset to the time until which it is hidden, of those that are not acknowledged."""
    offsets: list[int]
    counts: dict[int, int]
    """How often those were given before that were."""


class PopOrder(Part):
    """What was popped last from each queue, by group."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.last: dict[Popped, Blocking] = {}
        self._over: list[tuple[int, Popped]] = []
        """When the time of a message is over: a heap."""

    def blocks(self, queue: Popped, attempt: str | None, now: int) -> bool:
        """Whether nothing may be popped from a queue."""
        last = self.last.get(queue)
        if last is None or (attempt is not None and attempt == last.attempt):
            return False
        return any(now < until for until in last.until.values())

    def give(
        self,
        queue: Popped,
        offsets: list[int],
        invisible: int,
        attempt: str | None,
        now: int,
    ) -> str:
        """Messages of a queue are delivered. The entries of `orderCountInfo`."""
        last = self.last.get(queue)
        counts: dict[int, int] = {}
        if last is not None and attempt is not None and attempt == last.attempt:
            counts = last.counts
        elif last is not None:
            before = set(last.offsets)
            counts = {at: last.counts.get(at, 0) + 1 for at in offsets if at in before}
        hidden = dict.fromkeys(offsets, now + invisible)
        self.last[queue] = Blocking(attempt, now, hidden, offsets, counts)
        heappush(self._over, (now + invisible, queue))
        topic, _, queue_id = queue
        kind = kind_of(topic)
        entries = [f"{kind} qo{queue_id}%{offset} {count}" for offset, count in counts.items()]
        least = min(counts.values(), default=0) if len(counts) == len(offsets) else 0
        return ";".join((*entries, f"{kind} {queue_id} {least}"))

    def acknowledge(self, queue: Popped, offset: int, pop_time: int) -> int | None:
        """A message is done with. How far the queue is consumed now; -1: the pop did not give this message.

        None: that was another pop, and nothing has changed.
        """
        last = self.last.get(queue)
        if last is None:
            return offset + 1
        if last.pop_time != pop_time:
            return None
        if offset not in last.offsets:
            return -1
        last.until.pop(offset, None)
        return min(last.until, default=last.offsets[-1] + 1)

    def hide(self, queue: Popped, offset: int, pop_time: int, until: int) -> None:
        """A message is hidden until another time."""
        last = self.last.get(queue)
        if last is not None and last.pop_time == pop_time and offset in last.until:
            last.until[offset] = until
            heappush(self._over, (until, queue))

    def clear(self, queue: Popped) -> None:
        """Nothing blocks a queue any longer."""
        self.last.pop(queue, None)

    def forget(self, topic: str) -> None:
        """A topic is gone."""
        for queue in [one for one in self.last if one[0] == topic]:
            del self.last[queue]

    def next_tick(self) -> int:
        """When the time of a message is over."""
        return self._over[0][0] if self._over else NEVER

    def tick(self, now: int) -> None:
        """Tell pops that wait of queues that are free now."""
        while self._over and self._over[0][0] <= now:
            _, queue = heappop(self._over)
            if not self.blocks(queue, None, now):
                topic, group, queue_id = queue
                if is_of_light_topic(topic):
                    self.broker.light_pops.has_more(topic, group)
                else:
                    self.broker.pop_waiting.has_more(topic, group, queue_id)
