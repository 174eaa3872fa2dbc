"""Bytes to and from a target: what a session needs, and how a socket gives it.

- Every wait has a deadline. Nothing blocks for good, nothing is retried.
- A transport knows no frames. It reports an orderly close as ``b""`` and a reset as ``PeerReset``.
- Sending to a peer that is gone is no error: what became of it is seen when receiving, as on a real network.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from harness.session.clock import Clock
from harness.session.errors import TargetDied
from harness.session.probing.nameserver import ProbingNameServer
from harness.trace import How

Ending: TypeAlias = Literal["term", "kill"]
"""How a target is ended."""

Setup: TypeAlias = tuple[tuple[str, str], ...]
"""What a server is started with beside its port: sorted (key, value) pairs under Apache's names, those of
`namesrv.properties` (`supportActingMaster`) and system properties of its own (`tls.server.mode`) alike. In
values, `{dir}` stands for the directory that the target has for itself, `{controller}` for the port of a
NameServer's controller."""

DEFAULT_SETUP: Setup = ()
"""Everything as it is by default."""

_CHUNK = 256 * 1024
_Waiting: type[selectors.BaseSelector] = getattr(selectors, "PollSelector", selectors.SelectSelector)
"""Waits for a socket and takes no descriptor of its own. Windows has no poll."""


class TransportTimeout(Exception):  # noqa: N818  (an event, not an error)
    """Nothing came within the time given. The connection is as before."""


class PeerReset(Exception):  # noqa: N818  (an event, not an error)
    """The peer aborted the connection."""


class Transport(Protocol):
    """One connection. ``local`` and ``remote`` are ``ip:port`` as this end sees them."""

    @property
    def local(self) -> str: ...

    @property
    def remote(self) -> str: ...

    def send(self, data: bytes) -> bool:
        """Sends all, which may be nothing. False where the peer is gone, or took nothing for too long."""
        ...

    def receive(self, timeout: float) -> bytes:
        """What has come, at least one byte; ``b""`` once the peer has closed.

        ``timeout`` is in waiting seconds; 0 takes only what is there. Raises ``TransportTimeout``,
        ``PeerReset``.
        """
        ...

    def close(self, how: How) -> None:
        """``fin`` and ``reset`` end both directions, ``half`` the sending one. Closing twice is allowed."""
        ...


class Listening(Protocol):
    """A place where the target can connect to."""

    @property
    def address(self) -> str:
        """``ip:port``."""
        ...

    def accept(self) -> Transport | None:
        """A connection that the target has made, or None where there is no other; never waits."""
        ...

    def close(self) -> None: ...


class Instance(Protocol):
    """A running target."""

    @property
    def clock(self) -> Clock: ...

    @property
    def description(self) -> str:
        """What it is, in a few words for the head of a report; empty where the URI says it all."""
        ...

    def open(self) -> Transport:
        """A new connection. Raises ``TargetDied`` where none can be had."""
        ...

    def restart(self, how: Ending = "term") -> None:
        """Ends it and starts it again with what it keeps on disk: asked to stop, or killed outright. Raises
        ``Unsupported`` where that is not ours to do.
        """
        ...

    def shutdown(self) -> None:
        """Asks it to stop, as SIGTERM does, and does not wait. Raises ``Unsupported`` where that is not ours
        to do.
        """
        ...

    def place(self, name: str, data: bytes | None) -> None:
        """Puts a file into the directory that `{dir}` stands for, at one blow; None: removes it. Raises
        ``Unsupported`` where there is no directory.
        """
        ...

    def listen(self) -> Listening:
        """A new address where it can send something. Raises ``Unsupported`` where it could not reach us."""
        ...

    def alive(self) -> bool:
        """Whether it still takes connections."""
        ...

    def output(self) -> str:
        """The end of what it wrote, where it is a process of ours; else nothing."""
        ...

    @property
    def log(self) -> Path | None:
        """The file that gets everything that it writes, over all restarts; None where there is none."""
        ...

    def stop(self) -> None:
        """Ends it surely. May be called more than once."""
        ...


@runtime_checkable
class CanRest(Protocol):
    """An instance that costs something while nothing is asked of it."""

    def rest(self) -> None:
        """Keeps it from running until ``wake``; its clock goes on. Does nothing where that could be noticed
        later.
        """
        ...

    def wake(self) -> None:
        """Lets it run again."""
        ...


class NameServerInstance(Instance, Protocol):
    """A running target that is a NameServer, with a controller where its settings say so."""

    def open_controller(self) -> Transport:
        """A new connection to its controller. Raises ``TargetDied`` where none can be had, ``Unsupported``
        where that port cannot be reached from here.
        """
        ...


class BrokerInstance(Instance, Protocol):
    """A running target that is a Broker, and the NameServers that it registers with."""

    @property
    def nameservers(self) -> Sequence[ProbingNameServer]: ...

    def open_at(self, address: str) -> Transport:
        """A new connection to another port of it: the one for slaves, which it has registered, or the VIP
        port, two below the one that it has registered for clients. Raises ``TargetDied`` where none can be
        had, ``Unsupported`` where that port cannot be reached from here.
        """
        ...


def connect(host: str, port: int, timeout: float = 3.0) -> SocketTransport:
    """Connects over TCP. Raises ``TargetDied`` with the reason: refused, unreachable, or no answer in
    time.
    """
    try:
        return SocketTransport(socket.create_connection((host, port), timeout=timeout))
    except TimeoutError as problem:
        raise TargetDied(f"{host}:{port} did not take a connection within {timeout:g} s") from problem
    except OSError as problem:
        raise TargetDied(f"{host}:{port} takes no connection: {problem.strerror or problem}") from problem


class SocketTransport:
    """A TCP socket that never blocks, with a deadline on every wait. Most of what is sent and received costs
    one call of the system: waiting is for what is not there at once.
    """

    def __init__(self, peer: socket.socket, *, send_timeout: float = 5.0) -> None:
        self._socket = peer
        self._send_timeout = send_timeout
        self._closed = False
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.setblocking(False)
        self._arrivals = _Waiting()
        self._arrivals.register(peer.fileno(), selectors.EVENT_READ)
        self._local = _address(peer.getsockname())
        self._remote = _address(peer.getpeername())

    @property
    def local(self) -> str:
        return self._local

    @property
    def remote(self) -> str:
        return self._remote

    def send(self, data: bytes) -> bool:
        try:
            sent = self._socket.send(data)
            return sent == len(data) or self._send_slowly(memoryview(data)[sent:])
        except BlockingIOError:
            return self._send_slowly(memoryview(data))
        except OSError:
            return False

    def _send_slowly(self, data: memoryview) -> bool:
        """Sends what the peer does not take at once."""
        room = _Waiting()
        room.register(self._socket.fileno(), selectors.EVENT_WRITE)
        end = time.monotonic() + self._send_timeout
        try:
            while data:
                left = end - time.monotonic()
                if left <= 0 or not room.select(left):
                    return False
                with contextlib.suppress(BlockingIOError):
                    data = data[self._socket.send(data) :]
        except OSError:
            return False
        return True

    def receive(self, timeout: float) -> bytes:
        if timeout > 0 and not self._closed and not self._arrivals.select(timeout):
            raise TransportTimeout
        try:
            return self._socket.recv(_CHUNK)
        except BlockingIOError as problem:
            raise TransportTimeout from problem
        except OSError as problem:
            raise PeerReset(str(problem)) from problem

    def close(self, how: How) -> None:
        if self._closed:
            return
        with contextlib.suppress(OSError):
            if how == "half":
                self._socket.shutdown(socket.SHUT_WR)
                return
            if how == "reset":
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._closed = True
        self._socket.close()


class SocketListening:
    """A free port of an address of this machine: loopback, unless the target sees another one only."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._socket = socket.create_server((host, 0), backlog=64)
        self._socket.settimeout(0)
        self._address = _address(self._socket.getsockname())

    @property
    def address(self) -> str:
        return self._address

    def accept(self) -> SocketTransport | None:
        with contextlib.suppress(BlockingIOError):
            return SocketTransport(self._socket.accept()[0])
        return None

    def close(self) -> None:
        self._socket.close()


def _address(name: tuple[str, int] | tuple[str, int, int, int]) -> str:
    host = f"[{name[0]}]" if ":" in name[0] else name[0]
    return f"{host}:{name[1]}"
