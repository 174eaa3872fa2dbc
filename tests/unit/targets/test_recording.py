"""A proxy changes nothing, whatever the two ends do, and what it wrote down is all that happened."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.trace import Closed, Opened, Received, Sent, Trace, read_trace

WITHIN = 20.0


class Proxy:
    """`rmq-harness record` in front of a server of the test's."""

    def __init__(self, directory: Path, upstream: int, *options: str) -> None:
        program = str(Path(sys.executable).with_name("rmq-harness"))
        command = [program, "record", "0", f"127.0.0.1:{upstream}"]
        self.directory = directory
        self.process = subprocess.Popen(
            [*command, "--out", str(directory), *options], stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        self.port = int(line.partition(";")[0].rpartition(":")[2])

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=WITHIN)

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(WITHIN)

    @property
    def trace(self) -> Trace:
        return read_trace(self.directory / "recorded.trace")


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[Callable[..., tuple[Proxy, socket.socket]]]:
    """A proxy, and the socket on which the test itself is the server."""
    with contextlib.ExitStack() as stack:

        def make(*options: str) -> tuple[Proxy, socket.socket]:
            server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            server.settimeout(WITHIN)
            proxy = Proxy(tmp_path / "out", server.getsockname()[1], *options)
            stack.callback(proxy.process.communicate)
            stack.callback(proxy.process.kill)
            server.accept()[0].close()  # it asked whether we are there
            return proxy, server

        yield make


def accepted(server: socket.socket) -> socket.socket:
    peer = server.accept()[0]
    peer.settimeout(WITHIN)
    return peer


def drained(peer: socket.socket) -> bytes:
    found = bytearray()
    while piece := peer.recv(65_536):
        found += piece
    return bytes(found)


def test_half_closes_go_through_in_each_direction(
    proxied: Callable[..., tuple[Proxy, socket.socket]],
) -> None:
    proxy, server = proxied()
    with proxy.connect() as client, accepted(server) as peer:
        client.sendall(b"ask")
        client.shutdown(socket.SHUT_WR)
        assert drained(peer) == b"ask"
        peer.sendall(b"answer")
        peer.shutdown(socket.SHUT_WR)
        assert drained(client) == b"answer"
    assert proxy.end() == 130
    told = [
        (type(event), getattr(event, "how", getattr(event, "data", None))) for event in proxy.trace.events
    ]
    assert told == [
        *((Opened, None), (Sent, b"ask"), (Closed, "half")),
        *((Received, b"answer"), (Closed, "fin")),
    ]


@pytest.mark.parametrize("by", ["us", "target"])
def test_a_reset_of_one_end_is_a_reset_for_the_other(
    proxied: Callable[..., tuple[Proxy, socket.socket]], by: str
) -> None:
    proxy, server = proxied()
    client = proxy.connect()
    peer = accepted(server)
    ending, other = (client, peer) if by == "us" else (peer, client)
    client.sendall(b"x")
    assert peer.recv(1) == b"x"  # the proxy has connected, and knows it
    ending.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    ending.close()
    with pytest.raises(ConnectionResetError):
        other.recv(1)
    other.close()
    assert proxy.end() == 130
    last = proxy.trace.events[-1]
    assert isinstance(last, Closed)
    assert (last.by, last.how) == (by, "reset")


def test_who_reads_slowly_slows_down_who_writes_and_gets_everything(
    proxied: Callable[..., tuple[Proxy, socket.socket]],
) -> None:
    proxy, server = proxied()
    data = os.urandom(1 << 20) * 24
    with proxy.connect() as client, accepted(server) as peer:
        client.settimeout(0.5)
        written = 0
        with pytest.raises(TimeoutError):  # the peer does not read, so not everything is accepted
            while written < len(data):
                written += client.send(data[written : written + 65_536])
        client.settimeout(WITHIN)
        rest = threading.Thread(target=lambda: (client.sendall(data[written:]), client.shutdown(1)))
        rest.start()
        assert drained(peer) == data
        rest.join()
    assert proxy.end() == 130
    assert b"".join(event.data for event in proxy.trace.events if isinstance(event, Sent)) == data


def test_a_killed_proxy_leaves_what_had_passed(
    proxied: Callable[..., tuple[Proxy, socket.socket]],
) -> None:
    proxy, server = proxied()
    with proxy.connect() as client, accepted(server) as peer:
        client.sendall(b"ask")
        assert peer.recv(3) == b"ask"
        proxy.end(signal.SIGKILL)
    assert [type(event) for event in proxy.trace.events] == [Opened, Sent]
    assert (proxy.directory / "recorded.pcap").read_bytes().endswith(b"ask")


def test_a_server_that_takes_no_more_connections_is_reported(
    proxied: Callable[..., tuple[Proxy, socket.socket]],
) -> None:
    proxy, server = proxied()
    server.close()
    # The reset may come as early as the end of the handshake.
    with pytest.raises(ConnectionResetError), proxy.connect() as client:
        client.recv(1)
    assert proxy.process.stderr is not None
    assert "took no connection for 127.0.0.1" in proxy.process.stderr.readline()
    assert proxy.end() == 130


def test_a_time_that_is_over_ends_it_and_nothing_recorded_is_not_well(
    proxied: Callable[..., tuple[Proxy, socket.socket]],
) -> None:
    proxy, _ = proxied("--max-time", "0.1")
    assert proxy.process.wait(WITHIN) == 2
    assert proxy.trace.events == ()


def test_what_cannot_begin_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from harness.cli import main

    out = str(tmp_path / "out")
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = str(server.getsockname()[1])
        assert main(["record", there, there, "--out", out]) == 4
        assert "Address already in use" in capsys.readouterr().err
    assert main(["record", "0", there, "--out", out]) == 4
    assert "takes no connection" in capsys.readouterr().err
    assert main(["record", "0", "0", "--out", out]) == 3
    assert main(["record", "here", there, "--out", out]) == 3
    assert not (tmp_path / "out").exists()
