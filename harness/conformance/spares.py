"""Fresh servers on which failures are tried again.

A failure that does not come back on a fresh server is not the case's own: an earlier case has changed the
server that it ran on. Starting a server takes seconds, so those that are tried again share one, as long as no
case has failed on it, or it does not matter that one has. Where cases go on to fail, the next server starts
before it is asked for.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass

from harness.conformance.idling import Idling
from harness.conformance.stopping import Stopping
from harness.session import Instance, Setup

STARTS = 12  # fresh servers of a run; after that, failures share the last one
OFTEN = 2  # of them with the same settings, on which cases failed: the next ones start ahead
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
    """Hands out fresh servers, one for each setup at a time. May be used by several threads.

    `looks_ahead`: a start takes time, so that it is worth while to begin before a server is asked for.
    """

    def __init__(
        self, start: Callable[[Setup], Instance], stopping: Stopping, idling: Idling, *, looks_ahead: bool
    ) -> None:
        self._start = start
        self._looks_ahead = looks_ahead
        self._stopping = stopping
        self._idling = idling
        self._spares: dict[Setup, Spare] = {}
        self._ahead: dict[Setup, Future[Instance]] = {}
        self._failed_on = Counter[Setup]()
        """On how many of them cases have failed."""
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
                spare = Spare(self._started(setup))
            self._spares.pop(setup, None)
            self._spares[setup] = spare  # the last is the one that was used last
            spare.users += 1
            for unused in [known for known, one in self._spares.items() if not one.users][:-KEPT]:
                self._leave(unused, self._spares[unused])
            was_clean = spare.is_clean
        self._idling.begin(spare.instance)
        try:
            yield spare
        finally:
            self._idling.end(spare.instance)
            with self._lock:
                spare.users -= 1
                if spare.is_left and not spare.users:
                    self._stopping.stop(spare.instance)
                if was_clean and not spare.is_clean:
                    self._failed_on[setup] += 1
                    self._look_ahead(setup)

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
            for found in self._ahead.values():
                found.add_done_callback(self._stop)
            self._ahead.clear()

    def _started(self, setup: Setup) -> Instance:
        """A new server; the one that was started ahead, if there is one."""
        found = self._ahead.pop(setup, None)
        if found is not None:
            return found.result()
        self._starts += 1
        return self._start(setup)

    def _look_ahead(self, setup: Setup) -> None:
        is_likely = self._looks_ahead and self._failed_on[setup] >= OFTEN
        if is_likely and setup not in self._ahead and self._starts < STARTS:
            self._starts += 1
            found = self._ahead[setup] = Future[Instance]()
            threading.Thread(target=self._fill, args=(setup, found), name="spare", daemon=True).start()

    def _fill(self, setup: Setup, found: Future[Instance]) -> None:
        try:
            instance = self._start(setup)
        except BaseException as error:  # raised again where the server is asked for
            found.set_exception(error)
            return
        self._idling.wait(instance)
        found.set_result(instance)

    def _stop(self, found: Future[Instance]) -> None:
        if found.exception() is None:
            self._stopping.stop(found.result())

    def _will_do(self, spare: Spare, clean: bool) -> bool:
        return spare.instance.alive() and (spare.is_clean or not clean or self._starts >= STARTS)

    def _leave(self, setup: Setup, spare: Spare) -> None:
        del self._spares[setup]
        spare.is_left = True
        if not spare.users:
            self._stopping.stop(spare.instance)
