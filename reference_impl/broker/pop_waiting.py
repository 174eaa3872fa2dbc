"""Pops and notifications that found nothing and wait: until a message arrives, or until their time is over.

1. Who waits is released by a message of its topic that its filter lets pass, one at a time for each group:
   what it leaves over releases the next. Those that wait for any queue go first. Notifications take nothing,
   so that pops do not wait behind them.
2. Released is carried out once more. If it finds nothing again, it waits for the rest of its time.
3. A wait ends 50 ms before its time, so that the answer is there in time.

Source: PopLongPollingService, PopRequest of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import chain, count
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from harness.wire import Command
from reference_impl.remoting.reply import Reply

from .part import CLIENT_WAITS, NEVER, Part

if TYPE_CHECKING:
    from .core import Broker
    from .store import Arrival, Wanted

ANY_QUEUE: Final = -1
HELD, FULL, LATE = "held", "full", "late"
"""What becomes of a wish to wait."""
_EARLIER: Final = 50

_Queue: TypeAlias = tuple[str, str, int]
"""(topic, group, queue or ANY_QUEUE)."""
_Place: TypeAlias = tuple[str, str, int, bool]
"""The same, and whether those that wait there are pops."""


class Waiter(msgspec.Struct, gc=False, kw_only=True):
    """One request that waits. `again(now, until)` carries it out once more; None: it goes on waiting."""

    command: Command
    connection: int
    topic: str
    group: str
    queue_id: int
    until: int
    wanted: Wanted | None
    """None: every message will do."""
    again: Callable[[int, int], Reply | None]
    pops: bool = True
    """Whether it is a pop, and no notification."""


class PopWaiting(Part):
    """Who waits, by topic, group and queue, in the order in which they came."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._waiting: dict[_Place, dict[int, Waiter]] = {}
        self._groups: dict[str, set[str]] = {}
        """By topic: whose requests wait, or have waited."""
        self._due: list[tuple[int, int, _Place]] = []
        """A heap. Who was released, or waits for longer now, stays in it until its time."""
        self._of: dict[int, dict[int, _Place]] = {}
        """By connection."""
        self._numbers = count()
        self._total = 0
        self._more: dict[_Queue, None] = {}

    # -- waiting ---------------------------------------------------------------------------------------------

    def hold(self, waiter: Waiter, now: int) -> str:
        """Let a pop wait: HELD; or FULL, or LATE, if it may not."""
        place = (waiter.topic, waiter.group, max(waiter.queue_id, ANY_QUEUE), waiter.pops)
        if self._total >= self.config.max_pop_polling_size:
            return FULL
        if self.is_over(waiter.until, now):
            return LATE
        if self.is_full(len(self._waiting.get(place, ()))):
            return FULL
        number = next(self._numbers)
        self._waiting.setdefault(place, {})[number] = waiter
        self._groups.setdefault(waiter.topic, set()).add(waiter.group)
        self._of.setdefault(waiter.connection, {})[number] = place
        self._wait(waiter, number, place)
        self._total += 1
        return HELD

    def _wait(self, waiter: Waiter, number: int, place: _Place) -> None:
        heappush(self._due, (waiter.until - _EARLIER + 1, number, place))

    def keep_clients(self, now: int, *, waits: bool) -> None:
        if waits:
            for waiter in chain.from_iterable(place.values() for place in self._waiting.values()):
                waiter.until = max(waiter.until, now + CLIENT_WAITS)

    def is_full(self, waiting: int) -> bool:
        """Whether this number of pops in one place is the most that may wait."""
        return waiting > self.config.pop_polling_size

    def is_over(self, until: int, now: int) -> bool:
        """Whether a pop has waited for long enough."""
        return now > until - _EARLIER

    def polling(self, topic: str, group: str, queue_id: int) -> int:
        """How many pops wait."""
        return len(self._waiting.get((topic, group, max(queue_id, ANY_QUEUE), True), ()))

    # -- being released --------------------------------------------------------------------------------------

    def has_more(self, topic: str, group: str, queue_id: int) -> None:
        """There is something for a group, in a queue or (ANY_QUEUE) in some queue."""
        if topic in self._groups:
            self._more[topic, group, queue_id] = None

    def arrived(self, arrivals: Iterable[Arrival]) -> None:
        """Messages have arrived."""
        if not self._waiting:
            return
        queues: dict[tuple[str, int], list[Arrival]] = {}
        for one in arrivals:
            if one.topic in self._groups:
                queues.setdefault(one[:2], []).append(one)
        for (topic, queue_id), found in queues.items():
            for group in self._groups[topic]:
                places = self._places(topic, group, queue_id)
                waiters = (waiter for place in places for waiter in self._waiting.get(place, {}).values())
                if any(self.wants(waiter, found) for waiter in waiters):
                    self._more[topic, group, queue_id] = None

    def wants(self, waiter: Waiter, arrivals: Iterable[Arrival]) -> bool:
        """Whether a waiting pop wants one of the messages that have arrived."""
        wanted = waiter.wanted
        return wanted is None or any(wanted.passes(one.tag_hash, one.properties) for one in arrivals)

    def settle(self, now: int) -> None:
        """Release whom there is something for."""
        while self._more:
            self._more, queues = {}, self._more
            for queue in queues:
                for place in self._places(*queue):
                    number = next(iter(self._waiting.get(place, ())), None)
                    if number is not None:
                        self._release(place, number, now)

    def _places(self, topic: str, group: str, queue_id: int) -> list[_Place]:
        """Where those wait whom something in a queue may release."""
        queues = dict.fromkeys((ANY_QUEUE, queue_id))
        return [(topic, group, queue, pops) for pops in (False, True) for queue in queues]

    def _release(self, place: _Place, number: int, now: int) -> None:
        waiter = self._take(place, number)
        reply = waiter.again(now, waiter.until)
        if reply is not None:
            self.broker.answer(waiter.connection, waiter.command, reply)

    def _take(self, place: _Place, number: int) -> Waiter:
        waiters = self._waiting[place]
        waiter = waiters.pop(number)
        if not waiters:
            del self._waiting[place]
        self._total -= 1
        mine = self._of[waiter.connection]
        del mine[number]
        if not mine:
            del self._of[waiter.connection]
        return waiter

    def next_tick(self) -> int:
        """When the next wait ends."""
        return self._due[0][0] if self._due else NEVER

    def tick(self, now: int) -> None:
        """End the waits whose time is over."""
        while self._due and self._due[0][0] <= now:
            _, number, place = heappop(self._due)
            waiter = self._waiting.get(place, {}).get(number)
            if waiter is None:
                continue
            if self.is_over(waiter.until, now):
                self._release(place, number, now)
            else:
                self._wait(waiter, number, place)

    def lost(self, connection: int, now: int) -> None:
        """Who waited on a connection that has ended is gone."""
        for number, place in list(self._of.get(connection, {}).items()):
            self._take(place, number)
