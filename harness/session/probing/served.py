"""A probing NameServer at a port of this machine, for Brokers that are reached over TCP.

A thread for each connection, because a Broker awaits its answers whatever the case is
doing; all of them end with ``stop``. Bytes that are no frame end their connection.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading

from harness.session.clock import Clock
from harness.session.ports import free_port
from harness.session.probing.nameserver import ProbingNameServer
from harness.wire import FrameBuffer, WireError

_CHUNK = 256 * 1024


class ServedNameServer(ProbingNameServer):
    """Listens at ``host:port``; 0 is any free port. Raises ``OSError`` where it cannot."""

    def __init__(self, clock: Clock, host: str = "127.0.0.1", port: int = 0) -> None:
        self._clock = clock
        self._host = host
        self._numbers = itertools.count(1)
        self._connections: set[socket.socket] = set()
        self._stopped = False
        self._listening = self._listen(port)
        self._port = int(self._listening.getsockname()[1])
        super().__init__(f"{host}:{self._port}")
        self._accepting(self._listening)

    def go_down(self) -> None:
        super().go_down()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # else who is accepting would not notice
        self._listening.close()
        self._end_connections()

    def come_up(self) -> None:
        if not self.is_up and not self._stopped:
            self._listening = self._listen(self._port)
            self._accepting(self._listening)
        super().come_up()

    def stop(self) -> None:
        """Ends it for good. May be called more than once."""
        self._stopped = True
        self.go_down()

    def _listen(self, port: int) -> socket.socket:
        return socket.create_server((self._host, port or free_port()), backlog=64)

    def _accepting(self, listening: socket.socket) -> None:
        threading.Thread(
            target=self._accept, args=(listening,), name="probing-nameserver", daemon=True
        ).start()

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                peer, address = listening.accept()
            except OSError:  # it went down
                return
            if not self.is_up:
                peer.close()
                return
            self._connections.add(peer)
            threading.Thread(
                target=self._serve,
                args=(peer, f"{address[0]}:{address[1]}"),
                name="probing-nameserver-connection",
                daemon=True,
            ).start()

    def _serve(self, peer: socket.socket, address: str) -> None:
        number = next(self._numbers)
        buffer = FrameBuffer()
        with contextlib.suppress(OSError, WireError):
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while data := peer.recv(_CHUNK):
                buffer.feed(data)
                while (frame := buffer.next_frame()) is not None:
                    answer = self.hears(number, address, frame, self._clock.now())
                    if answer == "close":
                        raise OSError
                    if answer is not None:
                        peer.sendall(answer)
        self._connections.discard(peer)
        peer.close()

    def _end_connections(self) -> None:
        for peer in list(self._connections):
            with contextlib.suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
