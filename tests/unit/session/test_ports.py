"""Ports that stay free while nothing listens on them."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.session import RunningClock, ServedNameServer, free_port
from harness.session import ports as module

EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")


class Chooses:
    """One after the other, instead of by chance."""

    def __init__(self, *numbers: int) -> None:
        self._left = list(numbers)

    def randrange(self, least: int, below: int) -> int:
        assert least <= self._left[0] < below
        return self._left.pop(0)


@pytest.fixture
def chooses(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    return lambda *numbers: monkeypatch.setattr(module, "_CHANCE", Chooses(*numbers))


def test_a_client_is_never_given_such_a_port() -> None:
    least = int(EPHEMERAL.read_text().split()[0]) if EPHEMERAL.exists() else 49_152
    if least < 32_768:
        pytest.skip(f"this system gives clients ports from {least} on")
    assert all(port - 2 > 1024 and port + 1 < least for port in (free_port((0, -2, 1)) for _ in range(200)))


@pytest.mark.parametrize("offset", [0, -2, 1])
def test_a_port_that_is_taken_and_its_neighbours_are_passed_over(
    offset: int, chooses: Callable[..., None]
) -> None:
    first = free_port(range(-2, 12))
    second = first + 10
    with socket.create_server(("127.0.0.1", first + offset)):
        chooses(first, second)
        assert free_port((0, -2, 1)) == second
    chooses(first, second)
    assert free_port((0, -2, 1)) == first


def test_where_none_is_free(monkeypatch: pytest.MonkeyPatch, chooses: Callable[..., None]) -> None:
    with socket.create_server(("127.0.0.1", free_port())) as taken:
        monkeypatch.setattr(module, "_TRIES", 3)
        chooses(*3 * [taken.getsockname()[1]])
        with pytest.raises(OSError, match="none of 3 ports from 10240 to 32767 is free"):
            free_port()


def test_a_probing_nameserver_has_one() -> None:
    server = ServedNameServer(RunningClock())
    try:
        assert int(server.address.rpartition(":")[2]) < 32_768
    finally:
        server.stop()
