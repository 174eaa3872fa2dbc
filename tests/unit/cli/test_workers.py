"""Worker processes end, whatever ends the block that uses them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial

from harness.cli.workers import worker_processes

_INTERRUPTED = """
import signal
import time
from harness.cli.workers import worker_processes

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
    with worker_processes(2) as pool:
        running = [pool.submit(time.sleep, 0.2) for _ in range(2000)]
        running[0].result()
        print("runs", flush=True)
        running[-1].result()
"""


def test_each_calls_its_beginning_first() -> None:
    with worker_processes(1, begin=partial(os.umask, 0o123)) as pool:
        assert pool.submit(os.umask, 0o022).result() == 0o123


def test_an_interrupt_drops_what_has_not_begun() -> None:
    command = [sys.executable, "-c", _INTERRUPTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "runs\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert said.endswith("KeyboardInterrupt\n")
