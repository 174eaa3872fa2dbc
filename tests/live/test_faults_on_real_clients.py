"""Faults of `harness.testing` with Apache's own client: it recovers, and its application sees what the
reference of faults says.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from clusters import ONE_IN_CI, VERSIONS, clients, missing

from harness.targets import TargetError, maven
from harness.testing import RocketMQ
from harness.testing.fault import Fault

pytestmark = pytest.mark.live

MESSAGES = 50
TOPIC = "T-plain-{}"
"""As the client makes it of the name of a run."""

Begin = Callable[[RocketMQ, str], Fault]


def refused(rocketmq: RocketMQ, run: str) -> Fault:
    return rocketmq.fault.refuse("SERVICE_NOT_AVAILABLE", code="send", topic=TOPIC.format(run), times=2)


def reset(rocketmq: RocketMQ, run: str) -> Fault:
    return rocketmq.fault.reset_connection(code="send", topic=TOPIC.format(run), times=1)


def delivered_twice(rocketmq: RocketMQ, run: str) -> Fault:
    return rocketmq.fault.deliver_twice(topic=TOPIC.format(run))


def cut(rocketmq: RocketMQ, run: str) -> Fault:
    return rocketmq.fault.cut_reply(code="receive", topic=TOPIC.format(run), times=1)


@pytest.mark.parametrize("version", ONE_IN_CI)
@pytest.mark.parametrize(
    ("begin", "is_duplicated"),
    [(refused, False), (reset, True), (delivered_twice, True), (cut, False)],
)
def test_a_client_gets_over_a_fault(begin: Begin, is_duplicated: bool, version: str, tmp_path: Path) -> None:
    run = begin.__name__.replace("_", "-")
    try:
        maven.classpath(version, ["rocketmq-tools"])
        with RocketMQ(profile=VERSIONS[version]) as rocketmq, ThreadPoolExecutor(1) as apart:
            # One thread sends. Apache's client fails what is in flight when a connection ends, but a request
            # of another thread that is written at that moment may wait for its whole timeout, and is lost.
            running = apart.submit(
                clients, version, rocketmq.namesrv, MESSAGES, run, tmp_path, "plain", senders=1
            )
            rocketmq.wait_for(TOPIC.format(run), timeout=300)  # its first message, before a consumer is there
            with begin(rocketmq, run):
                found = running.result()["plain"]
    except TargetError as problem:
        missing(problem)
    assert (found["sent"], found["lost"], found["wrong"]) == (MESSAGES, 0, 0)
    assert (found["duplicated"] > 0) is is_duplicated
