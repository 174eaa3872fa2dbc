"""A readers-writer lock: cases run beside each other, or one of them has the machine to itself.

Where time is warped, a machine that is busy with other cases makes a server late, and a late server looks
like a wrong one. A case that lets time pass and failed once is therefore repeated in quiet, beside no more
than such cases, which do nothing but wait; one that came too late is repeated alone. Where time is real the
waits are long and cost no processor: there, all go on beside each other, repeated or not, and those that
share a wait share the second one, too.

A thread that waits for quiet, or for exclusive use, keeps others from starting. The lock is not reentrant.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator

from harness.session import ClockKind


class ExclusiveLock:
    """Many holders of `shared`, or one of `exclusive`; beside those of `quiet`, shared ones that wait."""

    def __init__(self, kind: ClockKind) -> None:
        self.kind = kind
        self._excludes = kind == "warped"
        self._turn = threading.Lock()
        self._change = threading.Condition()
        self._running = 0
        self._working = 0
        """Those of the running ones that do not just wait."""
        self._quiet = 0
        """Those that are in quiet, or want to be."""
        self._wanted = False

    @contextlib.contextmanager
    def shared(self, *, waits: bool = False) -> Generator[None]:
        """Runs beside others. Does not begin while another thread has quiet or exclusive use, or wants it.

        `waits`: until time has passed; it takes next to no processor.
        """
        with self._among(lambda: not (self._wanted or self._quiet), works=not waits):
            yield

    @contextlib.contextmanager
    def quiet(self) -> Generator[None]:
        """Runs beside others that wait. Waits until those that work have finished."""
        if not self._excludes:
            yield
            return
        with self._change:
            self._change.wait_for(lambda: not self._wanted)
            self._quiet += 1
        try:
            with self._among(lambda: not self._working, works=False):
                yield
        finally:
            with self._change:
                self._quiet -= 1
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
                    self._change.wait_for(lambda: not (self._running or self._quiet))
                yield
            finally:
                with self._change:
                    self._wanted = False
                    self._change.notify_all()

    @contextlib.contextmanager
    def _among(self, may_begin: Callable[[], bool], *, works: bool) -> Generator[None]:
        with self._change:
            self._change.wait_for(may_begin)
            self._running += 1
            self._working += works
        try:
            yield
        finally:
            with self._change:
                self._running -= 1
                self._working -= works
                self._change.notify_all()
