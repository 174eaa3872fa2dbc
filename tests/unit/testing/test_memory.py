"""What a long run of tests leaves in memory: nothing, after a reset."""

from __future__ import annotations

import gc
import resource
import sys
from pathlib import Path

import pytest

from harness.testing import RocketMQ

from .client import Client

MEGABYTE = 1 << 20
PAGE = resource.getpagesize()
ROUNDS = 400


def resident() -> int:
    """Bytes of memory that this process has now."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_flat_after_many_resets() -> None:
    with RocketMQ(topics=["orders"], groups=["billing"]) as rocketmq:
        sizes = []
        for number in range(5 * ROUNDS):
            for _ in range(20):
                rocketmq.send("orders", bytes(4096))
            with Client(rocketmq.namesrv, "billing", "orders") as client:
                assert len(client.consume()) == 20
            assert len(rocketmq.consumed("billing")) == 20
            rocketmq.reset()
            if number % ROUNDS == ROUNDS - 1:
                sizes.append(resident())
    assert sizes[-1] - sizes[0] < 4 * MEGABYTE, [size // MEGABYTE for size in sizes]
