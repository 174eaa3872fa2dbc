"""One small history for each anomaly of ``docs/reference/broker-histories.md``; a test compares the two."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from harness.spec.broker.history.anomalies import LOST_COMMIT
from harness.spec.broker.history.log_spec import LogSpec
from harness.spec.broker.history.operations import Append, End, Nothing, Shown
from harness.spec.broker.history.per_key import NEVER, shown_by
from harness.spec.history.register import Get, Put, RegisterSpec
from harness.spec.linear import Call, Specification

__all__ = ["EXAMPLES", "Example"]

TERM = 2.0


class Example(msgspec.Struct, frozen=True):
    """What was done and seen, and what it is called."""

    anomaly: str
    kind: str
    calls: tuple[Call, ...]

    def make(self, relaxed: str | None = None) -> Specification[Any]:
        """The specification of its key."""
        if self.kind == "offset":
            return RegisterSpec(relaxed, lost=LOST_COMMIT, initial=NEVER)
        return LogSpec(relaxed, by_ends=self.kind == "end", shown=shown_by(self.calls))


def _send(messages: str, offset: int | None, *, refused: bool = False) -> Append:
    return Append(tuple(messages.split()), offset, accepted=not refused)


def _pull(offset: int, messages: str) -> Shown:
    """``_pull(0, "m0 m2")``: they are shown from the offset on, one behind the other."""
    return Shown(offset, tuple((offset + at, one) for at, one in enumerate(messages.split()) if one != "-"))


def _example(anomaly: str, kind: str, *done: tuple[Any, float, float]) -> Example:
    calls = []
    for number, (asked, begin, end) in enumerate(done):
        is_due = isinstance(asked, Append) and asked.accepted
        action = msgspec.structs.replace(asked, due=end + TERM) if is_due else asked
        reads = isinstance(action, Shown | Nothing | End | Get)
        calls.append(
            Call(number=number, action=action, begin=(begin, -math.inf), end=(end, math.inf), reads=reads)
        )
    return Example(anomaly, kind, tuple(calls))


EXAMPLES = {
    one.anomaly: one
    for one in (
        _example(
            "phantom message",
            "queue",
            (_send("m0", 0), 0, 1),
            (_pull(0, "m0 m9"), 2, 3),
        ),
        _example(
            "aborted read",
            "queue",
            (_send("m0", None, refused=True), 0, 1),
            (_pull(0, "m0"), 2, 3),
        ),
        _example(
            "duplicate message",
            "queue",
            (_send("m0", 0), 0, 1),
            (_pull(0, "m0 m0"), 2, 3),
        ),
        _example(
            "inconsistent offsets",
            "queue",
            (_send("m0", 0), 0, 2),
            (_send("m1", 0), 1, 3),
        ),
        _example(
            "reordered sends",
            "queue",
            (_send("m0", 2), 0, 6),
            (_send("m1", 1), 1, 2),
            (_send("m2", 0), 3, 4),
        ),
        _example(
            "phantom offset",
            "end",
            (_send("m0", 0), 0, 2),
            (End(2), 1, 3),
        ),
        _example(
            "lost message",
            "queue",
            (_send("m0", 0), 0, 2),
            (_send("m1", 1), 1, 3),
            (Nothing(1), 9, 10),
        ),
        _example(
            "skipped message",
            "queue",
            (_send("m0 m1 m2", 0), 0, 1),
            (_pull(0, "m0 m1 m2"), 2, 3),
            (_pull(0, "m0 - m2"), 4, 5),
        ),
        _example(
            "overdue message",
            "queue",
            (_send("m0", 0), 0, 1),
            (Nothing(0), 9, 10),
            (_pull(0, "m0"), 11, 12),
        ),
        _example(
            "nonmonotonic read",
            "queue",
            (_send("m0", 0), 0, 3),
            (_pull(0, "m0"), 1, 2),
            (Nothing(0), 2.5, 4),
            (_pull(0, "m0"), 5, 6),
        ),
        _example(
            "phantom commit",
            "offset",
            (Put("4"), 0, 2),
            (Get("7"), 1, 3),
        ),
        _example(
            "lost commit",
            "offset",
            (Put("4"), 0, 1),
            (Put("7"), 2, 3),
            (Get("4"), 4, 5),
            (Get("4"), 6, 7),
        ),
        _example(
            "stale commit",
            "offset",
            (Put("4"), 0, 1),
            (Put("7"), 2, 5),
            (Get("7"), 3, 4),
            (Get("4"), 6, 7),
            (Get("7"), 8, 9),
        ),
    )
}
"""By anomaly."""
