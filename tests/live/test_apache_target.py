"""Apache's own NameServer as a target. Needs Java, Maven with a reachable repository, and libfaketime.

Skipped with the reason where one is missing; a failure instead where RMQ_REQUIRE_LIVE=1 is set.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from harness.conformance import Closed, Reply
from harness.session import NameServerSession
from harness.targets import TargetError, maven, parse
from harness.targets.process import ProcessInstance

pytestmark = pytest.mark.live

SUCCESS, TOPIC_NOT_EXIST = 0, 17


@pytest.fixture(scope="module", params=["4.3.0", "4.9.8", "5.3.3"])
def instance(request: pytest.FixtureRequest) -> Generator[ProcessInstance]:
    try:
        started = parse(f"apache:{request.param}?warp=60").start()
    except TargetError as problem:
        if os.environ.get("RMQ_REQUIRE_LIVE") == "1":
            raise
        pytest.skip(str(problem))
    assert isinstance(started, ProcessInstance)
    yield started
    started.stop()
    assert not Path(f"/proc/{started.pid}").exists()


@pytest.fixture
def ns(instance: ProcessInstance) -> Generator[NameServerSession]:
    line = "5.3" if "5.3.3" in instance.description else "4.9"
    with NameServerSession(instance, line) as session:
        yield session


def test_it_says_what_it_is_made_of(instance: ProcessInstance) -> None:
    assert "time x60" in instance.description
    composed = "4.9.8" in instance.description and maven.stand_in("4.9.8") != ""
    assert ("rocketmq-namesrv is that of 4.9.7" in instance.description) == composed


def test_a_lease_ends_when_it_should_and_not_before(ns: NameServerSession) -> None:
    broker = ns.broker()
    leased = broker.register() >> Reply(SUCCESS)
    ns.advance_short_of(120, since=leased)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)
    ns.advance_past(120, since=leased)
    ns.route(broker.topic("A")) >> Reply(TOPIC_NOT_EXIST)
    broker.connection.closes() >> Closed()


def test_a_busy_connection_outlives_the_idle_timer_and_an_idle_one_does_not(ns: NameServerSession) -> None:
    busy, idle = ns.connect(), ns.connect()
    ns.advance_past(120, idle=(idle,))
    idle.closes() >> Closed()
    busy.call(106) >> Reply(SUCCESS)


def test_a_restart_keeps_kv_and_forgets_routes(instance: ProcessInstance, ns: NameServerSession) -> None:
    broker, namespace = ns.broker(), ns.name("namespace")
    broker.register() >> Reply(SUCCESS)
    ns.put_kv(namespace, "key", "value") >> Reply(SUCCESS)
    before = instance.pid
    ns.restart()
    assert instance.pid != before
    assert not Path(f"/proc/{before}").exists()
    ns.get_kv(namespace, "key").value >> Reply(SUCCESS, "value")
    ns.route(broker.topic("A")) >> Reply(TOPIC_NOT_EXIST)
