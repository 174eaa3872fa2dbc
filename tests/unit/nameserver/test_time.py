"""When scans happen, and that one jump of the clock is as many steps."""

from __future__ import annotations

import pytest

from reference_impl.nameserver import Config

from .driver import Driver


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


def test_the_scan_interval_is_configured_in_5x() -> None:
    ns = Driver("5.3", config=Config(scan_not_active_broker_interval=700))
    assert ns.endpoint.next_tick(0) == 700


def test_the_idle_time_is_configured(ns: Driver) -> None:
    short = Driver(ns.profile, config=Config(server_channel_max_idle_time_seconds=3))
    assert short.endpoint.next_tick(0) == 3000
    short.advance(3)
    assert short.closed == [short.client]
    endless = Driver(ns.profile, config=Config(server_channel_max_idle_time_seconds=0))
    endless.advance(100_000)
    assert endless.closed == []
