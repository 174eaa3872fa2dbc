"""Stops servers beside the run: one of Apache's takes three seconds to end, and nothing waits for that."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from harness.session import Instance

AT_ONCE = 8  # servers that are being stopped


class Stopping:
    """Stops servers, in threads unless they are in virtual time. May be used by several threads."""

    def __init__(self, *, at_once: bool) -> None:
        self._pool = None if at_once else ThreadPoolExecutor(AT_ONCE, "stopping")
        self._stopped: list[Future[None]] = []
        self._lock = threading.Lock()

    def stop(self, instance: Instance) -> None:
        """Stops a server, and need not wait for its end."""
        with self._lock:
            if self._pool is not None:
                self._stopped.append(self._pool.submit(instance.stop))
                return
        instance.stop()

    def close(self) -> None:
        """Waits until all have ended; who comes later waits for each. Raises what a stop raised."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()
        for one in self._stopped:
            one.result()
