"""One accepted connection of a server: it reads no more than is answered, and ends as it is asked to."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from .shell import Greeting, Shell

LINGER = 5.0
"""Seconds that a peer has to read what was sent before a close."""
_AT_ONCE = struct.pack("ii", 1, 0)
"""How long a socket lingers: not at all."""


class Connection(asyncio.BufferedProtocol):
    """It takes what arrives to the shell, in parts."""

    transport: asyncio.Transport
    number = 0
    """Its number at the shell; 0 where the shell has not taken it."""

    def __init__(self, shell: Shell[Any], greeting: Greeting, carries_frames: bool = True) -> None:
        self._shell = shell
        self._greeting = greeting
        self.carries_frames = carries_frames
        self._paused = False
        self._reads = True
        self._is_scheduled = False
        self.is_half_closed = False
        """Whether the peer has ended its direction."""
        self.is_aborted = False
        """Whether it was ended here at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's transports do not inherit from it
        if self._shell.has_ended:  # accepted while the server ended: nothing would answer it
            self.abort()
            return
        connected: socket.socket | None = transport.get_extra_info("socket")
        if connected is not None:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        name = transport.get_extra_info("peername")
        self.number = self._shell.opened(self, f"{name[0]}:{name[1]}" if name else "", self._greeting)
        self.read_on()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._shell.room

    def buffer_updated(self, nbytes: int) -> None:
        self._shell.received(self.number, self._shell.room[:nbytes])
        self.go_on()

    def pause_writing(self) -> None:
        self._paused = True
        self.read_on()

    def resume_writing(self) -> None:
        self._paused = False
        self.go_on()

    def go_on(self) -> None:
        """See to what was held back, as long as the peer reads: a part of it in each turn of the loop."""
        if not self._is_scheduled and self._may_go_on():
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._part)
        self.read_on()

    def _may_go_on(self) -> bool:
        shell = self._shell
        return not (self._paused or shell.is_holding) and shell.endpoint.has_waiting(self.number)

    def _part(self) -> None:
        self._is_scheduled = False
        if self._may_go_on():
            self._shell.received(self.number, b"")
        self.go_on()

    def read_on(self) -> None:
        """Reads from the socket, or stops to: not while the peer does not read, nor while something waits."""
        shell = self._shell
        wanted = not (self._paused or shell.is_paused or shell.endpoint.has_waiting(self.number))
        if wanted is not self._reads and not self.transport.is_closing():
            self._reads = wanted
            if wanted:
                self.transport.resume_reading()
            else:
                self.transport.pause_reading()

    def eof_received(self) -> bool:
        """The peer has half-closed; the endpoint decides what comes of it."""
        self.is_half_closed = True
        self._shell.half_closed(self.number)
        return True

    def connection_lost(self, error: Exception | None) -> None:
        self._shell.ended(self.number)

    def reset(self) -> None:
        """End the connection; its peer gets no byte more, and a reset."""
        connected: socket.socket | None = self.transport.get_extra_info("socket")
        if connected is not None:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.abort()

    def abort(self) -> None:
        """End the connection; what was not sent yet is lost."""
        self.is_aborted = True
        self.transport.abort()

    def close(self) -> None:
        """End the connection; a peer that does not read what was sent cannot keep it."""
        self.transport.close()
        asyncio.get_running_loop().call_later(LINGER, self.transport.abort)
