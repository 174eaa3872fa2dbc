"""Fresh servers on which failures are tried again.

A failure that does not come back on a fresh server is not the case's own: an earlier case has changed the
server that it ran on. Starting a server takes seconds, so those that are tried again share one, as long as no
case has failed on it, or it does not matter that one has.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harness.conformance.idling import Idling
from harness.conformance.stopping import Stopping
from harness.session import Instance, Setup

STARTS = 12  # fresh servers of a run; after that, failures share the last one
KEPT = 2  # of them, those that run at a time and are not in use: where time runs fast, idle ones work hard


@dataclass(slots=True)
class Spare:
    """A server that no case of the run has used, but those that were tried again."""

    instance: Instance
    is_clean: bool = True
    """Whether no case has failed on it."""
    is_unused: bool = False
    """Whether it is there for a single try."""
    users: int = 0
    is_left: bool = False
    """Whether another one has taken its place: it stops with its last user."""


class Spares:
    """Hands out fresh servers, one for each setup at a time. May be used by several threads."""

    def __init__(self, start: Callable[[Setup], Instance], stopping: Stopping, idling: Idling) -> None:
        self._start = start
        self._stopping = stopping
        self._idling = idling
        self._spares: dict[Setup, Spare] = {}
        self._lock = threading.Lock()
        self._starts = 0

    @contextlib.contextmanager
    def one(self, setup: Setup, *, clean: bool) -> Iterator[Spare]:
        """A fresh server. `clean`: no case may have failed on it, unless that would be one start too many.

        Raises what its start raises.
        """
        with self._lock:
            spare = self._spares.get(setup)
            if spare is not None and not self._will_do(spare, clean):
                self._leave(setup, spare)
                spare = None
            if spare is None:
                self._starts += 1
                spare = Spare(self._start(setup))
            self._spares.pop(setup, None)
            self._spares[setup] = spare  # the last is the one that was used last
            spare.users += 1
            for unused in [known for known, one in self._spares.items() if not one.users][:-KEPT]:
                self._leave(unused, self._spares[unused])
        self._idling.begin(spare.instance)
        try:
            yield spare
        finally:
            self._idling.end(spare.instance)
            with self._lock:
                spare.users -= 1
                if spare.is_left and not spare.users:
                    self._stopping.stop(spare.instance)

    def adopted(self, setup: Setup, spare: Spare) -> Instance:
        """The server, which is the caller's from now on, also to be stopped."""
        with self._lock:
            if self._spares.get(setup) is spare:
                del self._spares[setup]
        return spare.instance

    def close(self) -> None:
        """Has them all stopped."""
        with self._lock:
            for spare in self._spares.values():
                self._stopping.stop(spare.instance)
            self._spares.clear()

    def _will_do(self, spare: Spare, clean: bool) -> bool:
        return spare.instance.alive() and (spare.is_clean or not clean or self._starts >= STARTS)

    def _leave(self, setup: Setup, spare: Spare) -> None:
        del self._spares[setup]
        spare.is_left = True
        if not spare.users:
            self._stopping.stop(spare.instance)
