"""A proxy between clients and a server that changes nothing and writes down everything.

- Bytes are forwarded as they come, in each direction by itself; nothing waits for a frame to be whole. What
  one end does with its connection (half a close, a close, a reset) is done to the other.
- A peer that reads slowly slows down the one that writes: at most `_AHEAD` bytes of a direction are held.
- What happens is written to the trace and to the capture before it is forwarded: a proxy that is killed
  leaves both, up to its last moment. Nothing of it is kept in memory.
- Where it can no longer be written, the proxy ends: what is not recorded is not forwarded.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

import msgspec

from harness.session import TargetDied, connect
from harness.targets.errors import TargetError
from harness.trace import Closed, Event, Header, How, Note, Opened, PcapWriter, Received, Sent, TraceWriter

TRACE: Final = "recorded.trace"
CAPTURE: Final = "recorded.pcap"
_AHEAD: Final = 256 * 1024
_CONNECT_WITHIN: Final = 5.0


class Recorded(msgspec.Struct):
    """What has been recorded."""

    connections: int = 0
    refused: int = 0
    """Connections for which the server took none."""
    sent: int = 0
    received: int = 0
    """Bytes, as the clients see it."""


class _Files:
    """The trace and the capture, written side by side."""

    def __init__(self, directory: Path, header: Header) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._trace = TraceWriter(directory / TRACE, header)
        self._capture = (directory / CAPTURE).open("wb")
        self._packets = PcapWriter(self._capture, started=header.started)
        self._begun = time.monotonic()

    def moment(self) -> float:
        return time.monotonic() - self._begun

    def add(self, event: Event) -> None:
        self._trace.add(event)
        self._packets.add(event)

    def over(self, connection: int) -> None:
        self._packets.finish(connection)

    def close(self) -> None:
        self._trace.close()
        with contextlib.suppress(OSError):  # what could not be written has been reported
            self._capture.close()


def record(
    listen: tuple[str, int],
    upstream: tuple[str, int],
    directory: Path,
    recorded: Recorded,
    *,
    suite: str,
    max_time: float | None,
    listening: Callable[[str], None],
    remark: Callable[[str], None],
) -> None:
    """Records until it is interrupted (``KeyboardInterrupt`` is raised then, and the files are whole) or for
    ``max_time`` seconds, and counts in ``recorded``. ``listening`` gets the address once it can be used;
    ``remark`` what goes wrong.

    Raises ``TargetError`` where the address cannot be listened on, or the server is not there, and
    ``OSError`` where the files cannot be written.
    """
    proxy = _Proxy(upstream, directory, recorded, remark)
    asyncio.run(proxy.run(listen, suite, max_time, listening))


class _Proxy:
    """The listening end, and what all connections share."""

    def __init__(
        self, upstream: tuple[str, int], directory: Path, recorded: Recorded, remark: Callable[[str], None]
    ) -> None:
        self.upstream = upstream
        self.recorded = recorded
        self.remark = remark
        self.pairs: set[_Pair] = set()
        self._directory = directory
        self._failed: asyncio.Future[None]
        self._files: _Files | None = None

    async def run(
        self, listen: tuple[str, int], suite: str, max_time: float | None, listening: Callable[[str], None]
    ) -> None:
        self._is_there()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, about: self.remark(str(about.get("message"))))
        self._failed = loop.create_future()
        try:
            server = await loop.create_server(lambda: _Pair(self).client, *listen, backlog=1024)
        except OSError as problem:
            raise TargetError(
                expected="a place to listen at",
                got=f"{_text(listen)}: {os.strerror(problem.errno) if problem.errno else problem}",
                do="stop what uses that port, or give another one (0 for any that is free)",
            ) from None
        address = _address(server.sockets[0].getsockname())
        header = Header(
            suite=suite,
            target=f"tcp://{_text(self.upstream)}",
            description=f"recorded by a proxy at {address}",
            started=time.time(),
        )
        try:
            self._files = _Files(self._directory, header)
            listening(address)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._failed, max_time)
        finally:
            server.close()
            for pair in list(self.pairs):
                pair.abort()
            if self._files is not None:
                self._files.close()
                self._files = None

    def add(self, kind: type[Event], **what: object) -> None:
        """Writes an event down. Where that fails the proxy ends."""
        if self._files is None or self._failed.done():
            return
        now = self._files.moment()
        try:
            self._files.add(kind(real=now, protocol=now, **what))  # type: ignore[arg-type]
        except OSError as problem:
            self._failed.set_exception(problem)

    @property
    def records(self) -> bool:
        """Whether what happens is still written down."""
        return self._files is not None and not self._failed.done()

    def over(self, pair: _Pair) -> None:
        """Nothing more comes of a connection."""
        self.pairs.discard(pair)
        if self._files is not None:
            self._files.over(pair.number)

    def _is_there(self) -> None:
        try:
            connect(*self.upstream, _CONNECT_WITHIN).close("fin")
        except TargetDied as problem:
            raise TargetError(
                expected=f"a server at {_text(self.upstream)}", got=str(problem), do="start the server first"
            ) from None


class _Pair:
    """A client's connection and the one that is made to the server for it."""

    def __init__(self, proxy: _Proxy) -> None:
        self._proxy = proxy
        self.number = 0
        self.client = _Side(self, "us")
        self._server = _Side(self, "target")
        self._connecting: asyncio.Task[None] | None = None
        self._over = False

    def other(self, side: _Side) -> _Side:
        return self._server if side is self.client else self.client

    def made(self, side: _Side) -> None:
        """A connection is there: for the client's, the server's is made before anything is read."""
        if side is self.client:
            self._proxy.pairs.add(self)
            loop = asyncio.get_running_loop()
            # Python 3.11.2 starts reading after this callback, even from a transport that it has paused.
            loop.call_soon(side.transport.pause_reading)
            self._connecting = loop.create_task(self._connect())

    async def _connect(self) -> None:
        proxy, local = self._proxy, _address(self.client.transport.get_extra_info("peername"))
        try:
            making = asyncio.get_running_loop().create_connection(lambda: self._server, *proxy.upstream)
            await asyncio.wait_for(making, _CONNECT_WITHIN)
        except (OSError, TimeoutError) as problem:
            proxy.recorded.refused += 1
            why = getattr(problem, "strerror", None) or "no answer in time"
            text = f"{_text(proxy.upstream)} took no connection for {local}: {why}"
            proxy.remark(text)
            proxy.add(Note, text=text)
            self.abort()
            return
        proxy.recorded.connections += 1
        self.number = proxy.recorded.connections
        remote = _address(self._server.transport.get_extra_info("peername"))
        proxy.add(Opened, connection=self.number, local=local, remote=remote)
        self.client.transport.resume_reading()

    def came(self, side: _Side, data: bytes) -> None:
        recorded = self._proxy.recorded
        if side.by == "us":
            recorded.sent += len(data)
            self._proxy.add(Sent, connection=self.number, data=data)
        else:
            recorded.received += len(data)
            self._proxy.add(Received, connection=self.number, data=data)
        if self._proxy.records:
            self.other(side).transport.write(data)

    def ended(self, side: _Side) -> None:
        """One end has closed its sending direction."""
        other = self.other(side)
        side.ended = True
        self._closed(side, "fin" if other.ended else "half")
        if not other.transport.is_closing():
            other.transport.write_eof()
        if other.ended:
            self._finish()

    def lost(self, side: _Side, problem: Exception | None) -> None:
        """A connection is gone: a reset, unless it was closed here."""
        if problem is not None and not self._over:
            self._closed(side, "reset")
            self.abort()

    def abort(self) -> None:
        """Resets what is there."""
        for side in (self.client, self._server):
            if side.connected and not side.transport.is_closing():
                peer = side.transport.get_extra_info("socket")
                with contextlib.suppress(OSError):
                    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                side.transport.abort()
        if self._connecting is not None:
            self._connecting.cancel()
        self._end()

    def _closed(self, side: _Side, how: How) -> None:
        self._proxy.add(Closed, connection=self.number, by=side.by, how=how)

    def _finish(self) -> None:
        """Both ends have closed: what is still to be sent is sent."""
        for side in (self.client, self._server):
            side.transport.close()
        self._end()

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self._proxy.over(self)


class _Side(asyncio.Protocol):
    """One of the two connections."""

    transport: asyncio.Transport

    def __init__(self, pair: _Pair, by: Literal["us", "target"]) -> None:
        self._pair = pair
        self.by: Literal["us", "target"] = by
        self.connected = False
        self.ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.set_write_buffer_limits(high=_AHEAD)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.transport = transport
        self.connected = True
        self._pair.made(self)

    def data_received(self, data: bytes) -> None:
        self._pair.came(self, data)

    def eof_received(self) -> bool:
        self._pair.ended(self)
        return True  # the other direction stays

    def connection_lost(self, exc: Exception | None) -> None:
        self._pair.lost(self, exc)

    def pause_writing(self) -> None:
        other = self._pair.other(self)
        if not other.transport.is_closing():
            other.transport.pause_reading()

    def resume_writing(self) -> None:
        other = self._pair.other(self)
        if not other.transport.is_closing():
            other.transport.resume_reading()


def _text(address: tuple[str, int]) -> str:
    return f"[{address[0]}]:{address[1]}" if ":" in address[0] else f"{address[0]}:{address[1]}"


def _address(name: tuple[str, int] | tuple[str, int, int, int] | None) -> str:
    return "" if name is None else _text((name[0], name[1]))
