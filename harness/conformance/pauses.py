"""Servers that stop answering for a while: which of the cases that waited was the first.

A server that freezes for some seconds, and goes on, leaves the requests of all cases unanswered that ask it
meanwhile. What it froze in is the one that had waited longest; the others were beside it, and have measured
nothing.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

from harness.session import Instance


class Wait(NamedTuple):
    """A case waited in vain for an answer of a server, from `begin` to `end`: seconds of the run."""

    case: str
    instance: Instance
    begin: float
    end: float

    def is_beside(self, other: Wait) -> bool:
        """Whether another case was waiting for an answer of the same server when this wait began."""
        same = self.instance is other.instance and self.case != other.case
        return same and other.begin < self.begin < other.end


class Pauses:
    """The waits in vain of a run. May be used by several threads."""

    def __init__(self) -> None:
        self._waits: list[Wait] = []
        self._lock = threading.Lock()

    def note(self, wait: Wait) -> None:
        """A case has failed at it."""
        with self._lock:
            self._waits.append(wait)

    def explain(self, wait: Wait | None) -> bool:
        """Whether it began in a pause in which another case had already waited."""
        with self._lock:
            return wait is not None and any(wait.is_beside(one) for one in self._waits)
