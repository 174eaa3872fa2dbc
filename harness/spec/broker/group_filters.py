"""Filters by SQL92 that groups have said in heartbeats.

- The filter of a group for a topic is replaced by one of a later version only. One that cannot be compiled
  takes the one before it away; the same one takes the later version; an empty one is none.
- It outlives its group and the subscription, for longer than programs last (`filterDataCleanTimeSpan`).
- A kill may lose what was not written down yet.

Source: ConsumerFilterManager#register, FilterDataMapByTopic (4.9.8, 5.3.3).
"""

from __future__ import annotations

from math import inf

import msgspec

from harness.program.broker import steps as bk
from harness.program.broker.filters import Empty, Filter, Unreadable
from harness.wire import Command

_UNWRITTEN = 25.0
"""Seconds within which filters have surely been written down: that is tried every 10 s."""


class GroupFilter(msgspec.Struct):
    """The filter of a group for a topic; None: there is none."""

    filter: Filter | None
    version: int
    since: float = inf
    """When it was surely there."""
    sure: bool = True
    """Whether it is known that this one counts."""


class GroupFilters:
    """Of one Broker."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], GroupFilter] = {}

    def of(self, group: str, topic: str) -> GroupFilter:
        """The one that counts, as far as is known."""
        return self._known.get((group, topic), GroupFilter(None, -1))

    def beat(self, step: bk.Beat, end: float, answer: Command | None) -> None:
        """34."""
        if step.filter is None or isinstance(step.filter, Empty):
            return
        for group in step.groups:
            for topic in step.topics:
                self._said(step.filter, step.version, group, topic, end, sure=answer is not None)

    def _said(self, said: Filter, version: int, group: str, topic: str, end: float, *, sure: bool) -> None:
        known = self.of(group, topic)
        if not sure:
            self._known[group, topic] = GroupFilter(None, max(version, known.version), sure=False)
        elif version > known.version:
            kept = None if isinstance(said, Unreadable) else said
            self._known[group, topic] = GroupFilter(kept, -1 if kept is None else version, end)

    def restarted(self, how: str, begin: float) -> None:
        """The Broker was ended and started again."""
        for one in self._known.values():
            if how == "kill" and one.since > begin - _UNWRITTEN:
                one.sure = False
