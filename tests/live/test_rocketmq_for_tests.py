"""Apache's own consumer against `harness.testing`: what a test learns of it, and makes it do."""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import VERSIONS, missing
from peers import FIXTURES, JVM

from harness.targets import TargetError, maven
from harness.testing import RocketMQ

pytestmark = pytest.mark.live

COMMITS_BY_ITSELF = 11.0
"""Seconds after its start in which the consumer commits of itself, once."""
PATIENCE = 120


@contextlib.contextmanager
def consumer(version: str, namesrv: str, topic: str, group: str, directory: Path) -> Iterator[list[str]]:
    """What a consumer has handled so far, by the bodies of messages."""
    classpath = maven.classpath(version, ["rocketmq-tools"])
    process = subprocess.Popen(
        [
            *("java", *JVM, f"-Duser.home={directory}", "-cp", classpath),
            *(str(FIXTURES / "java" / "Consumer.java"), namesrv, topic, group),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    handled: list[str] = []
    lines = process.stdout
    assert "ready" in (line.strip() for line in lines)
    reading = threading.Thread(target=lambda: handled.extend(line.strip() for line in lines))
    reading.start()
    try:
        yield handled
    finally:
        process.kill()
        process.communicate()
        reading.join()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_consumer_commits_at_once_and_gets_everything_again(version: str, tmp_path: Path) -> None:
    with RocketMQ(profile=VERSIONS[version], topics=["orders"], groups=["billing"]) as rocketmq:
        try:
            with consumer(version, rocketmq.namesrv, "orders", "billing", tmp_path) as handled:
                time.sleep(COMMITS_BY_ITSELF)
                wanted = [f"order {number}" for number in range(20)]
                for body in wanted:
                    rocketmq.send("orders", body)
                rocketmq.assert_consumed("orders", "billing", timeout=PATIENCE)
                assert sorted(handled) == sorted(wanted)
                assert rocketmq.lag("billing") == 0
                (client,) = rocketmq.clients()
                assert (client.language, client.consumes["billing"]["orders"]) == ("JAVA", "*")
                rocketmq.assert_idempotent("orders", "billing", lambda: set(handled), timeout=PATIENCE)
                assert sorted(handled) == sorted(2 * wanted)
        except TargetError as problem:
            missing(problem)
