"""What clients asked: decoded, and as traces that the commands read."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from harness.cli import main
from harness.testing import OptionError, RocketMQ
from harness.testing.own import OwnNames
from harness.testing.recording import MOST, Connection, Recorder

from .client import Client


def test_requests_have_their_answers(rocketmq: OwnNames) -> None:
    topic, group = rocketmq.topic("orders"), rocketmq.group("shop")
    with Client(rocketmq.namesrv, group, topic) as client:
        client.send(topic, b"a book")
    names = [request.name for request in rocketmq.requests()]
    assert names == ["GET_ROUTEINFO_BY_TOPIC", "HEART_BEAT", "SEND_MESSAGE"]
    told = [request.name for request in rocketmq.requests(of_servers=True)]
    assert told == ["NOTIFY_CONSUMER_IDS_CHANGED"]
    (send,) = rocketmq.requests("SEND_MESSAGE")
    assert (send.code, send.body, send.ext["topic"], send.server) == (10, b"a book", topic, "broker-a-0")
    assert send.answer is not None
    assert (send.answer.name, send.answer.ext["queueOffset"]) == ("SUCCESS", "0")
    assert [one.name for one in rocketmq.requests(105)] == ["GET_ROUTEINFO_BY_TOPIC"]
    with pytest.raises(OptionError, match="code='SEND': expected the number or name"):
        rocketmq.requests("SEND")


def test_what_the_test_and_the_servers_ask_is_no_request(rocketmq: OwnNames) -> None:
    rocketmq.topic("orders")
    rocketmq.send("orders", "x")
    assert list(rocketmq.requests()) == []
    with RocketMQ(masters=2, slaves=1, nameservers=2) as cluster:
        assert list(cluster.requests()) == []


def test_a_later_test_does_not_see_them(rocketmq_server: RocketMQ) -> None:
    first = OwnNames(rocketmq_server)
    with Client(first.namesrv, first.group("shop"), first.topic("orders")):
        pass
    assert len(first.requests()) == 2
    second = OwnNames(rocketmq_server)
    assert len(second.requests()) == 0
    first.close()
    second.close()


def test_the_commands_read_the_traces(
    rocketmq: OwnNames, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic, group = rocketmq.topic("orders"), rocketmq.group("shop")
    with Client(rocketmq.namesrv, group, topic) as client:
        client.send(topic, b"a book")
    broker, nameserver = rocketmq.requests().save(tmp_path)
    assert (broker.name, nameserver.name) == ("broker-a-0.trace", "nameserver-0.trace")
    assert main(["decode", str(broker)]) == 0
    assert "SEND_MESSAGE" in capsys.readouterr().out
    assert main(["replay", str(nameserver), f"tcp://{rocketmq.namesrv}"]) == 0
    assert "THE SAME" in capsys.readouterr().out


def test_a_stranger_is_left_out(rocketmq: OwnNames) -> None:
    host, _, port = rocketmq.namesrv.rpartition(":")
    with socket.create_connection((host, int(port))) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert stranger.recv(100) == b""
    assert list(rocketmq.requests()) == []


def test_the_record_is_bounded() -> None:
    recorder = Recorder()
    closed, open_one = (recorder.opened(Connection("broker-a-0", "master", "", "")) for _ in range(2))
    frame = (1 << 20).to_bytes(4, "big") + bytes(1 << 20)
    recorder.heard(closed, frame, 1, from_client=True)
    recorder.closed(closed, 1, by_client=True)
    for _ in range(100):
        recorder.heard(open_one, frame, 1, from_client=True)
    held = recorder.frames()
    assert MOST // 2 - len(frame) <= sum(len(one.data) for one in held) <= MOST
    assert held[-1].number == 100
    assert recorder.connections.keys() == {open_one}
    recorder.forget()
    assert recorder.frames() == []
    assert recorder.end == 101


def test_connections_of_the_time_before_a_reset_are_forgotten() -> None:
    with RocketMQ(topics=["orders"], slaves=1) as rocketmq:
        for _ in range(5):
            with Client(rocketmq.namesrv, "shop", "orders"):
                rocketmq.reset()
        known = rocketmq._call(lambda _: list(rocketmq._recorder.connections.values()))
    assert [one.local for one in known if not one.is_left_out] == []
    assert 2 <= len(known) <= 4, "each Broker at the NameServer, and the slave at its master"


def test_clients_are_who_has_sent_a_heartbeat(rocketmq: OwnNames, rocketmq_server: RocketMQ) -> None:
    topic, group = rocketmq.topic("orders"), rocketmq.group("shop")
    other = OwnNames(rocketmq_server)
    with Client(rocketmq.namesrv, group, topic):
        (client,) = rocketmq.clients()
        assert client.id == f"client-of-{group}"
        assert client.produces == (group,)
        assert client.consumes == {group: {topic: "*"}}
        assert client.language == "JAVA"
        assert len(client.addresses) == 1
        assert other.clients() == []
        assert [one.id for one in rocketmq_server.clients()] == [client.id]
    other.close()
