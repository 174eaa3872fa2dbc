"""Connections of replication, as the endpoint of a Broker sees them."""

from __future__ import annotations

import struct

import pytest

from harness.wire import FLAG_RESPONSE, Command, encode
from reference_impl.broker import Config, Endpoint, build
from reference_impl.broker.store import MemoryStorage
from reference_impl.remoting.effects import Ask, Close, Dial, Send

from .driver import STARTED, FirstChoice
from .store_samples import bodies

NOW = STARTED + 1


def endpoint(storage: MemoryStorage | None = None, **settings: object) -> Endpoint:
    config = Config(**settings)  # type: ignore[arg-type]
    return build("5.3", config=config, storage=storage, chance=FirstChoice(), started=STARTED)


def test_a_slave_that_half_closes_is_ended() -> None:
    master = endpoint()
    master.connected_slave(7, "10.0.0.2:5", NOW)
    assert Close(7) in master.half_closed(7, NOW)
    assert 7 not in master.broker.slave_links
    assert master.received(7, bytes(8), NOW) == []


@pytest.mark.parametrize("size", [-1, 4 << 20])
def test_a_push_of_an_impossible_size_ends_the_connection(size: int) -> None:
    slave = endpoint(broker_role="SLAVE", broker_id=1, ha_master_address="10.0.0.1:10912")
    assert Dial("10.0.0.1:10912", 3_000) in slave.tick(NOW)
    assert slave.dialled(3, NOW) == [Send(3, bytes(8))]
    assert Close(3) in slave.received(3, struct.pack(">qi", 0, size), NOW)
    assert Dial("10.0.0.1:10912", 3_000) not in slave.tick(NOW + 4_999)
    assert Dial("10.0.0.1:10912", 3_000) in slave.tick(NOW + 5_000)


def test_a_slave_that_cannot_connect_tries_again() -> None:
    slave = endpoint(broker_role="SLAVE", broker_id=1, ha_master_address="10.0.0.1:10912")
    slave.tick(NOW)
    slave.dialled(None, NOW + 3_000)
    assert Dial("10.0.0.1:10912", 3_000) in slave.tick(NOW + 8_000)


def test_a_slave_follows_the_answer_of_a_new_master() -> None:
    slave = endpoint(broker_role="SLAVE", broker_id=1)
    slave.broker.ha_membership.find_place_to_copy("10.0.0.1:10911")
    (asked,) = [one for one in slave.work() if isinstance(one, Ask)]
    answer = Command(
        code=0, opaque=asked.number, flag=FLAG_RESPONSE, ext={"masterHaAddress": "10.0.0.1:10912"}
    )
    slave.answered(asked.number, encode(answer), NOW)
    assert Dial("10.0.0.1:10912", 3_000) in slave.tick(NOW)


def test_a_slave_that_was_made_a_master_takes_no_pushes() -> None:
    slave = endpoint(broker_role="SLAVE", broker_id=1, ha_master_address="10.0.0.1:10912")
    slave.tick(NOW)
    slave.dialled(3, NOW)
    slave.broker.settings.take({"brokerRole": "ASYNC_MASTER", "brokerId": "0"}, NOW)
    assert Close(3) in slave.received(3, struct.pack(">qi", 0, 3) + b"abc", NOW)
    assert slave.broker.store.physical_range() == (0, 0)


def send(body: bytes, properties: str = "") -> bytes:
    """A send to BenchmarkTest, as a frame."""
    ext = {"a": "g", "b": "BenchmarkTest", "c": "TBW102", "d": "4", "e": "0", "f": "0"}
    ext |= {"g": "1", "h": "0", "i": properties, "j": "0", "k": "false"}
    return encode(Command(code=310, opaque=1, version=479, ext=ext, body=body))


def test_a_slave_that_is_started_as_a_master_goes_on_where_its_master_was() -> None:
    master, files = endpoint(), MemoryStorage()
    master.connected(1, "10.0.0.9:4", NOW)
    for body, properties in (
        (b"one", ""),
        (b"later", "DELAY\x011\x02"),
        (b"timed", "TIMER_DELAY_SEC\x015\x02"),
    ):
        master.received(1, send(body, properties), NOW)
    master.flush()
    log = master.broker.store.raw.read(0, 1 << 20)
    slave = endpoint(files, broker_role="SLAVE", broker_id=1, ha_master_address="10.0.0.1:10912")
    slave.tick(NOW)
    slave.dialled(3, NOW)
    slave.received(3, struct.pack(">qi", 0, len(log)) + log, NOW)
    slave.flush()
    promoted = endpoint(files)
    promoted.connected(1, "10.0.0.9:4", NOW)
    promoted.received(1, send(b"two"), NOW)
    promoted.tick(NOW + 10_000)
    assert bodies(promoted.broker.store, "BenchmarkTest") == ["one", "two", "later", "timed"]
