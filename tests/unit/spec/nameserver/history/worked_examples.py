"""One small history for each anomaly of ``docs/reference/histories.md``; a test compares the two."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from harness.spec.history.register import Delete, Get, Put, RegisterSpec
from harness.spec.linear import Call, Specification
from harness.spec.nameserver.history.anomalies import LOST_UPDATE, RESURRECTED
from harness.spec.nameserver.history.broker_spec import BrokerSpec
from harness.spec.nameserver.history.operations import (
    DropTopic,
    Leave,
    Listed,
    Members,
    Registration,
    Routed,
    Serves,
)

__all__ = ["EXAMPLES", "Example"]

TERM, SCAN = 2.0, 5.0
FOUR = (4, 4, 6, 0)
EIGHT = (8, 8, 6, 0)


class Example(msgspec.Struct, frozen=True):
    """What was done and seen, and what it is called."""

    anomaly: str
    kind: str
    calls: tuple[Call, ...]

    def make(self, relaxed: str | None = None) -> Specification[Any]:
        """The specification of its key (5.3)."""
        if self.kind == "kv":
            return RegisterSpec(relaxed, lost=LOST_UPDATE, back=RESURRECTED)
        end = max(call.end[0] for call in self.calls)
        return BrokerSpec("5.3", term=TERM, scan=SCAN, end=end, relaxed=relaxed)


def _registration(
    address: str, number: int, counter: int, *, topics: bool = True, **more: Any
) -> Registration:
    queues = {1: FOUR, 2: EIGHT}.get(counter, FOUR)
    return Registration(
        address=address,
        id=number,
        topics=(("T0", queues), ("T1", queues)) if topics else (),
        version=(counter, 0, more.pop("state", 0)),
        conn=999,
        lease=120.0,
        accepted=True,
        told=more.pop("told", (None, False)),
    )


def _example(anomaly: str, kind: str, *done: tuple[object, float, float], sessions: str = "") -> Example:
    reads = (Routed, Listed, Members, Serves, Get)
    return Example(
        anomaly,
        kind,
        tuple(
            Call(
                number=number,
                action=action,
                begin=(begin, -math.inf),
                end=(end, math.inf),
                reads=isinstance(action, reads),
                session=sessions[number : number + 1],
            )
            for number, (action, begin, end) in enumerate(done)
        ),
    )


EXAMPLES = {
    example.anomaly: example
    for example in (
        _example(
            "lost registration",
            "broker",
            (_registration("a0", 0, 1), 0, 2),
            (_registration("a1", 1, 1, told=None), 1, 4),
            (Members(((1, "a1"),)), 5, 6),
        ),
        _example(
            "resurrected broker",
            "broker",
            (_registration("a0", 0, 1), 0, 1),
            (Leave("a0", 0), 2, 5),
            (Members(()), 4, 6),
            (Listed(0, "a0"), 7, 8),
        ),
        _example(
            "stale version accepted",
            "broker",
            (_registration("a0", 0, 1, state=2), 0, 2),
            (_registration("a1", 0, 2, state=1), 3, 6),
            (Members(((0, "a0"),)), 4, 5),
            (Members(((0, "a1"),)), 7, 8),
        ),
        _example(
            "phantom queue data",
            "broker",
            (_registration("a0", 0, 1), 0, 2),
            (_registration("a1", 1, 2, told=("a0", True)), 3, 5),
            (Routed("T0", (8, 8, 0), ((0, "a0"), (1, "a1"))), 6, 7),
        ),
        _example(
            "split identity",
            "broker",
            (_registration("a0", 1, 1), 0, 2),
            (_registration("a0", 0, 2), 3, 5),
            (Members(((0, "a0"), (1, "a0"))), 4, 6),
        ),
        _example(
            "ghost topic",
            "broker",
            (_registration("a0", 0, 1), 0, 2),
            (DropTopic("T0"), 3, 5),
            (Serves("T0", listed=False), 4, 6),
            (Serves("T0", listed=True), 7, 8),
        ),
        _example(
            "premature expiry",
            "broker",
            (_registration("a0", 0, 1), 0, 1),
            (Members(((0, "a0"),)), 50, 51),
            (Members(()), 100, 101),
        ),
        _example(
            "overdue lease",
            "broker",
            (_registration("a0", 0, 1), 0, 1),
            (Members(((0, "a0"),)), 129, 130),
        ),
        _example(
            "stale read",
            "broker",
            (_registration("a0", 0, 1), 0, 1),
            (_registration("a1", 0, 2), 2, 4),
            (Members(((0, "a1"),)), 3, 5),
            (Members(((0, "a0"),)), 6, 7),
            (Members(((0, "a1"),)), 8, 9),
        ),
        _example(
            "read your writes broken",
            "broker",
            (_registration("a0", 0, 1), 0, 1),
            (_registration("a1", 0, 2), 2, 4),
            (Members(((0, "a0"),)), 6, 7),
            (Members(((0, "a1"),)), 8, 9),
            sessions="xyyx",
        ),
        _example(
            "monotonic reads broken",
            "broker",
            (_registration("a0", 0, 1), 0, 1),
            (_registration("a1", 0, 2), 2, 4),
            (Members(((0, "a1"),)), 5, 6),
            (Members(((0, "a0"),)), 7, 8),
            (Members(((0, "a1"),)), 9, 10),
            sessions="xyzzx",
        ),
        _example(
            "monotonic writes broken",
            "kv",
            (Put("v1"), 0, 1),
            (Put("v2"), 2, 3),
            (Get("v2"), 4, 5),
            (Get("v1"), 6, 7),
            (Get("v1"), 8, 9),
            sessions="xxyyz",
        ),
        _example(
            "lost update of KV",
            "kv",
            (Put("v1"), 0, 2),
            (Put("v2"), 3, 6),
            (Get("v1"), 4, 5),
            (Get("v1"), 7, 8),
        ),
        _example(
            "resurrected pair",
            "kv",
            (Put("v1"), 0, 2),
            (Delete(), 3, 5),
            (Get(None), 4, 6),
            (Get("v1"), 7, 8),
        ),
        _example("phantom value", "kv", (Put("v1"), 0, 2), (Get("v2"), 1, 3)),
    )
}
