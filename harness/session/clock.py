"""Protocol seconds: the same case in virtual, warped or real time.

- A *protocol second* is a second on the target's clock. Cases speak of nothing else.
- A *waiting second* is what a wait costs: a real second, or a virtual one where the clock is virtual.
- ``advance`` never returns early: when it does, at least that much time has passed on the target's clock.
- Everything that depends on how time passes is a number in ``Timing``; no other code asks which clock it is.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Literal, Protocol

import msgspec

ClockKind = Literal["virtual", "warped", "real"]


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """How long to wait for what. Waiting seconds unless it says protocol seconds."""

    answer: float
    """An answer, or a close that is expected, must have come by then."""
    patience: float
    """``eventually()`` and ``settle()`` repeat for so long."""
    pause: float
    """Between two repetitions."""
    grace: float
    """What is still accepted as an answer after a probe was answered."""
    brief: float
    """The same after a wait that was in vain before."""
    longest: float
    """An answer must have come to its end by then, however steadily its bytes arrive."""
    probe: float
    """A probe must be answered by then."""
    busy: float
    """Protocol seconds after which a quiet connection is given something to do. Targets close idle ones at
    120.
    """
    jitter: float
    """Protocol seconds by which a target may act late for want of a processor."""
    margin: float
    """Protocol seconds that must be left of a term for a request to be surely answered within it."""


class Clock(Protocol):
    """The target's clock, as far as the harness can know and move it."""

    @property
    def kind(self) -> ClockKind: ...

    @property
    def warp(self) -> float:
        """Protocol seconds per real second; 0 where time is virtual."""
        ...

    @property
    def timing(self) -> Timing: ...

    def now(self) -> float:
        """Protocol seconds since the clock was made. Never goes back."""
        ...

    def waiting(self) -> float:
        """Waiting seconds since the clock was made."""
        ...

    def advance(self, seconds: float, busy: Callable[[], None]) -> None:
        """Lets protocol seconds pass. ``busy`` is called at the beginning and at least every
        ``timing.busy``.
        """
        ...

    def pause(self, waiting_seconds: float) -> None:
        """Lets waiting seconds pass."""
        ...


class RunningClock:
    """Time that passes by itself, ``warp`` protocol seconds in each real one. ``warp=1`` is real time.

    The numbers: a JVM beside two busy cores was seen to act up to 0.2 s late, so jitter is 0.25 s and the
    margin 0.5 s of real time, and never less than two protocol seconds. A connection is kept busy four times
    within the 120 protocol seconds of an idle timer.
    """

    def __init__(self, warp: float = 1.0) -> None:
        if not warp >= 1:
            raise ValueError(f"warp must be 1 or more, got {warp}")
        self._warp = float(warp)
        self._began = time.monotonic()
        self._timing = Timing(
            answer=3.0,
            patience=2.0,
            pause=0.02,
            grace=0.15,
            brief=0.25,
            longest=12.0,
            probe=1.0,
            busy=30.0,
            jitter=max(2.0, 0.25 * warp),
            margin=max(2.0, 0.5 * warp),
        )

    @property
    def kind(self) -> ClockKind:
        return "real" if self._warp == 1 else "warped"

    @property
    def warp(self) -> float:
        return self._warp

    @property
    def timing(self) -> Timing:
        return self._timing

    def now(self) -> float:
        return (time.monotonic() - self._began) * self._warp

    def waiting(self) -> float:
        return time.monotonic() - self._began

    def advance(self, seconds: float, busy: Callable[[], None]) -> None:
        end = self.now() + seconds
        while (left := end - self.now()) > 0:
            busy()
            # A third of the interval: being woken late must not cost a connection.
            time.sleep(max(0.0, min(left, self._timing.busy / 3, end - self.now())) / self._warp)

    def pause(self, waiting_seconds: float) -> None:
        time.sleep(waiting_seconds)


class VirtualClock:
    """Time that stands still until it is moved. It moves from one due time of the target to the next.

    ``next_due()`` gives the millisecond at which the target wants to act next, ``tick(now)`` lets it act.
    Times are whole milliseconds, as the target's are. May be used by several threads, one of which moves it
    at a time, holding `lock`. A target whose callbacks take a lock of their own must give that one: two locks
    would be taken in either order.
    """

    def __init__(
        self,
        next_due: Callable[[], int],
        tick: Callable[[int], None],
        lock: AbstractContextManager[object] | None = None,
    ) -> None:
        self._next_due = next_due
        self._tick = tick
        self._now = 0
        self._lock = threading.RLock() if lock is None else lock
        self._timing = Timing(
            answer=1.0,
            patience=2.0,
            pause=0.1,
            grace=0.0,
            brief=0.0,
            longest=12.0,
            probe=1.0,
            busy=30.0,
            jitter=0.0,
            margin=0.0,
        )

    @property
    def kind(self) -> ClockKind:
        return "virtual"

    @property
    def warp(self) -> float:
        return 0.0

    @property
    def timing(self) -> Timing:
        return self._timing

    @property
    def milliseconds(self) -> int:
        return self._now

    def now(self) -> float:
        return self._now / 1000

    def waiting(self) -> float:
        return self._now / 1000

    def advance(self, seconds: float, busy: Callable[[], None]) -> None:
        end = self._now + math.ceil(round(seconds * 1000, 6))
        while self._now < end:
            busy()
            self._run_to(min(end, self._now + int(self._timing.busy * 1000)))

    def pause(self, waiting_seconds: float) -> None:
        self._run_to(self._now + math.ceil(round(waiting_seconds * 1000, 6)))

    def run_until(self, met: Callable[[], bool], waiting_seconds: float) -> bool:
        """Moves on, action by action, until ``met`` or for these virtual seconds; returns whether it was
        met.
        """
        with self._lock:
            end = self._now + math.ceil(round(waiting_seconds * 1000, 6))
            while not met():
                due = max(self._now, self._next_due())
                if due > end:
                    self._now = max(self._now, end)
                    return False
                self._act(due)
            return True

    def _run_to(self, end: int) -> None:
        with self._lock:
            while (due := max(self._now, self._next_due())) <= end:
                self._act(due)
            self._now = max(self._now, end)

    def _act(self, due: int) -> None:
        self._now = due
        self._tick(due)
        if self._next_due() <= due:
            # A target that stays due at one moment would hold time still for ever.
            self._now = due + 1
