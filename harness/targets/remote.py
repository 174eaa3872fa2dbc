"""A target that others run, reached over TCP.

It is neither started, stopped nor restarted here; its time is what it is said to be.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path

from harness.session import (
    DEFAULT_SETUP,
    Clock,
    Ending,
    RunningClock,
    ServedNameServer,
    Setup,
    SocketListening,
    SocketTransport,
    TargetDied,
    Unsupported,
    connect,
)
from harness.targets.capabilities import Capabilities
from harness.targets.errors import TargetError
from harness.targets.reach import SILENT, takes_connections


class TcpTarget:
    """``tcp://HOST:PORT``."""

    server = None
    waits_alone = False

    line = None

    def __init__(self, uri: str, host: str, port: int) -> None:
        self.uri = uri
        self.capabilities = Capabilities(scheme="tcp", starts="never", is_here=_is_here(host))
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
    """A server that others run, or another process of ours."""

    def __init__(
        self, host: str, port: int, warp: float = 1.0, description: str = "", log: Path | None = None
    ) -> None:
        self._host = host
        self._port = port
        self._log = log
        self._clock = RunningClock(warp)
        self._description = description

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
            **({"log": str(self._log)} if self._log is not None else {}),
        }

    def open(self) -> SocketTransport:
        return connect(self._host, self._port)

    def open_controller(self) -> SocketTransport:
        raise Unsupported("where the controller of the server listens is not known")

    def restart(self, how: Ending = "term") -> None:
        raise Unsupported("the server is not ours to restart")

    def shutdown(self) -> None:
        raise Unsupported("the server is not ours to stop")

    def place(self, name: str, data: bytes | None) -> None:
        raise Unsupported("the server has no directory that is ours to write to")

    def listen(self) -> SocketListening:
        if not _is_here(self._host):
            raise Unsupported("the server is on another machine: it could not reach a listener on loopback")
        return SocketListening()

    def alive(self) -> bool:
        return takes_connections(self._host, self._port, SILENT)

    def output(self) -> str:
        return ""

    @property
    def log(self) -> Path | None:
        return self._log

    def stop(self) -> None:
        """Nothing: its owner stops it."""


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
        str(shared["host"]),
        int(shared["port"]),
        float(shared["warp"]),
        str(shared["description"]),
        Path(str(shared["log"])) if "log" in shared else None,
    )


class TcpBrokerTarget(TcpTarget):
    """``tcp://HOST:PORT``, a Broker that has ``nameserver`` among its NameServers."""

    def __init__(self, uri: str, host: str, port: int, nameserver: tuple[str, int]) -> None:
        super().__init__(uri, host, port)
        self._nameserver = nameserver

    def start(self) -> RemoteBroker:
        super().start()
        return RemoteBroker(self._host, self._port, self._nameserver)


class RemoteBroker(RemoteInstance):
    """A Broker of somebody else's, and so is its list of NameServers: the user says which address is ours."""

    def __init__(self, host: str, port: int, nameserver: tuple[str, int]) -> None:
        super().__init__(host, port)
        try:
            self._nameserver = ServedNameServer(self._clock, *nameserver)
        except OSError as problem:
            raise TargetError(
                expected=f"to listen at {nameserver[0]}:{nameserver[1]} as the Broker's NameServer",
                got=problem.strerror or str(problem),
                do="give --nameserver an address of this machine that is free",
            ) from problem

    @property
    def nameservers(self) -> tuple[ServedNameServer, ...]:
        return (self._nameserver,)

    def open_at(self, address: str) -> SocketTransport:
        host, _, port = address.rpartition(":")
        return connect(host, int(port))

    def shared(self) -> None:  # type: ignore[override]
        """Nothing: there can be one NameServer at the address."""

    def stop(self) -> None:
        self._nameserver.stop()
