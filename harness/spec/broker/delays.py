"""When messages that wait are there, while a Broker is a slave and behind that.

- A slave delivers nothing; what was due meanwhile is delivered soon after it is a master again.
- A Broker that was started as a slave may see to no delays, even when it becomes a master: Apache's decides
  at its start whether it does. Then nothing is known until it is started as a master, or is started again
  when it has become one, and told its role once more.
- What its master has delivered before a slave took its progress over may come from the slave, too, or not.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import msgspec

from harness.spec.broker.entries import Entry


def is_delayed(entry: Entry) -> bool:
    """Whether a message has waited, or waits."""
    return entry.origin in ("delay", "retry", "timer")


class _Waiting(msgspec.Struct):
    """An entry, and when it would be there if the Broker were a master all the while."""

    entry: Entry
    earliest: float
    latest: float


class Delays:
    """Of one Broker. ``slave``: it is started as one."""

    def __init__(self, *, slave: bool = False) -> None:
        self._waiting: list[_Waiting] = []
        self._is_paused = slave
        self._sees_to_them = not slave
        self._progress = -inf
        """When it took over how far its master has delivered."""

    def begins(self, entry: Entry) -> None:
        """A message that waits was stored."""
        if self._is_paused:
            self._wait(entry)
        if self._is_paused or not self._sees_to_them:
            entry.latest = inf

    def copied(self, entry: Entry, latest: float) -> None:
        """A slave has got a message that waits; a master would have delivered it by ``latest``."""
        self._wait(entry)
        if self._is_paused:
            self._waiting[-1].latest = inf if entry.earliest <= self._progress else latest
            entry.earliest = inf
        else:
            self._waiting.pop()

    def delivered(self, message: str, tried: int) -> None:
        """A slave has got what its master has delivered. It need not deliver it again."""
        for one in self._waiting:
            if one.entry.message == message and one.entry.tried == tried:
                one.latest = inf

    def took_over(self, moment: float) -> None:
        """A slave has learnt how far its master has delivered."""
        self._progress = moment
        for one in self._waiting:
            if one.earliest <= moment:
                one.latest = inf

    def pause(self, entries: Iterable[Entry], begin: float, end: float) -> None:
        """The Broker has become a slave, surely by ``end``."""
        self._is_paused = True
        known = {id(one.entry) for one in self._waiting}
        for entry in entries:
            if begin < entry.latest < inf and entry.offset is None and id(entry) not in known:
                self._wait(entry)
                entry.latest = inf
        for one in self._waiting:
            if one.entry.offset is None and one.entry.earliest > end:
                one.entry.earliest = inf

    def resume(self, begin: float, end: float) -> None:
        """It has become a master, and by ``end`` has delivered what was due; inf: unknown."""
        self._may_come(begin)
        if end == inf:
            return
        self._is_paused = False
        if not self._sees_to_them:
            return
        for one in self._waiting:
            if one.entry.offset is None and not one.entry.recalled:
                one.entry.latest = max(one.latest, end)
        self._waiting.clear()

    def restarted(self, begin: float, *, was_master: bool, is_master: bool) -> None:
        """It was ended and started again. ``was_master``: it surely was one in the end."""
        self._may_come(begin)
        self._sees_to_them = was_master
        self._is_paused = not is_master
        if is_master:
            self._waiting.clear()

    def _wait(self, entry: Entry) -> None:
        entry.paused = True
        self._waiting.append(_Waiting(entry, entry.earliest, entry.latest))

    def _may_come(self, begin: float) -> None:
        for one in self._waiting:
            if one.entry.earliest == inf and not one.entry.recalled:
                one.entry.earliest = max(one.earliest, begin)
