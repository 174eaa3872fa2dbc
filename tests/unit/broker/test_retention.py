"""How long messages are kept."""

from __future__ import annotations

from datetime import datetime

import pytest

from harness.wire import RequestCode
from reference_impl.broker.store import MemoryStorage

from .driver import STARTED, Asked, make_broker
from .store_samples import bodies, message

HOUR = 3_600_000


ALL_DAY = ";".join(f"{hour:02d}" for hour in range(24))


def stored_hourly(profile: str, when: str, used: float = 0.0) -> Asked:
    """A Broker with four messages, each an hour after the one before it and in a file of its own."""
    storage = MemoryStorage(used=used)
    asked = make_broker(profile, mappedFileSizeCommitLog=300, deleteWhen=when, storage=storage)
    for age in range(4):
        asked.broker.store.put(message(f"{age}" + "x" * 300, KEYS="k"), STARTED + age * HOUR)
        asked.broker.store.commit()
    return asked


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
@pytest.mark.parametrize(("hours", "kept"), [(72, 4), (73, 4), (73.1, 3), (74.1, 2), (75.1, 1), (2000, 1)])
def test_files_that_are_too_old_go(profile: str, hours: float, kept: int) -> None:
    """A file goes when what is behind it is older than 72 hours; the last one never does."""
    asked = stored_hourly(profile, ALL_DAY)
    asked.broker.retention.tick(STARTED + round(hours * HOUR))
    store = asked.broker.store
    assert store.min_offset("T", 0) == 4 - kept
    assert [body[0] for body in bodies(store)] == [str(age) for age in range(4 - kept, 4)]
    assert len(store.by_key("T", "k", 9, 0, 1 << 60)) == kept


def test_cleaning_removes_queues_without_messages_and_no_others() -> None:
    asked = make_broker("5.3", mappedFileSizeCommitLog=300, deleteWhen=ALL_DAY)
    store = asked.broker.store
    for age, name in enumerate(("gone", "T")):
        store.put(message("x" * 300, topic=name), STARTED + age * HOUR)
        store.commit()
    asked.broker.retention.tick(STARTED + 74 * HOUR)
    assert store.topics() == {"gone": [0], "T": [0]}
    assert asked.ask(RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE).code == 0
    assert (store.max_offset("gone", 0), store.max_offset("T", 0)) == (0, 1)


def test_they_go_in_the_hours_that_are_given() -> None:
    now = STARTED + 90 * HOUR
    hour = datetime.fromtimestamp(now / 1000).astimezone().hour
    for when, kept in (("24;;x", 4), (f"{(hour + 1) % 24:02d}", 4), (f"30; {hour:02d}", 1)):
        asked = stored_hourly("5.3", when)
        asked.broker.retention.tick(now)
        assert len(bodies(asked.broker.store)) == kept


def test_it_looks_after_a_minute_and_every_ten_seconds_from_then_on() -> None:
    retention = stored_hourly("5.3", ALL_DAY).broker.retention
    assert retention.next_tick() == STARTED + 60_000
    retention.tick(STARTED + 60_000)
    assert retention.next_tick() == STARTED + 70_000


@pytest.mark.parametrize(("used", "kept"), [(0.75, 4), (0.76, 1)])
def test_they_go_at_any_hour_where_the_disk_is_fuller_than_said(used: float, kept: int) -> None:
    asked = stored_hourly("4.9", "24", used)
    asked.broker.retention.tick(STARTED + 2000 * HOUR)
    assert len(bodies(asked.broker.store)) == kept


def test_ten_files_go_at_once() -> None:
    asked = make_broker("5.3", mappedFileSizeCommitLog=300, deleteWhen="24", storage=MemoryStorage(used=0.86))
    for _ in range(13):
        asked.broker.store.put(message("x" * 300), STARTED)
        asked.broker.store.commit()
    for kept in (3, 1, 1):
        asked.broker.retention.tick(STARTED)
        assert len(bodies(asked.broker.store)) == kept


def test_a_log_in_memory_is_as_long_as_it_is_to_be() -> None:
    asked = make_broker("5.3", inMemoryLogBytes=40_000)
    store = asked.broker.store
    for number in range(400):
        store.put(message(f"{number}" + "x" * 300, KEYS="k"), STARTED)
        store.commit()
        asked.broker.settle(STARTED)
        start, end = store.physical_range()
        assert end - start <= 40_000 + 10_000
    first = store.min_offset("T", 0)
    assert 280 < first < 330
    assert len(store.by_key("T", "k", 999, 0, 1 << 60)) == 400 - first


def test_a_log_on_disk_is_as_long_as_its_files_are_young() -> None:
    asked = make_broker("5.3", inMemoryLogBytes=40_000, storePathRootDir="/somewhere")
    for _ in range(400):
        asked.broker.store.put(message("x" * 300), STARTED)
    asked.broker.settle(STARTED)
    assert asked.broker.store.min_offset("T", 0) == 0
