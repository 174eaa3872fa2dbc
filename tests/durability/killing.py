"""How often and when the tests of durability kill a process.

`RMQ_KILLS` says how often (25; `make soak`: 100).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence

from servers import PATIENCE, Process

KILLS = int(os.environ.get("RMQ_KILLS", "25"))

Work = Callable[[int, threading.Barrier], None]
"""Waits at the barrier, then sends requests to a port until the server dies."""


def kill_at_work(
    server: Process, works: Sequence[Work], count: Callable[[], int], *, after: int, pause: float
) -> None:
    """Kills `server` while `works` run: once `count` has grown by `after`, and `pause` seconds later.

    Returns when the works have ended.
    """
    began = threading.Barrier(len(works) + 1, timeout=PATIENCE)
    workers = [threading.Thread(target=work, args=(server.port, began)) for work in works]
    for worker in workers:
        worker.start()
    began.wait()
    enough, end = count() + after, time.monotonic() + PATIENCE
    while count() < enough and time.monotonic() < end:
        time.sleep(0.0005)
    time.sleep(pause)
    server.kill()
    for worker in workers:
        worker.join(PATIENCE)
        assert not worker.is_alive()
