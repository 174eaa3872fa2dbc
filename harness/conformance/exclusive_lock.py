"""A readers-writer lock: cases run beside each other, or one of them has the machine to itself.

Where time is warped, a machine that is busy with other cases makes a server late, and a late server looks
like a wrong one. A case that failed once is therefore repeated while nothing else of the run goes on. Where
time is real the waits are long and cost no processor: there, all go on beside each other, repeated or not,
and those that share a wait share the second one, too.

A thread that waits for exclusive use keeps others from starting. The lock is not reentrant.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator

from harness.session import ClockKind


class ExclusiveLock:
    """Many holders of `shared`, or one of `exclusive`."""

    def __init__(self, kind: ClockKind) -> None:
        self._excludes = kind == "warped"
        self._turn = threading.Lock()
        self._change = threading.Condition()
        self._running = 0
        self._wanted = False

    @contextlib.contextmanager
    def shared(self) -> Generator[None]:
        """Runs beside others. Waits while another thread has exclusive use, or waits for it."""
        with self._change:
            self._change.wait_for(lambda: not self._wanted)
            self._running += 1
        try:
            yield
        finally:
            with self._change:
                self._running -= 1
                self._change.notify_all()

    @contextlib.contextmanager
    def exclusive(self) -> Generator[None]:
        """Runs alone. Waits until all others have finished."""
        if not self._excludes:
            yield
            return
        with self._turn:
            try:
                with self._change:
                    self._wanted = True
                    self._change.wait_for(lambda: not (self._wanted and self._running))
                yield
            finally:
                with self._change:
                    self._wanted = False
                    self._change.notify_all()
