"""Pulls that found nothing and wait: until a message arrives that they want, or until their time is over.

1. A pull is released by the arrival of a message that its filter lets pass, when the requests that arrived
   together have been carried out.
2. A scan releases what has waited for long enough, and what has new messages that its filter may not want:
   those consumers learn from where to go on. It comes every 5 s, so a wait may be that much longer.
3. Released is carried out once more, as a pull that may not wait.

Source: PullRequestHoldService of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire import Command

from .part import CLIENT_WAITS, NEVER, Part

if TYPE_CHECKING:
    from .core import Broker
    from .store import Arrival, Wanted

_SCAN: Final = 5_000


class Held(msgspec.Struct, gc=False):
    """One pull that waits."""

    command: Command
    connection: int
    topic: str
    queue_id: int
    offset: int
    wanted: Wanted | None
    """None: every message will do."""
    until: int


class LongPolling(Part):
    """Keeps pulls by queue, in the order in which they came."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._held: dict[tuple[str, int], list[Held]] = {}
        self._of: dict[int, dict[tuple[str, int], int]] = {}
        """By connection: how many pulls of it wait at which queue."""
        self.count = 0
        self._scan_at = NEVER

    def hold(self, pull: Held, now: int) -> None:
        """Let a pull wait. The caller has asked `Limits.may_hold`."""
        if self._scan_at == NEVER:
            self._scan_at = self.next_scan(now)
        self._held.setdefault((pull.topic, pull.queue_id), []).append(pull)
        queues = self._of.setdefault(pull.connection, {})
        queues[pull.topic, pull.queue_id] = queues.get((pull.topic, pull.queue_id), 0) + 1
        self.count += 1

    def next_scan(self, now: int) -> int:
        """When the next scan comes: they come at the same distances from the start."""
        period = self.period()
        return self.broker.started + ((now - self.broker.started) // period + 1) * period

    def period(self) -> int:
        """ms between two scans."""
        return _SCAN if self.config.long_polling_enable else max(1, self.config.short_polling_time_mills)

    def settle(self, now: int) -> None:
        """Release the pulls that want any of the messages that have arrived."""
        arrived, self.broker.store.arrived = self.broker.store.arrived, []
        self.broker.pop_waiting.arrived(arrived)
        self.broker.light_pops.arrived(arrived)
        if not self._held:
            return
        queues: dict[tuple[str, int], list[Arrival]] = {}
        for one in arrived:
            if one[:2] in self._held:
                queues.setdefault(one[:2], []).append(one)
        for queue, arrivals in queues.items():
            self._release(queue, partial(self.wants, arrivals=arrivals), now)

    def wants(self, pull: Held, arrivals: Sequence[Arrival]) -> bool:
        """Whether a pull wants any of the messages that have arrived in its queue."""
        return any(
            one.queue_offset >= pull.offset
            and (pull.wanted is None or pull.wanted.passes(one.tag_hash, one.properties))
            for one in arrivals
        )

    def tick(self, now: int) -> None:
        """The scan."""
        for queue in list(self._held):
            newest = self.broker.store.max_offset(*queue)
            self._release(queue, partial(self.is_over, newest=newest, now=now), now)
        self._scan_at = now + self.period() if self._held else NEVER

    def next_tick(self) -> int:
        """The next scan, if anything waits."""
        return self._scan_at

    def is_over(self, pull: Held, newest: int, now: int) -> bool:
        """Whether the scan releases a pull, of whose queue the next message will have the offset `newest`."""
        return newest > pull.offset or now >= pull.until

    def keep_clients(self, now: int, *, waits: bool) -> None:
        if waits:
            for pull in chain.from_iterable(self._held.values()):
                pull.until = max(pull.until, now + CLIENT_WAITS)

    def release_all(self, now: int) -> None:
        """Release everything (5.x: the master is back)."""
        for queue in list(self._held):
            self._release(queue, _each, now)

    def lost(self, connection: int, now: int) -> None:
        """Drop what a connection that has ended was waiting for."""
        for queue, count in self._of.pop(connection, {}).items():
            self._keep(queue, [pull for pull in self._held[queue] if pull.connection != connection])
            self.count -= count

    def _release(self, queue: tuple[str, int], is_released: Callable[[Held], bool], now: int) -> None:
        released: list[Held] = []
        kept: list[Held] = []
        for pull in self._held[queue]:
            (released if is_released(pull) else kept).append(pull)
        self._keep(queue, kept)
        for pull in released:
            self.count -= 1
            queues = self._of[pull.connection]
            queues[queue] -= 1
            if not queues[queue]:
                del queues[queue]
            if not queues:
                del self._of[pull.connection]
            reply = self.broker.pulls.pull_again(pull.command, pull.connection, now)
            if reply is not None:
                self.broker.answer(pull.connection, pull.command, reply)

    def _keep(self, queue: tuple[str, int], pulls: list[Held]) -> None:
        if pulls:
            self._held[queue] = pulls
        else:
            self._held.pop(queue, None)


def _each(pull: Held) -> bool:
    return True
