"""The facade of a Broker and its probing NameServers, against the reference in virtual time."""

from __future__ import annotations

import socket
from collections.abc import Generator

import pytest

from harness.conformance import Request, Silence
from harness.session import BrokerSession, RunningClock, ServedNameServer, Unmet
from harness.targets import parse
from harness.trace import Opened, Received
from harness.wire import Command, FrameBuffer, RequestCode, decode, encode
from session.helpers import Code

REGISTER = RequestCode.REGISTER_BROKER


@pytest.fixture(params=["4.9", "5.3"])
def bk(request: pytest.FixtureRequest) -> Generator[BrokerSession]:
    instance = parse(f"builtin:{request.param}", "broker").start()
    with BrokerSession(instance, request.param, seed=7) as session:
        yield session


def test_a_registration_is_heard_once_with_its_time(bk: BrokerSession) -> None:
    first = bk.nameserver.next(REGISTER)
    answer = first >> Request(REGISTER)
    assert answer.mark.earliest == answer.mark.latest == 0
    first.checksum_holds >> Request(REGISTER, True)
    first.topic("TBW102") >> Request(REGISTER, (8, 8, 7))
    first.topic("nothing") >> Request(REGISTER, None)
    second = bk.nameserver.next(REGISTER, since=answer, within=11)
    second.seconds >> Request(REGISTER, 10.0)


def test_silence_lasts_as_long_as_is_said(bk: BrokerSession) -> None:
    first = bk.nameserver.next(REGISTER) >> Request(REGISTER)
    bk.nameserver.next(REGISTER, since=first, within=9) >> Silence()
    assert 9 <= bk.now() < 10
    with pytest.raises(Unmet, match="no answer"):
        bk.nameserver.next(REGISTER, since=first, within=9.5) >> Request(REGISTER)


def test_what_was_heard_is_in_the_trace(bk: BrokerSession) -> None:
    answer = bk.nameserver.next(REGISTER) >> Request(REGISTER)
    event = bk.trace.events[answer.outcome.event]
    assert isinstance(event, Received) and event.protocol == 0
    assert decode(event.data).code == REGISTER
    opened = next(one for one in bk.trace.events if isinstance(one, Opened))
    assert (opened.connection, opened.local) == (event.connection, bk.nameserver.address)


def test_a_nameserver_that_does_not_answer_or_is_down_hears_or_does_not(bk: BrokerSession) -> None:
    bk.nameserver.ignores(REGISTER)
    first = bk.nameserver.next(REGISTER, since=bk.mark(), within=11) >> Request(REGISTER)
    bk.nameserver.goes_down()
    bk.nameserver.next(REGISTER, since=bk.mark(), within=65) >> Silence()
    bk.nameserver.behaves()
    bk.nameserver.next(REGISTER, since=first, within=120) >> Request(REGISTER)


def test_what_the_broker_is_called(bk: BrokerSession) -> None:
    assert (bk.broker_name, bk.cluster_name) == ("probed", "probed-cluster")
    bk.heartbeat(bk.name("client")) >> Code(0)


def test_a_served_nameserver_answers_and_comes_and_goes() -> None:
    server = ServedNameServer(RunningClock())
    host, _, port = server.address.partition(":")
    request = encode(Command(code=REGISTER, opaque=5, ext={"brokerName": "b"}))
    try:
        with socket.create_connection((host, int(port)), timeout=5) as peer:
            peer.sendall(request[:10])
            peer.sendall(request[10:])
            buffer = FrameBuffer()
            while (frame := buffer.next_frame()) is None:
                buffer.feed(peer.recv(1000))
            assert (decode(frame).opaque, decode(frame).code) == (5, 0)
            server.treat(REGISTER, "close")
            peer.sendall(request)
            assert peer.recv(1000) == b""
        assert [one.answer is None for one in server.heard()] == [False, True]
        server.go_down()
        with pytest.raises(OSError):
            socket.create_connection((host, int(port)), timeout=5)
        server.behave()
        socket.create_connection((host, int(port)), timeout=5).close()
    finally:
        server.stop()
