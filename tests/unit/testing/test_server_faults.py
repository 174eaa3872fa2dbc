"""Servers that stop, are killed, pause and come back: what clients see, and what is still there."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from unit.testing.peers import GROUP, Peer, broker, nameserver

from harness.testing import RocketMQ, RocketMQError
from harness.testing.own import OwnNames
from harness.wire import ResponseCode


@pytest.fixture(scope="module")
def cluster() -> Iterator[RocketMQ]:
    with RocketMQ(nameservers=2, topics=["orders"], groups=[GROUP]) as started:
        yield started


def awaited(cluster: RocketMQ, number: int, code: int) -> bool:
    """Whether a NameServer answers the route of the topic so, soon."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        asking = nameserver(cluster, number)
        answer = asking.route("orders").code
        asking.close()
        if answer == code:
            return True
    return False


@pytest.mark.parametrize("how", ["stop_broker", "kill_broker"])
def test_a_broker_is_away_and_comes_back_with_its_messages(how: str, cluster: RocketMQ) -> None:
    peer = broker(cluster)
    offset = int((peer.send("orders", b"kept").ext or {})["queueOffset"] or 0)
    peer.commit("orders", offset + 1)
    with getattr(cluster, how)("broker-a"):
        assert peer.socket.recv(1) == b""
        with pytest.raises(ConnectionRefusedError):
            broker(cluster)
        assert awaited(cluster, 0, ResponseCode.TOPIC_NOT_EXIST)
    back = broker(cluster)
    assert back.send("orders", b"more").code == ResponseCode.SUCCESS
    assert back.committed("orders") == offset + 1
    assert [message.body for message in cluster.messages("orders")][-2:] == [b"kept", b"more"]
    assert awaited(cluster, 1, ResponseCode.SUCCESS)


def test_a_paused_broker_answers_when_it_goes_on(cluster: RocketMQ) -> None:
    peer = broker(cluster)
    with cluster.pause_broker("broker-a"):
        new = broker(cluster)
        with pytest.raises(TimeoutError):
            peer.send("orders", b"late")
        with pytest.raises(TimeoutError):
            new.send("orders", b"later")
    assert peer.next().code == ResponseCode.SUCCESS
    assert new.next().code == ResponseCode.SUCCESS
    assert {b"late", b"later"} <= {message.body for message in cluster.messages("orders")}


def test_a_nameserver_is_away_and_the_other_one_serves(cluster: RocketMQ) -> None:
    with cluster.stop_nameserver(0):
        with pytest.raises(ConnectionRefusedError):
            nameserver(cluster, 0)
        assert nameserver(cluster, 1).route("orders").code == ResponseCode.SUCCESS
    assert nameserver(cluster, 0).route("orders").code == ResponseCode.SUCCESS


def test_a_paused_nameserver_answers_nothing() -> None:
    with RocketMQ(topics=["orders"]) as cluster:
        asking = nameserver(cluster)
        with cluster.pause_nameserver(0), pytest.raises(TimeoutError):
            asking.route("orders")
        assert asking.next().code == ResponseCode.SUCCESS


def test_the_connections_of_a_client_are_reset(cluster: RocketMQ) -> None:
    mine, other = broker(cluster), broker(cluster)
    mine.beat("client-1")
    other.beat("client-2")
    assert cluster.fault.reset_client("client-1") == 1
    with pytest.raises(ConnectionResetError):
        while mine.next():
            pass
    assert other.send("orders").code == ResponseCode.SUCCESS
    assert cluster.fault.reset_client("client-3") == 0


def test_a_slave_has_a_name_of_its_own() -> None:
    with RocketMQ(slaves=1) as cluster:
        slave = Peer(cluster._cluster.brokers[1].address)
        with cluster.stop_broker("broker-a-1"):
            assert slave.socket.recv(1) == b""
            assert broker(cluster).send("orders").code == ResponseCode.SUCCESS


def test_faults_and_restarts_are_of_every_line() -> None:
    with RocketMQ(profile="4.9", topics=["orders"]) as cluster:
        with cluster.fault.refuse(code="send", topic="orders"):
            assert broker(cluster).send("orders").code == ResponseCode.SYSTEM_BUSY
        broker(cluster).send("orders", b"kept")
        with cluster.kill_broker("broker-a"), cluster.stop_nameserver(0):
            pass
        assert nameserver(cluster).route("orders").code == ResponseCode.SUCCESS
        assert [message.body for message in cluster.messages("orders")] == [b"kept"]


def test_servers_are_back_after_a_reset_and_at_the_end_of_a_view() -> None:
    with RocketMQ() as cluster:
        cluster.stop_broker("broker-a")
        cluster.reset()
        assert broker(cluster).send("orders").code == ResponseCode.SUCCESS
        view = OwnNames(cluster)
        topic = view.topic("orders")
        cluster.pause_broker("broker-a")
        view.close()
        assert broker(cluster).send(topic).code == ResponseCode.SUCCESS


def test_the_test_itself_asks_no_broker_that_is_away() -> None:
    with RocketMQ(masters=2, topics=["orders"]) as cluster:
        for away in (cluster.stop_broker, cluster.pause_broker):
            with away("broker-a"):
                assert {cluster.send("orders", "x").broker for _ in range(3)} == {"broker-b"}
                with pytest.raises(RocketMQError, match="stopped or paused and cannot be asked 10 "):
                    cluster.send("orders", "x", broker="broker-a")
        assert cluster.send("orders", "x", broker="broker-a").broker == "broker-a"


def test_a_view_names_its_own_topics(cluster: RocketMQ) -> None:
    view = OwnNames(cluster)
    topic = view.topic("orders")
    with view.fault.refuse(code="send", topic="orders"):
        assert broker(cluster).send("orders").code == ResponseCode.SUCCESS
        assert broker(cluster).send(topic).code == ResponseCode.SYSTEM_BUSY
    view.close()


def test_servers_that_are_not_there_are_refused(cluster: RocketMQ) -> None:
    with pytest.raises(
        RocketMQError, match="no server broker-z-0; the cluster has nameserver-0, nameserver-1, b"
    ):
        cluster.stop_broker("broker-z")
    with pytest.raises(TypeError, match="3: expected the name of a Broker"):
        cluster.kill_broker(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'a': expected the number of a NameServer"):
        cluster.stop_nameserver("a")  # type: ignore[arg-type]
    with (
        cluster.stop_broker("broker-a"),
        pytest.raises(RocketMQError, match="has been stopped already"),
    ):
        cluster.pause_broker("broker-a")
