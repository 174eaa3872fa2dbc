"""A target that somebody else runs, reached over TCP.

Rules of this module: it is neither started, stopped nor restarted here; its time is what it is said to be.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping

from harness.session import (
    DEFAULT_SETUP,
    Clock,
    Ending,
    RunningClock,
    Setup,
    SocketListening,
    SocketTransport,
    TargetDied,
    Unsupported,
    connect,
)
from harness.targets.errors import TargetError
from harness.targets.nature import Nature
from harness.targets.reach import takes_connections

__all__ = ["RemoteInstance", "TcpTarget", "attach"]


class TcpTarget:
    """``tcp://HOST:PORT``."""

    server = None
    waits_alone = False

    line = None

    def __init__(self, uri: str, host: str, port: int) -> None:
        self.uri = uri
        self.nature = Nature(scheme="tcp", starts="never", is_here=_is_here(host))
        self._host = host
        self._port = port

    def start(self) -> RemoteInstance:
        """Looks whether it is there. Raises ``TargetError`` where no connection can be made."""
        try:
            connect(self._host, self._port).close("fin")
        except TargetDied as problem:
            raise TargetError(
                expected=f"a server that takes connections at {self._host}:{self._port}",
                got=str(problem),
                do="start the server, or correct the address",
            ) from problem
        return RemoteInstance(self._host, self._port)

    def another(self, setup: Setup = DEFAULT_SETUP) -> RemoteInstance:
        """There is one of it, and others may be using it."""
        raise Unsupported("the case needs a server of its own, and this one is not ours to start again")


class RemoteInstance:
    """A server of somebody else's, or of another process of ours."""

    def __init__(self, host: str, port: int, warp: float = 1.0, description: str = "") -> None:
        self._host = host
        self._port = port
        self._clock = RunningClock(warp)
        self._description = description or f"server at {host}:{port}"

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def description(self) -> str:
        return self._description

    def shared(self) -> dict[str, str | int | float]:
        return {
            "host": self._host,
            "port": self._port,
            "warp": self._clock.warp,
            "description": self._description,
        }

    def open(self) -> SocketTransport:
        return connect(self._host, self._port)

    def restart(self, how: Ending = "term") -> None:
        raise Unsupported("the server is not ours to restart")

    def shutdown(self) -> None:
        raise Unsupported("the server is not ours to stop")

    def place(self, name: str, data: bytes) -> None:
        raise Unsupported("the server has no directory that is ours to write to")

    def listen(self) -> SocketListening:
        if not _is_here(self._host):
            raise Unsupported("the server is on another machine: it could not reach a listener on loopback")
        return SocketListening()

    def alive(self) -> bool:
        return takes_connections(self._host, self._port)

    def output(self) -> str:
        return ""

    def stop(self) -> None:
        """Nothing: whoever started it stops it."""


def _is_here(host: str) -> bool:
    """Whether it is on loopback."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def attach(shared: Mapping[str, str | int | float]) -> RemoteInstance:
    """An instance that another process has started; ``shared`` is what its ``shared()`` gave."""
    return RemoteInstance(
        str(shared["host"]), int(shared["port"]), float(shared["warp"]), str(shared["description"])
    )
