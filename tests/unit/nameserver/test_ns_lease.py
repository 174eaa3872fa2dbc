"""Leases, expiry scans and idle connections, in virtual time."""

from __future__ import annotations

import pytest
from ns_driver import Driver, version

from reference_impl.nameserver import Config


def _alive(ns: Driver) -> bool:
    return ns.addresses() is not None


def test_a_lease_ends_after_120_s_at_the_next_scan(ns: Driver) -> None:
    broker = ns.connect()
    ns.advance_awake(1, ns.client)
    ns.register(on=broker)
    ns.advance_awake(120, broker, ns.client)
    assert _alive(ns)
    assert broker not in ns.closed
    ns.advance_awake(10 if ns.profile == "4.9" else 5, broker, ns.client)
    assert not _alive(ns)
    assert broker in ns.closed
    assert ns.topics() == []


@pytest.mark.parametrize(("profile", "scans"), [("4.9", [5, 15, 25]), ("5.3", [5, 10, 15])])
def test_when_scans_happen(profile: str, scans: list[int]) -> None:
    ns = Driver(profile)
    assert ns.endpoint.next_tick(0) == 5000
    times = []
    while len(times) < len(scans):
        due = ns.endpoint.next_tick(ns.now)
        ns.advance((due - ns.now) / 1000)
        times.append(ns.now // 1000)
    assert times == scans


def test_one_jump_is_as_many_steps(ns: Driver) -> None:
    stepwise = Driver(ns.profile)
    for driver in (ns, stepwise):
        driver.register(on=driver.connect())
    ns.advance(300)
    for _ in range(300):
        stepwise.advance(1)
    assert sorted(ns.closed) == sorted(stepwise.closed)
    assert ns.endpoint.routes.brokers == stepwise.endpoint.routes.brokers == {}
    assert ns.endpoint.next_tick(ns.now) == stepwise.endpoint.next_tick(ns.now)


def test_registering_again_renews(ns: Driver) -> None:
    broker = ns.connect()
    for _ in range(5):
        ns.register(on=broker)
        ns.advance_awake(60, broker, ns.client)
    assert _alive(ns)


@pytest.mark.parametrize(("counter", "renews"), [(1, {"4.9", "5.3"}), (2, {"5.3"})])
def test_a_data_version_query_renews(ns: Driver, counter: int, renews: set[str]) -> None:
    broker = ns.connect()
    ns.register(on=broker)
    for _ in range(4):
        ns.advance_awake(60, broker, ns.client)
        ns.query(version(counter))
    assert _alive(ns) == (ns.profile in renews)


def test_a_heartbeat_renews_and_creates_nothing(ns53: Driver) -> None:
    broker = ns53.connect()
    ext: dict[str, str | None] = {"brokerName": "b", "brokerAddr": "1.1.1.1:1", "clusterName": "c"}
    assert ns53.call(904, ext).code == 0
    assert not _alive(ns53)
    ns53.register(on=broker)
    for _ in range(4):
        ns53.advance_awake(60, broker, ns53.client)
        assert ns53.call(904, ext).code == 0
    assert _alive(ns53)
    assert ns53.call(904, {"brokerAddr": "1.1.1.1:1"}).code == 1


@pytest.mark.parametrize(("asked", "seconds"), [("1500", 10), ("0", 10), ("-5", 10), ("9000", 15)])
def test_a_broker_chooses_its_lease_in_5x(ns: Driver, asked: str, seconds: int) -> None:
    ns.register(ext={"heartbeatTimeoutMillis": asked}, on=ns.connect())
    ns.advance(seconds)
    ns.client = ns.connect()
    assert _alive(ns) == (ns.profile == "4.9")


def test_a_chosen_lease_is_not_shortened_by_a_heartbeat(ns53: Driver) -> None:
    ns53.register(ext={"heartbeatTimeoutMillis": "600000"}, on=ns53.connect())
    ext: dict[str, str | None] = {
        "brokerAddr": "1.1.1.1:1",
        "clusterName": "c",
        "heartbeatTimeoutMills": "1000",
    }
    ns53.call(904, ext)
    ns53.advance(60)
    assert _alive(ns53)


def test_the_scan_interval_is_configured_in_5x() -> None:
    ns = Driver("5.3", config=Config(scan_not_active_broker_interval=700))
    assert ns.endpoint.next_tick(0) == 700


# -- idle connections ----------------------------------------------------------------------------------------


def test_an_idle_connection_is_closed_after_120_s(ns: Driver) -> None:
    quiet = ns.connect()
    ns.advance_awake(119, ns.client)
    assert quiet not in ns.closed
    ns.advance_awake(1, ns.client)
    assert quiet in ns.closed
    assert ns.client not in ns.closed


def test_bytes_of_an_incomplete_frame_keep_nobody_awake(ns: Driver) -> None:
    slow = ns.connect()
    for _ in range(120):
        ns.advance(1)
        ns.send(b"\0", on=slow) if slow not in ns.closed and ns.now < 4000 else None
    assert slow in ns.closed


def test_one_way_requests_keep_awake(ns: Driver) -> None:
    for _ in range(4):
        ns.advance(60)
        assert ns.ask(106, flag=2) is None
    assert ns.client not in ns.closed


def test_the_end_of_an_idle_connection_removes_its_broker(ns: Driver) -> None:
    ns.register(on=ns.connect(), ext={"heartbeatTimeoutMillis": "600000"})
    ns.advance_awake(119, ns.client)
    assert _alive(ns)
    ns.advance_awake(2, ns.client)
    assert not _alive(ns)


def test_the_idle_time_is_configured(ns: Driver) -> None:
    short = Driver(ns.profile, config=Config(server_channel_max_idle_time_seconds=3))
    assert short.endpoint.next_tick(0) == 3000
    short.advance(3)
    assert short.closed == [short.client]
    endless = Driver(ns.profile, config=Config(server_channel_max_idle_time_seconds=0))
    endless.advance(100_000)
    assert endless.closed == []
