"""As much of a client as the shop needs: routes, requests with a time-out, connections that are made anew."""

from __future__ import annotations

import socket
import time
from typing import Any, NamedTuple

from harness.wire import Command, FrameBuffer, RequestCode, ResponseCode, decode, encode
from harness.wire.bodies import TopicRoute

_MASTER = 0
_TIMEOUT = 1.0


class UnansweredError(Exception):
    """There was no answer: in time, or because the connection failed."""


class Queue(NamedTuple):
    """One queue of a topic."""

    topic: str
    broker: str
    number: int
    address: str


class Client:
    """A client of one thread."""

    def __init__(self, namesrv: str) -> None:
        self._nameservers = namesrv.split(";")
        self._connections: dict[str, Connection] = {}
        self._routes: dict[str, list[Queue]] = {}

    def queues(self, topic: str) -> list[Queue]:
        """The queues of a topic, as they were asked for last."""
        if not self._routes.get(topic):
            self.refresh(topic)
        return self._routes[topic]

    def refresh(self, topic: str) -> None:
        """Ask for the route of a topic."""
        for nameserver in self._nameservers:
            try:
                answer = self.ask(nameserver, RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})
            except UnansweredError:
                continue
            self._routes[topic] = _queues(topic, answer)
            return

    def ask(self, address: str, code: int, ext: dict[str, Any] | None = None, body: bytes = b"") -> Command:
        """The answer to a request. Raises UnansweredError."""
        try:
            if address not in self._connections:
                self._connections[address] = self.connected(address)
            return self._connections[address].ask(code, ext, body)
        except OSError as error:
            self.failed(address)
            raise UnansweredError(f"{address} does not answer: {error}") from error

    def connected(self, address: str) -> Connection:
        return Connection(address)

    def failed(self, address: str) -> None:
        """A connection is of no use any more."""
        connection = self._connections.pop(address, None)
        if connection is not None:
            connection.close()

    def close(self) -> None:
        for address in list(self._connections):
            self._connections.pop(address).close()


class Connection:
    """A connection with a server."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), _TIMEOUT)
        self.arrived = FrameBuffer()
        self._opaque = 0

    def ask(self, code: int, ext: dict[str, Any] | None = None, body: bytes = b"") -> Command:
        """Raises OSError."""
        self._opaque += 1
        fields = {name: str(value) for name, value in (ext or {}).items()}
        self.socket.sendall(encode(Command(code, opaque=self._opaque, version=479, ext=fields, body=body)))
        end = time.monotonic() + _TIMEOUT
        while True:
            while (frame := self.arrived.next_frame()) is not None:
                answer = decode(frame)
                if answer.is_response and answer.opaque == self._opaque:
                    return answer
            self.socket.settimeout(max(0.001, end - time.monotonic()))
            data = self.socket.recv(65_536)
            if not data:
                raise ConnectionError("the connection has ended")
            self.arrived.feed(data)

    def close(self) -> None:
        self.socket.close()


def _queues(topic: str, answer: Command) -> list[Queue]:
    if answer.code != ResponseCode.SUCCESS:
        return []
    route = TopicRoute.decode(answer.body)
    masters = {
        broker.broker_name: broker.broker_addrs[_MASTER]
        for broker in route.broker_datas
        if _MASTER in broker.broker_addrs
    }
    found = [
        Queue(topic, queues.broker_name or "", number, masters[queues.broker_name])
        for queues in route.queue_datas
        if queues.broker_name in masters
        for number in range(queues.write_queue_nums)
    ]
    return sorted(found)
