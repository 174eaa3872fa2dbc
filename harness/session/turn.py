"""Cases that act one at a time, and wait at the same time.

A case acts while it has the turn. While it waits for an answer, or lets time pass, another has it. So a
server sees one case act as if it were alone, and all waits of a run go on beside each other.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE = 60.0
"""Real seconds; a case that keeps the turn for so long has been given up, and the others go on."""


class Turn:
    """Held by one case at a time. Without a lock everyone has it."""

    def __init__(self, lock: threading.Lock | None = None) -> None:
        self.queued = 0.0
        """Real seconds that the case has stood in line."""
        self.is_held = False
        self._lock = lock

    def __enter__(self) -> None:
        if self._lock is not None:
            began = time.monotonic()
            self.is_held = self._lock.acquire(timeout=_PATIENCE)
            self.queued += time.monotonic() - began

    def __exit__(self, *_: object) -> None:
        if self.is_held and self._lock is not None:
            self.is_held = False
            self._lock.release()

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """Lets others act meanwhile."""
        if not self.is_held:
            yield
            return
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()
