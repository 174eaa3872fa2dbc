"""Chaos that has servers leave: a seed says when and how, and nothing that was acknowledged is lost."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from unit.testing.peers import broker, nameserver

from harness.testing import RocketMQ, RocketMQError
from harness.testing.chaos import _DEPARTURES
from harness.wire import RequestCode, ResponseCode

MESSAGES = 24
LOOKS = 0.002
"""Seconds between two attempts to connect."""
SEED = 2


def sent_until_acknowledged(rocketmq: RocketMQ, body: bytes) -> None:
    """As a producer does that does not give up. A Broker that is away accepts no connection."""
    while True:
        try:
            peer = broker(rocketmq)
        except ConnectionRefusedError:
            time.sleep(LOOKS)  # a loop without a pause soon gets the server's own port, and keeps it from it
            continue
        try:
            if peer.send("orders", body).code == ResponseCode.SUCCESS:
                return
        except ConnectionError:
            pass
        finally:
            peer.close()


def story(rocketmq: RocketMQ, seed: int, servers: float = 0.4) -> list[str]:
    """What chaos did to the same sends, one after the other. All that was acknowledged must be there."""
    bodies = [b"%d" % number for number in range(MESSAGES)]
    with rocketmq.fault.chaos(seed, rate=0, servers=servers, code="send") as chaos:
        for body in bodies:
            sent_until_acknowledged(rocketmq, body)
    stored = [message.body for message in rocketmq.messages("orders")]
    assert list(dict.fromkeys(stored)) == bodies
    unanswered = sum("killed before it answers" in met.what for met in chaos.met)
    assert len(stored) == len(bodies) + unanswered
    return [str(met) for met in chaos.met]


@pytest.fixture(scope="module", autouse=True)
def soon_back() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.testing.chaos._AWAY", (0.02, 0.05, 0.1))
        yield


@pytest.fixture(scope="module")
def in_memory() -> Iterator[list[str]]:
    with RocketMQ(topics={"orders": 1}) as rocketmq:
        yield story(rocketmq, SEED)


def test_the_same_seed_has_the_same_servers_leave_and_messages_survive_on_disk(
    in_memory: list[str], tmp_path: Path
) -> None:
    with RocketMQ(topics={"orders": 1}, store=tmp_path) as rocketmq:
        assert story(rocketmq, SEED) == in_memory
    with RocketMQ(topics={"orders": 1}, store=tmp_path) as rocketmq:
        assert {int(message.body) for message in rocketmq.messages("orders")} == set(range(MESSAGES))


def test_every_way_to_leave_is_drawn(in_memory: list[str]) -> None:
    assert {how for how in _DEPARTURES if any(how in line for line in in_memory)} == set(_DEPARTURES)
    assert in_memory[0].startswith("310 SEND_MESSAGE_V2 of orders at broker-a-0: send ")
    assert in_memory[0].endswith(" s later")


def test_another_seed_has_them_leave_otherwise(in_memory: list[str]) -> None:
    with RocketMQ(topics={"orders": 1}) as rocketmq:
        assert story(rocketmq, SEED + 1) != in_memory


@pytest.mark.parametrize("how", ["stop", "kill", "pause"])
def test_nameservers_leave_too_and_all_are_back_when_it_has_ended(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    only = {what: one for what, one in _DEPARTURES.items() if one[0] == how}
    monkeypatch.setattr("harness.testing.chaos._DEPARTURES", only)
    monkeypatch.setattr("harness.testing.chaos._AWAY", (3600.0,))
    with RocketMQ(topics=["orders"]) as rocketmq:
        chaos = rocketmq.fault.chaos(SEED, servers=1.0, code="route")
        nameserver(rocketmq).say(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "orders"}, flag=0)
        chaos.wait()
        chaos.end()
        assert chaos.met[0].server == "nameserver-0"
        assert nameserver(rocketmq).route("orders").code == ResponseCode.SUCCESS


def test_a_server_that_cannot_come_back_is_an_error_where_the_fault_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only = {what: one for what, one in _DEPARTURES.items() if one[0] == "kill"}
    monkeypatch.setattr("harness.testing.chaos._DEPARTURES", only)
    monkeypatch.setattr("harness.testing.chaos._AWAY", (3600.0,))
    rocketmq = RocketMQ(topics=["orders"]).start()
    address = rocketmq._cluster.brokers[0].address
    chaos = rocketmq.fault.chaos(SEED, rate=0, servers=1.0, code="send", times=1)
    with pytest.raises(ConnectionError):
        broker(rocketmq).send("orders")
    host, _, port = address.rpartition(":")
    with (
        socket.create_server((host, int(port))),
        pytest.raises(RocketMQError, match=f"cannot listen on {address}"),
    ):
        chaos.end()
    with pytest.raises(RocketMQError, match="a server had stopped"):
        rocketmq.stop()


def test_without_servers_the_faults_of_a_seed_are_what_they_were() -> None:
    def met(servers: float) -> list[str]:
        with RocketMQ(topics=["orders"]) as rocketmq:
            chaos = rocketmq.fault.chaos(SEED, rate=0.5, servers=servers, code="route")
            for _ in range(4):
                asking = nameserver(rocketmq)
                asking.socket.settimeout(0.5)
                with contextlib.suppress(OSError):
                    asking.route("orders")
            chaos.stop()
            return [str(one) for one in chaos.met]

    assert met(0) == met(1e-9) != []
