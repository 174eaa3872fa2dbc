"""Servers that misbehave, and the plainest expectations."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

from harness.session import (
    Answer,
    Clock,
    ClosedBy,
    Ending,
    Exchange,
    NameServerSession,
    Outcome,
    Replied,
    RunningClock,
    Silent,
    SocketTransport,
    Unmet,
    Unsupported,
    connect,
)
from harness.wire import FLAG_RESPONSE, Command, FrameBuffer, WireError, decode, encode


class Met:
    """Met by any outcome; `answer.outcome` tells which it was."""

    silence_is_an_answer = False

    def judge(self, outcome: Outcome, value: object, exchange: Exchange) -> str | None:
        return None


class Code:
    """A reply with this code and, where given, this value of the view."""

    silence_is_an_answer = False

    def __init__(self, code: int, value: object = ..., *, instead_of: str = "") -> None:
        self._code = code
        self._value = value
        self._instead_of = instead_of

    def judge(self, outcome: Outcome, value: object, exchange: Exchange) -> Unmet | None:
        right = isinstance(outcome, Replied) and outcome.command.code == self._code
        is_met = right and (self._value is ... or value == self._value)
        if is_met and not self._instead_of:
            return None
        unmet = Unmet(
            expected=self._instead_of or f"code {self._code} with {self._value}",
            actual=f"{outcome} with {value}",
            exchange=exchange,
            outcome=outcome,
        )
        if is_met:
            return unmet
        raise unmet


class Quiet:
    """Silence."""

    silence_is_an_answer = True

    def judge(self, outcome: Outcome, value: object, exchange: Exchange) -> str | None:
        if isinstance(outcome, Silent):
            return None
        raise Unmet(expected="silence", actual=str(outcome), exchange=exchange, outcome=outcome)


class Gone:
    """A close by the target."""

    silence_is_an_answer = False

    def judge(self, outcome: Outcome, value: object, exchange: Exchange) -> str | None:
        if isinstance(outcome, ClosedBy) and outcome.by == "target":
            return None
        raise Unmet(expected="a close", actual=str(outcome), exchange=exchange, outcome=outcome)


def outcome_of(answer: Answer) -> Outcome:
    return answer.outcome


class Server:
    """Serves each connection in a thread of its own with ``serve(socket)``."""

    description = "a server of a test"

    def __init__(self, serve: Callable[[socket.socket], None], clock: Clock | None = None) -> None:
        self._serve = serve
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._clock = clock or RunningClock()
        self._peers: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def clock(self) -> Clock:
        return self._clock

    def open(self) -> SocketTransport:
        return connect("127.0.0.1", self.port)

    def restart(self, how: Ending = "term") -> None:
        raise Unsupported("a server of a test")

    def alive(self) -> bool:
        return True

    def output(self) -> str:
        return ""

    @property
    def log(self) -> None:
        return None

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for peer in self._peers:
            peer.close()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            self._peers.append(peer)
            threading.Thread(target=self._guarded, args=(peer,), daemon=True).start()

    def _guarded(self, peer: socket.socket) -> None:
        with contextlib.suppress(OSError, WireError):
            self._serve(peer)


def answering(answer: Callable[[Command], list[bytes]]) -> Callable[[socket.socket], None]:
    """A server that makes frames of requests, and sends those."""

    def serve(peer: socket.socket) -> None:
        buffer = FrameBuffer()
        while data := peer.recv(65536):
            buffer.feed(data)
            while (frame := buffer.next_frame()) is not None:
                for reply in answer(decode(frame)):
                    peer.sendall(reply)

    return serve


def success(request: Command, body: bytes = b"") -> bytes:
    return encode(Command(code=0, opaque=request.opaque, flag=FLAG_RESPONSE, body=body))


def session(server: Server, **arguments: float) -> NameServerSession:
    return NameServerSession(server, "4.9", seed=1, **arguments)
