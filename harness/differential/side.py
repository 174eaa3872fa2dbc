"""One of the two targets: its connections by symbol, its answers by opaque.

Rules of this module:
- Nothing is judged and nothing is recorded here: frames go out, frames come in, ends are noticed. What a
  program did can be repeated; what is worth keeping is its steps.
- Every wait has a deadline. A connection that the target has ended is opened anew when it is next used.
"""

from __future__ import annotations

import re
from typing import Literal

from harness.session import Clock, Instance, PeerReset, TransportTimeout
from harness.session.transport import Transport
from harness.targets import Target
from harness.trace import How
from harness.wire import FrameBuffer, WireError, decode

__all__ = ["Ending", "Side"]

Ending = Literal["open", "closed", "garbled"]
"""What has become of a connection, as far as it has been noticed."""

_OPAQUE = re.compile(rb'"opaque":(-?\d+)')


class _Connection:
    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.buffer = FrameBuffer()
        self.arrived: dict[int, bytes] = {}
        self.ending: Ending = "open"

    def take(self, timeout: float) -> bool:
        """Takes what comes within ``timeout`` waiting seconds; False where nothing came."""
        if self.ending != "open":
            return False
        try:
            data = self.transport.receive(timeout)
        except TransportTimeout:
            return False
        except PeerReset:
            data = b""
        if not data:
            self.ending = "closed"
            self.transport.close("fin")
            return True
        self.buffer.feed(data)
        try:
            while (frame := self.buffer.next_frame()) is not None:
                self.arrived[_opaque_of(frame)] = frame
        except WireError:
            self.ending = "garbled"
            self.transport.close("fin")
        return True


class Side:
    """A running target and what is open to it. `letter` is A or B."""

    def __init__(self, letter: str, target: Target) -> None:
        self.letter = letter
        self.target = target
        self._instance: Instance = target.start()
        self._connections: dict[str, _Connection] = {}

    @property
    def clock(self) -> Clock:
        """The target's clock."""
        return self._instance.clock

    @property
    def description(self) -> str:
        """What it is."""
        return self._instance.description

    @property
    def is_virtual(self) -> bool:
        """Whether its time stands still unless it is moved."""
        return self.clock.kind == "virtual"

    def send(self, symbol: str, data: bytes) -> None:
        """Sends bytes; opens the connection where it is not open. Raises ``TargetDied``."""
        connection = self._connections.get(symbol)
        if connection is None or connection.ending != "open":
            connection = self._connections[symbol] = _Connection(self._instance.open())
        connection.transport.send(data)

    def answer(self, symbol: str, opaque: int, seconds: float) -> bytes | None:
        """The frame with this opaque; None where the connection ended or ``seconds`` (waiting) have passed.

        Virtual targets have answered when `send` returns, so that time does not move for a wait in vain.
        """
        connection = self._connections.get(symbol)
        if connection is None:
            return None
        frame = connection.arrived.pop(opaque, None)
        if frame is not None:
            return frame
        clock = self.clock
        end = clock.waiting() + (0.0 if self.is_virtual else seconds)
        while (frame := connection.arrived.pop(opaque, None)) is None:
            if not connection.take(max(0.0, end - clock.waiting())):
                return None
        return frame

    def ending(self, symbol: str) -> Ending:
        """What has become of a connection; ``open`` also for one that was never opened."""
        connection = self._connections.get(symbol)
        if connection is None:
            return "open"
        while connection.take(0):
            pass
        return connection.ending

    def strays(self) -> list[tuple[str, bytes]]:
        """Answers that nobody asked for, by connection; they are forgotten."""
        found = []
        for symbol, connection in self._connections.items():
            while connection.take(0):
                pass
            found += [(symbol, frame) for frame in connection.arrived.values()]
            connection.arrived.clear()
        return found

    def close(self, symbol: str, how: How = "fin") -> None:
        """Closes our end, where it is open."""
        connection = self._connections.pop(symbol, None)
        if connection is not None and connection.ending == "open":
            connection.transport.close(how)
            if how == "half":
                self._connections[symbol] = connection

    def close_all(self) -> None:
        """Closes every connection."""
        for symbol in list(self._connections):
            self.close(symbol)

    def open_connections(self) -> list[str]:
        """Symbols of what is open, as far as it has been noticed."""
        return [symbol for symbol, one in self._connections.items() if one.ending == "open"]

    def restart(self) -> None:
        """A new instance in place of this one. Raises ``TargetError``, ``Unsupported``."""
        self.close_all()
        another = self.target.another()
        self._instance.stop()
        self._instance = another

    def stop(self) -> None:
        """Ends it surely."""
        self.close_all()
        self._instance.stop()

    def output(self) -> str:
        """The end of what it wrote."""
        return self._instance.output()


def _opaque_of(frame: bytes) -> int:
    if frame[4]:
        return int.from_bytes(frame[13:17], "big", signed=True)
    found = _OPAQUE.search(frame, 8)
    if found is not None:
        return int(found[1])
    return decode(frame).opaque
