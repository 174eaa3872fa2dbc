"""When a case needs the machine to itself.

Where time is warped, a machine that is busy with the cases beside it makes a server late, and a late server
looks like a wrong one. What was seen once is therefore looked at again while nothing else of the run goes on.
Where time is real the waits are long and cost no processor: there, only those that look again take turns.

Rules of this module: whoever waits to be alone lets nobody else begin; whoever is alone does not ask again.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

from harness.session import ClockKind

__all__ = ["Quiet"]


class Quiet:
    """Many are `beside` each other, or one is `alone`."""

    def __init__(self, kind: ClockKind) -> None:
        self._excludes = kind == "warped"
        self._turn = threading.Lock()
        self._change = threading.Condition()
        self._running = 0
        self._wanted = False

    @contextmanager
    def beside(self) -> Generator[None]:
        """Among others. Waits while somebody is alone, or waits for that."""
        with self._change:
            self._change.wait_for(lambda: not self._wanted)
            self._running += 1
        try:
            yield
        finally:
            with self._change:
                self._running -= 1
                self._change.notify_all()

    @contextmanager
    def alone(self) -> Generator[None]:
        """By itself. Waits until all others have ended what they are at."""
        with self._turn:
            try:
                with self._change:
                    self._wanted = self._excludes
                    self._change.wait_for(lambda: not (self._wanted and self._running))
                yield
            finally:
                with self._change:
                    self._wanted = False
                    self._change.notify_all()
