"""Removes the containers of a process when that process is gone. A program of its own:

    python -m harness.targets.container_watchdog OWNER

It waits for the end of standard input, which ends with its owner however that ends,
perhaps while the engine is creating a container. So it removes by label until nothing has been found twice in
a row, and gives up after a minute.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time

from harness.targets import engine

_TRIES = 60


def main() -> int:
    """Everything."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    sys.stdin.read()
    nothing = 0
    for _ in range(_TRIES):
        with contextlib.suppress(engine.EngineError):
            nothing = 0 if engine.remove_all(sys.argv[1]) else nothing + 1
        if nothing == 2:
            return 0
        time.sleep(1)
    return 1


if __name__ == "__main__":
    sys.exit(main())
