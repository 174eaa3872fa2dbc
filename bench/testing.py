"""`harness.testing` beside the start of a Python that does nothing: what a suite pays for a RocketMQ.

`python -m bench.testing [ROUNDS]` prints milliseconds of a start, of a reset, and of a small test (a topic of
its own, a message sent, waited for and looked at, the topic deleted), their ratio to the start of a Python,
and how much memory the process has after each tenth of ROUNDS rounds (2000) of messages and a reset, with
the ratio of the last to the first.
"""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from harness.testing import RocketMQ
from harness.testing.own import OwnNames

TRIES = 50
MESSAGES, BODY = 20, bytes(4096)
"""What a round sends."""


def start() -> None:
    with RocketMQ():
        pass


def small_test(server: RocketMQ) -> None:
    rocketmq = OwnNames(server)
    rocketmq.topic("orders")
    rocketmq.send("orders", "a book")
    (message,) = rocketmq.wait_for("orders")
    assert message.text == "a book"
    rocketmq.close()


def python() -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


def milliseconds(what: Callable[[], object]) -> float:
    """Of one call; the median of many."""
    taken = []
    for _ in range(TRIES):
        began = time.perf_counter()
        what()
        taken.append(time.perf_counter() - began)
    return sorted(taken)[TRIES // 2] * 1000


def resident() -> int:
    """MiB of memory that this process has now; 0 where that cannot be read."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * resource.getpagesize() >> 20


def main(rounds: int) -> None:
    beside = milliseconds(python)
    print(f"start of a Python            {beside:8.1f} ms")
    with RocketMQ(topics=["orders"]) as server:
        for name, what in (
            ("start and stop of a RocketMQ", start),
            ("reset", server.reset),
            ("small test", lambda: small_test(server)),
        ):
            taken = milliseconds(what)
            print(f"{name:28} {taken:8.1f} ms {taken / beside:6.2f} × the start of a Python")
        sizes = []
        for number in range(rounds):
            for _ in range(MESSAGES):
                server.send("orders", BODY)
            assert len(server.messages("orders")) == MESSAGES
            server.reset()
            if (number + 1) % max(1, rounds // 10) == 0:
                sizes.append(resident())
    print(f"MiB of memory after each tenth of {rounds} rounds: {' '.join(map(str, sizes))}")
    print(f"the last is {sizes[-1] / max(1, sizes[0]):.2f} × the first")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
