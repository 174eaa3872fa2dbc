"""Connections that the NameServer opens itself, to tell brokers something that nobody waits for.

Rules:
1. One connection for one address, kept for what comes next. Nothing here blocks, and nothing fails loudly: an
   address that cannot be reached costs what was to be sent to it.
2. Bounded: `MOST_PEERS` connections (the one used longest ago goes), and for each of them `MOST_WAITING`
   frames that wait for the connection and `MOST_UNREAD` bytes that the peer does not read.

Source: NettyRemotingClient#invokeOneway of rocketmq-all-5.3.3.
"""

import asyncio
from collections import OrderedDict, deque
from typing import cast

__all__ = ["MOST_PEERS", "MOST_UNREAD", "MOST_WAITING", "Outbound"]

MOST_PEERS = 256
MOST_WAITING = 64
MOST_UNREAD = 262_144
_CONNECT_WITHIN = 3.0


class Outbound:
    """The pool of such connections."""

    def __init__(self) -> None:
        self._peers: OrderedDict[str, _Peer] = OrderedDict()

    def send(self, address: str, data: bytes) -> None:
        """Send a frame to "host:port", over a connection that is opened if there is none."""
        peer = self._peers.get(address)
        if peer is None or peer.is_over:
            host, colon, port = address.rpartition(":")
            if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
                return
            peer = self._peers[address] = _Peer(host.strip("[]"), int(port))
        self._peers.move_to_end(address)
        peer.send(data)
        while len(self._peers) > MOST_PEERS:
            self._peers.popitem(last=False)[1].end()

    def stop(self) -> None:
        """End all connections."""
        for peer in self._peers.values():
            peer.end()
        self._peers.clear()


class _Peer(asyncio.Protocol):
    """One connection, and what waits for it."""

    def __init__(self, host: str, port: int) -> None:
        self.is_over = False
        self._waiting: deque[bytes] = deque(maxlen=MOST_WAITING)
        self._transport: asyncio.Transport | None = None
        self._connecting = asyncio.get_running_loop().create_task(self._connect(host, port))

    async def _connect(self, host: str, port: int) -> None:
        try:
            async with asyncio.timeout(_CONNECT_WITHIN):
                await asyncio.get_running_loop().create_connection(lambda: self, host, port)
        except (OSError, ValueError):  # unreachable, too late, or no name of a host
            self.is_over = True

    def send(self, data: bytes) -> None:
        if self._transport is None:
            self._waiting.append(data)
        elif self._transport.get_write_buffer_size() < MOST_UNREAD:
            self._transport.write(data)

    def end(self) -> None:
        self.is_over = True
        self._connecting.cancel()
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports do not inherit from it
        self._transport.writelines(self._waiting)
        self._waiting.clear()

    def connection_lost(self, error: Exception | None) -> None:
        self.is_over = True
