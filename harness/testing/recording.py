"""What clients and servers said to each other, frame by frame, for as long as it is recent.

1. Connections between the cluster's own servers are left out, and so is what the test itself asks.
2. It holds whole frames, the newest `MOST` bytes of them; older ones are forgotten.
3. Of a connection whose bytes are no frames (TLS, a stranger), only the beginning is left out: nothing of it
   is held.

The recorder is called in the loop of the servers; what it gives is for any thread.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from harness.trace import Closed, Event, Header, Opened, Received, Sent, Trace, write_trace
from harness.wire import FRAME_LIMIT, FrameBuffer, WireError
from reference_impl.serve import Cluster, Server
from reference_impl.serve.server import ServerRole

MOST: Final = 32 << 20
"""Bytes of frames that are held."""
_COST: Final = 200
"""What a frame takes beside its bytes."""


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One frame of a connection of a client."""

    number: int
    """Counts all frames of the cluster."""
    at: int
    """ms since the epoch, by the clock of the servers."""
    real: float
    """Seconds of the clock on the wall, from any beginning."""
    connection: int
    is_request_side: bool
    """Whether the client sent it."""
    data: bytes


class End(msgspec.Struct, frozen=True, gc=False):
    """The end of a connection. It comes before the frame with its `number`; times are those of a `Frame`."""

    number: int
    at: int
    real: float
    by_client: bool


class Connection:
    """One connection of a client."""

    def __init__(self, server: str, role: ServerRole, remote: str, local: str) -> None:
        self.server, self.role, self.remote, self.local = server, role, remote, local
        self.from_client, self.to_client = FrameBuffer(FRAME_LIMIT), FrameBuffer(FRAME_LIMIT)
        self.is_judged = False
        self.is_left_out = False
        self.end: End | None = None


class Recorder:
    """The frames of all servers of a cluster."""

    def __init__(self) -> None:
        self._cluster = Cluster([], [])
        self._frames: deque[Frame] = deque()
        self._size = 0
        self._count = 0
        self.connections: dict[int, Connection] = {}
        """Those that frames are held of, or that are open."""
        self._numbers = 0

    def attach(self, cluster: Cluster) -> None:
        """Begin to record what happens at all servers."""
        self._cluster = cluster
        for server in cluster.servers:
            self.observe(server)

    def observe(self, server: Server[Any]) -> None:
        """Begin to record what happens at a server that has just started."""
        server.shell.observer = _AtServer(self, server)

    @property
    def end(self) -> int:
        """The number of the next frame."""
        return self._count

    def forget(self) -> None:
        """Forget what is held."""
        self._frames.clear()
        self._size = 0
        self._forget_connections()

    def frames(self, since: int = 0) -> list[Frame]:
        """What is held of the frames from a number on."""
        return [frame for frame in self._frames if frame.number >= since]

    # -- what observers tell ---------------------------------------------------------------------------------

    def opened(self, connection: Connection) -> int:
        self._numbers += 1
        self.connections[self._numbers] = connection
        return self._numbers

    def heard(self, number: int, data: bytes, at: int, *, from_client: bool) -> None:
        connection = self.connections.get(number)
        if connection is None or connection.is_left_out:
            return
        if not connection.is_judged:
            connection.is_judged = True
            connection.is_left_out = self._is_own(connection.local)
        buffer = connection.from_client if from_client else connection.to_client
        try:
            buffer.feed(data)
            while not connection.is_left_out and (frame := buffer.next_frame()) is not None:
                self._hold(Frame(self._count, at, time.monotonic(), number, from_client, frame))
        except WireError:
            connection.is_left_out = True

    def _hold(self, frame: Frame) -> None:
        self._count += 1
        self._frames.append(frame)
        self._size += len(frame.data) + _COST
        if self._size > MOST:
            while self._size > MOST // 2:
                self._size -= len(self._frames.popleft().data) + _COST
            self._forget_connections()

    def _forget_connections(self) -> None:
        needed = {frame.connection for frame in self._frames}
        for number in [one for one, known in self.connections.items() if known.end is not None]:
            if number not in needed:
                del self.connections[number]

    def closed(self, number: int, at: int, *, by_client: bool) -> None:
        connection = self.connections.get(number)
        if connection is None:
            return
        connection.end = End(self._count, at, time.monotonic(), by_client)
        if connection.is_left_out or not connection.is_judged:
            del self.connections[number]

    def _is_own(self, address: str) -> bool:
        return any(address in server.shell.local_addresses for server in self._cluster.servers)


class _AtServer:
    """The observer of one server."""

    def __init__(self, recorder: Recorder, server: Server[Any]) -> None:
        self._recorder = recorder
        self._server = server
        before = server.shell.observer
        self._numbers: dict[int, int] = before._numbers if isinstance(before, _AtServer) else {}
        """The recorder's numbers of connections, by those of the shell; also of those that are open."""

    def opened(self, connection: int, peer: str) -> None:
        known = Connection(self._server.name, self._server.role, self._server.address, peer)
        self._numbers[connection] = self._recorder.opened(known)

    def received(self, connection: int, data: bytes) -> None:
        self._heard(connection, data, from_client=True)

    def sent(self, connection: int, data: bytes) -> None:
        self._heard(connection, data, from_client=False)

    def closed(self, connection: int, *, by_peer: bool) -> None:
        number = self._numbers.pop(connection, None)
        if number is not None:
            self._recorder.closed(number, self._server.shell.now(), by_client=by_peer)

    def _heard(self, connection: int, data: bytes, *, from_client: bool) -> None:
        number = self._numbers.get(connection)
        if number is not None:
            self._recorder.heard(number, data, self._server.shell.now(), from_client=from_client)


class Link(msgspec.Struct, frozen=True):
    """A connection, apart from its frames. `remote` is the server's address, `local` the client's."""

    server: str
    role: ServerRole
    remote: str
    local: str
    end: End | None


class Recorded(msgspec.Struct, frozen=True):
    """Frames with their connections, apart from the recorder."""

    profile: str
    frames: list[Frame]
    connections: dict[int, Link]

    def traces(self) -> dict[str, Trace]:
        """What happened at each server, by its name, as a trace from the clients' side. All begin at once."""
        servers = sorted({link.server for link in self.connections.values()})
        return {server: self._trace(server) for server in servers}

    def save(self, directory: Path) -> list[Path]:
        """Write the traces, a file for each server: `DIR/broker-a-0.trace`."""
        paths = []
        for server, trace in self.traces().items():
            path = directory / f"{server}.trace"
            write_trace(path, trace)
            paths.append(path)
        return paths

    def _trace(self, server: str) -> Trace:
        mine = {number: link for number, link in self.connections.items() if link.server == server}
        (known, *_) = mine.values()
        header = Header(
            target=f"tcp://{known.remote}",
            description=f"{server} of harness.testing.RocketMQ",
            profile=self.profile,
            role="nameserver" if known.role == "nameserver" else "broker",
            started=self.frames[0].at / 1000,
        )
        return Trace(header, tuple(self._events(mine)))

    def _events(self, mine: dict[int, Link]) -> Iterator[Event]:
        opened: set[int] = set()
        for number, it in self._in_order(mine):
            real, protocol = it.real - self.frames[0].real, (it.at - self.frames[0].at) / 1000
            if number not in opened:
                opened.add(number)
                local, remote = mine[number].local, mine[number].remote
                yield Opened(real=real, protocol=protocol, connection=number, local=local, remote=remote)
            if isinstance(it, End):
                by: Literal["us", "target"] = "us" if it.by_client else "target"
                yield Closed(real=real, protocol=protocol, connection=number, by=by, how="fin")
                continue
            event: Callable[..., Sent | Received] = Sent if it.is_request_side else Received
            yield event(real=real, protocol=protocol, connection=number, data=it.data)

    def _in_order(self, mine: dict[int, Link]) -> list[tuple[int, Frame | End]]:
        """Frames and ends, with the numbers of their connections."""
        found: list[tuple[int, Frame | End]] = [
            (number, link.end) for number, link in mine.items() if link.end is not None
        ]
        found += [(frame.connection, frame) for frame in self.frames if frame.connection in mine]
        return sorted(found, key=lambda one: (one[1].number, isinstance(one[1], Frame)))


def recorded(recorder: Recorder, profile: str, since: int) -> Recorded:
    """What a recorder holds now. To be called in the loop."""
    frames = recorder.frames(since)
    links = {}
    for number in {frame.connection for frame in frames}:
        known = recorder.connections[number]
        links[number] = Link(known.server, known.role, known.remote, known.local, known.end)
    return Recorded(profile, frames, links)
