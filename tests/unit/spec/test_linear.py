"""The search itself, on a register: one value that is written and read."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pytest

from harness.spec.linear import ENDLESS, Call, search


class Register:
    """A value; it may become 9 by itself between 50 and 60, and must have by 70."""

    def initial(self) -> int:
        return 0

    def after(self, state: int, call: Call, latest: float) -> Iterable[int]:
        kind, value = call.action
        if kind == "write":
            return (value,)
        return (state,) if state == value else ()

    def hidden(self, state: int, earliest: float, latest: float) -> Iterable[int]:
        return (9,) if latest > 50 and state == 5 else ()

    def overdue(self, state: int, now: float) -> bool:
        return state == 5 and now > 70


def call(
    number: int, kind: str, value: int, begin: float, end: float = math.inf, required: bool = True
) -> Call:
    return Call(
        number=number,
        action=(kind, value),
        begin=(begin, 0),
        end=ENDLESS if end == math.inf else (end, 0),
        required=required and end != math.inf,
        reads=kind == "read",
    )


HISTORIES = {
    "one after another": ([("write", 1, 0, 1), ("read", 1, 2, 3)], "linearizable"),
    "what was never written": ([("write", 1, 0, 1), ("read", 2, 2, 3)], "violated"),
    "old value after the write": ([("write", 1, 0, 1), ("read", 0, 2, 3)], "violated"),
    "old value beside the write": ([("write", 1, 0, 5), ("read", 0, 2, 3)], "linearizable"),
    "new value beside the write, then the old": (
        [("write", 1, 0, 9), ("read", 1, 1, 2), ("read", 0, 3, 4)],
        "violated",
    ),
    "two writes beside each other end either way": (
        [("write", 1, 0, 5), ("write", 2, 1, 4), ("read", 1, 6, 7)],
        "linearizable",
    ),
    "but not both ways": (
        [("write", 1, 0, 5), ("write", 2, 1, 4), ("read", 1, 6, 7), ("read", 2, 8, 9)],
        "violated",
    ),
    "a write without answer may have been done": (
        [("write", 1, 0, math.inf), ("read", 1, 6, 7)],
        "linearizable",
    ),
    "or not": ([("write", 1, 0, math.inf), ("read", 0, 6, 7)], "linearizable"),
    "or later": (
        [("write", 1, 0, math.inf), ("read", 0, 6, 7), ("read", 1, 8, 9)],
        "linearizable",
    ),
    "but not undone": (
        [("write", 1, 0, math.inf), ("read", 1, 6, 7), ("read", 0, 8, 9)],
        "violated",
    ),
    "nor before it was sent": ([("read", 1, 0, 1), ("write", 1, 2, math.inf)], "violated"),
    "something happens by itself": ([("write", 5, 0, 1), ("read", 9, 51, 52)], "linearizable"),
    "not too early": ([("write", 5, 0, 1), ("read", 9, 48, 49)], "violated"),
    "not too late": ([("write", 5, 0, 1), ("read", 5, 71, 72)], "violated"),
    "in time": ([("write", 5, 0, 1), ("read", 5, 69, 72), ("read", 9, 73, 74)], "linearizable"),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_search(name: str) -> None:
    steps, answer = HISTORIES[name]
    calls = [call(number, *step) for number, step in enumerate(steps)]
    assert search(Register(), calls).answer == answer
    assert search(Register(), calls[::-1]).answer == answer, (
        "the order in which calls are given does not count"
    )


def test_what_stands_still_is_ordered_by_rank() -> None:
    """Where a clock stands still, the second component of a moment tells what came first."""
    write = Call(number=0, action=("write", 1), begin=(3.0, 1), end=(3.0, 2))
    read = Call(number=1, action=("read", 0), begin=(3.0, 3), end=(3.0, 4), reads=True)
    assert search(Register(), [write, read]).answer == "violated"
    beside = Call(number=1, action=("read", 0), begin=(3.0, 1.5), end=(3.0, 4), reads=True)
    assert search(Register(), [write, beside]).answer == "linearizable"


def test_budget_ends_in_unknown() -> None:
    """What was not tried out is unknown, also where there is no order."""
    calls = [call(number, "write", number, 0, 100) for number in range(12)]
    calls.append(call(12, "read", 99, 101, 102))
    assert search(Register(), calls, budget=1000).answer == "unknown"
    assert search(Register(), calls[:4] + calls[12:]).answer == "violated"


def test_stuck_names_the_calls_that_could_not_go_on() -> None:
    calls = [call(0, "write", 1, 0, 1), call(1, "read", 1, 2, 3), call(2, "read", 7, 4, 5)]
    assert search(Register(), calls).stuck == (2,)
