"""How time passes."""

from __future__ import annotations

import pytest

from harness.session import RunningClock, VirtualClock


class _Target:
    """Due at given moments; remembers when it acted."""

    def __init__(self, *due: int) -> None:
        self.due = list(due)
        self.acted: list[int] = []

    def next_due(self) -> int:
        return self.due[0] if self.due else 2**62

    def tick(self, now: int) -> None:
        self.acted.append(now)
        while self.due and self.due[0] <= now:
            self.due.pop(0)


def test_the_target_acts_at_its_due_times_in_order() -> None:
    target = _Target(5_000, 5_000, 40_000, 90_001)
    clock = VirtualClock(target.next_due, target.tick)
    busy: list[float] = []
    clock.advance(90, lambda: busy.append(clock.now()))
    assert target.acted == [5_000, 40_000]
    assert busy == [0, 30, 60]
    assert clock.now() == 90
    clock.advance(0.001, lambda: None)
    assert target.acted[-1] == 90_001


def test_waiting_stops_when_something_has_come() -> None:
    target = _Target(100, 200, 300)
    clock = VirtualClock(target.next_due, target.tick)
    assert clock.run_until(lambda: len(target.acted) == 2, 1.0)
    assert clock.now() == 0.2
    assert not clock.run_until(lambda: False, 1.0)
    assert clock.now() == 1.2


def test_a_target_that_is_always_due_does_not_stop_time() -> None:
    acted: list[int] = []
    clock = VirtualClock(lambda: 0, acted.append)
    clock.pause(0.01)
    assert clock.now() >= 0.01
    assert len(acted) == 11


def test_a_fraction_of_a_millisecond_is_never_lost() -> None:
    clock = VirtualClock(lambda: 2**62, lambda _: None)
    clock.advance(0.0004, lambda: None)
    assert clock.now() == 0.001
    clock.advance(0.1, lambda: None)
    assert clock.now() == 0.101


def test_warped_time_passes_at_least() -> None:
    clock = RunningClock(100)
    rounds: list[float] = []
    before = clock.now()
    clock.advance(50, lambda: rounds.append(clock.now()))
    assert clock.now() - before >= 50
    assert len(rounds) >= 4
    assert clock.kind == "warped"
    assert RunningClock().kind == "real"


def test_margins_grow_with_the_warp() -> None:
    assert RunningClock(1).timing.jitter == 2.0
    assert RunningClock(60).timing.jitter == 15.0
    assert RunningClock(60).timing.margin == 30.0


def test_time_does_not_run_slower() -> None:
    with pytest.raises(ValueError, match="warp must be 1 or more"):
        RunningClock(0.5)
