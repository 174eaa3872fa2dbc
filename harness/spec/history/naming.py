"""What is wrong with a history that no order explains: a name with a definition, and the decisive calls.

- A name is decided by argument, not by likeness: the server is excused for one kind of fault (`relaxed` of
  the specification), and where the whole history can then be explained, that fault is its name. The order of
  the anomalies decides where several can explain it: what is said about fewer things comes first.
- What a few calls show alone, whatever else there is, needs no such argument.
- The decisive calls are those that are left when every reading has been dropped without which nothing
  explains the rest, and every other call that may just as well have happened at any time or never.
- Where no single excuse will do, the anomaly is ``no order``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from harness.spec.linear import ENDLESS, Call, Moment, Specification, search

NONE = "no order"
ARGUMENT = 1_000
"""Budget of one search on the way to a name."""
ANY_TIME: Moment = (-math.inf, -math.inf)


class Anomaly(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of fault that a history shows."""

    name: str
    kinds: tuple[str, ...]
    """Of which keys: ``broker``, ``kv``, …"""
    text: str
    """Its definition."""
    statement: str
    """Id of the statement that is broken."""
    argued: bool = True
    """Whether it is found by excusing a server for it."""
    late: Literal["", "decisive", "all"] = ""
    """Which readings may be late, if that is the excuse: they may show what was there at any time before."""


class Explained(msgspec.Struct, frozen=True):
    """An anomaly, and the calls that decide it."""

    anomaly: Anomaly
    calls: tuple[Call, ...]


Make = Callable[[str | None], Specification[Any]]
"""A specification that excuses a fault."""


def no_contradiction(calls: Sequence[Call]) -> tuple[str, Sequence[Call]] | None:
    """Where calls cannot contradict each other alone."""
    return None


def found_nothing(calls: Sequence[Call], decisive: Sequence[Call]) -> str | None:
    """Where nothing can be seen without an argument."""
    return None


def kept(name: str, calls: Sequence[Call], decisive: Sequence[Call], make: Make) -> str | None:
    """Where no name is narrower than another."""
    return None


class Naming(msgspec.Struct, frozen=True, kw_only=True):
    """How the anomalies of a role are found."""

    anomalies: Mapping[str, Anomaly]
    unanswered: Callable[[Any], Any]
    """An action of which nothing is known but that it was asked for."""
    contradiction: Callable[[Sequence[Call]], tuple[str, Sequence[Call]] | None] = no_contradiction
    """What a few calls contradict each other in, and these calls, which are then the decisive ones."""
    alone: Callable[[Sequence[Call], Sequence[Call]], str | None] = found_nothing
    """What decisive calls show without an argument. It is given all calls and these."""
    narrower: Callable[[str, Sequence[Call], Sequence[Call], Make], str | None] = kept
    """The anomaly that one is, on a closer look."""

    def explained(self, kind: str, calls: Sequence[Call], make: Make) -> Explained:
        """The name of a history that is not linearizable (``calls`` of one key), and its decisive calls."""
        if (found := self.contradiction(calls)) is not None:
            return Explained(self.anomalies[found[0]], tuple(found[1]))
        decisive = self._decisive(calls, make(None))
        return Explained(self.anomalies[self._name(kind, calls, decisive, make)], tuple(decisive))

    def _name(self, kind: str, calls: Sequence[Call], decisive: Sequence[Call], make: Make) -> str:
        if (seen := self.alone(calls, decisive)) is not None:
            return seen
        for name, anomaly in self.anomalies.items():
            if kind not in anomaly.kinds or not anomaly.argued:
                continue
            excused, spec = calls, make(None if anomaly.late else name)
            if anomaly.late:
                among = calls if anomaly.late == "all" else decisive
                late = {call.number for call in among if call.reads}
                excused = [earlier(call) if call.reads and call.number in late else call for call in calls]
            if search(spec, excused, budget=ARGUMENT).answer == "linearizable":
                return self.narrower(name, calls, decisive, make) or name
        return NONE

    def _decisive(self, calls: Sequence[Call], spec: Specification[Any]) -> list[Call]:
        def fails(some: Sequence[Call]) -> bool:
            return search(spec, some, budget=ARGUMENT).answer == "violated"

        left = _fewer(list(calls), lambda call: call.reads, fails)
        for call in [call for call in left if not call.reads]:
            rest = [other for other in left if other is not call]
            if fails([*rest, self._whenever(call)]):
                left = rest
        return sorted(left, key=lambda call: (call.begin, call.number))

    def _whenever(self, call: Call) -> Call:
        """A change that may have come about at any time, or not at all, and whatever was answered to it."""
        return msgspec.structs.replace(
            call, action=self.unanswered(call.action), begin=ANY_TIME, end=ENDLESS, required=False
        )


def earlier(call: Call, since: Moment = ANY_TIME) -> Call:
    """A reading that may show what was there before it was asked for."""
    return msgspec.structs.replace(call, begin=since)


def _fewer(
    calls: list[Call], may_go: Callable[[Call], bool], fails: Callable[[Sequence[Call]], bool]
) -> list[Call]:
    """Chunks of what may go are dropped, then single calls, while it still fails."""
    size = max(1, len(calls) // 2)
    while True:
        at = len(calls) - size
        while at > -size:
            low = max(0, at)
            rest = [
                call for place, call in enumerate(calls) if not (low <= place < at + size and may_go(call))
            ]
            if len(rest) < len(calls) and fails(rest):
                calls = rest
            at -= size
        if size == 1:
            return calls
        size //= 2
