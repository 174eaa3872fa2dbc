"""Connections that a server opens itself: to tell others something, and to ask them.

1. One connection for each address, for one-way requests and others, is kept open. Nothing here blocks, and
   nothing fails loudly: an address that cannot be reached costs what was to be sent to it.
2. What is asked is answered exactly once, and never while it is being asked: with the response of the same
   opaque, or with None when the connection has ended, there is no room, or its time is over: the owner says
   what time it is (`expire`).
3. Bounded: `MOST_PEERS` connections (the one used longest ago goes), and for each of them `MOST_WAITING`
   frames that wait for the connection, `MOST_UNREAD` bytes that the peer does not read and `MOST_ASKED`
   answers that are awaited.

Source: NettyRemotingClient#invokeOneway and #invokeSync of rocketmq-all-5.3.3.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TypeAlias, cast

import msgspec

from harness.wire import FLAG_RESPONSE, FRAME_LIMIT, FrameBuffer, WireError, decode
from reference_impl.remoting.endpoint import NEVER

MOST_PEERS = 256
MOST_WAITING = 64
MOST_UNREAD = 262_144
MOST_ASKED = 1024
_CONNECT_WITHIN = 3.0

Answered: TypeAlias = Callable[[bytes | None], None]
"""Gets the frame of a response, or None."""


class Outbound:
    """The pool of such connections."""

    def __init__(self) -> None:
        self._peers: OrderedDict[str, _Peer] = OrderedDict()

    @property
    def local_addresses(self) -> set[str]:
        """Our ends of these connections, "ip:port"."""
        return {peer.local_address for peer in self._peers.values()}

    def send(self, address: str, data: bytes) -> None:
        """Send a frame to "host:port", over a connection that is opened if there is none."""
        peer = self._peer(address)
        if peer is not None:
            peer.send(data)

    def ask(self, address: str, number: int, data: bytes, until: int, answered: Answered) -> None:
        """Send a request with the opaque `number`; `until` is by the clock of the owner, in ms."""
        peer = self._peer(address)
        if peer is None:
            asyncio.get_running_loop().call_soon(answered, None)
        else:
            peer.ask(number, data, until, answered)

    def due(self) -> int:
        """When the next time is over; `NEVER`: nothing is awaited."""
        return min((peer.due() for peer in self._peers.values()), default=NEVER)

    def expire(self, now: int) -> None:
        """Answer with None what was to be answered before `now`."""
        for peer in list(self._peers.values()):
            peer.expire(now)

    @property
    def is_awaiting(self) -> bool:
        """Whether a peer is to accept a connection, or to answer, of which that can be expected soon."""
        return any(peer.is_awaited and not peer.is_doubted for peer in self._peers.values())

    def doubt(self) -> None:
        """Expect nothing soon of the peers that are awaited now, until they answer something."""
        for peer in self._peers.values():
            peer.is_doubted |= peer.is_awaited

    def stop(self) -> None:
        """End all connections. What is still awaited is answered with None."""
        for peer in self._peers.values():
            peer.end()
        self._peers.clear()

    def _peer(self, address: str) -> "_Peer | None":
        peer = self._peers.get(address)
        if peer is None or peer.is_over:
            host, colon, port = address.rpartition(":")
            if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
                return None
            peer = self._peers[address] = _Peer(host.strip("[]"), int(port))
        self._peers.move_to_end(address)
        while len(self._peers) > MOST_PEERS:
            self._peers.popitem(last=False)[1].end()
        return peer


class _Asked(msgspec.Struct):
    answered: Answered
    until: int


class _Peer(asyncio.Protocol):
    """One connection, and what waits for it."""

    def __init__(self, host: str, port: int) -> None:
        self.is_over = False
        self.local_address = ""
        self.is_doubted = False
        self._waiting: deque[bytes] = deque()
        self._asked: dict[int, _Asked] = {}
        self._arrived = FrameBuffer(FRAME_LIMIT)
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()
        self._connecting = self._loop.create_task(self._connect(host, port))

    async def _connect(self, host: str, port: int) -> None:
        try:
            async with asyncio.timeout(_CONNECT_WITHIN):
                await self._loop.create_connection(lambda: self, host, port)
        except (OSError, ValueError):  # unreachable, too late, or no name of a host
            self._give_up()

    def send(self, data: bytes) -> bool:
        """Whether there was room for it."""
        if self._transport is None:
            if len(self._waiting) >= MOST_WAITING:
                return False
            self._waiting.append(data)
        elif self._transport.get_write_buffer_size() < MOST_UNREAD:
            self._transport.write(data)
        else:
            return False
        return True

    def ask(self, number: int, data: bytes, until: int, answered: Answered) -> None:
        if number in self._asked or len(self._asked) >= MOST_ASKED or not self.send(data):
            self._loop.call_soon(answered, None)
            return
        self._asked[number] = _Asked(answered, until)

    def due(self) -> int:
        return min((asked.until for asked in self._asked.values()), default=NEVER)

    def expire(self, now: int) -> None:
        for number in [number for number, asked in self._asked.items() if asked.until <= now]:
            self._answer(number, None)

    @property
    def is_awaited(self) -> bool:
        return bool(self._asked or self._waiting)

    def end(self) -> None:
        self._connecting.cancel()
        if self._transport is not None:
            self._transport.abort()
        self._give_up()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports do not inherit from it
        name = transport.get_extra_info("sockname")
        self.local_address = f"{name[0]}:{name[1]}" if name else ""
        self._transport.writelines(self._waiting)
        self._waiting.clear()

    def data_received(self, data: bytes) -> None:
        try:
            self._arrived.feed(data)
            while (frame := self._arrived.next_frame()) is not None:
                command = decode(frame, invalid_utf8="replace")
                if command.flag & FLAG_RESPONSE:
                    self.is_doubted = False
                    self._answer(command.opaque, frame)
        except WireError:
            self.end()

    def connection_lost(self, error: Exception | None) -> None:
        self._give_up()

    def _answer(self, number: int, frame: bytes | None) -> None:
        asked = self._asked.pop(number, None)
        if asked is not None:
            asked.answered(frame)

    def _give_up(self) -> None:
        self.is_over = True
        self._waiting.clear()
        for number in list(self._asked):
            self._loop.call_soon(self._asked.pop(number).answered, None)
