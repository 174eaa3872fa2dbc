"""From TCP segments to what was said on each connection, as events of a trace.

- Segments go in as they were captured: late, twice, overlapping, or not at all. Bytes come out once, in
  order, as soon as all before them are there.
- Who sent the SYN is "us", whom it was sent to the target. Where the capture began later, the end with the
  given port is the target; without one, the end with the lower port.
- A hole is given up, and reported as ``Missing``, once it is clear that it will not be filled: the other end
  has acknowledged what lies behind it, too much waits behind it, the connection has ended, or the capture.
- Memory is bounded: by `HELD` for each direction and `CONNECTIONS` in all, the quietest of which is
  forgotten.

Times are seconds since the first segment.
"""

from __future__ import annotations

from bisect import insort
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

import msgspec

from harness.trace.events import Closed, Event, How, Opened, Received, Sent
from harness.trace.packets import ACK, FIN, RST, SYN, Segment

By: TypeAlias = Literal["us", "target"]

HELD: Final = 4 * 1024 * 1024
"""Bytes that may wait behind a hole."""
CONNECTIONS: Final = 20_000
_SEGMENTS: Final = 4096
_DOUBTS: Final = 32
"""Segments after which an acknowledgement of bytes that were not captured is believed: packets are sometimes
captured in another order than they had."""
_ALL: Final = 1 << 32


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes that one end sent and that are not in the capture; ``length`` is None where it is unknown how
    many, because the capture began later.
    """

    real: float
    protocol: float
    connection: int
    by: By
    length: int | None


Seen: TypeAlias = Event | Missing


class _Held(msgspec.Struct, order=True):
    """A segment that waits for those before it. Positions count bytes from where the flow was first seen."""

    start: int
    data: bytes
    length: int


class _Flow:
    """One direction of a connection."""

    def __init__(self, by: By) -> None:
        self.by: By = by
        self.origin: int | None = None
        """The sequence number of position 0."""
        self.position = 0
        """Up to where bytes have been given out."""
        self.waiting: list[_Held] = []
        self.held = 0
        self.end: int | None = None
        """The position of the FIN."""
        self.ended = False
        self.acknowledged = 0
        self.doubts = 0

    def place(self, sequence: int) -> int:
        """The position of a sequence number, which may lie before what has been given out."""
        assert self.origin is not None
        here = self.origin + self.position
        return self.position + (sequence - here + _ALL // 2) % _ALL - _ALL // 2


class _Connection:
    def __init__(self, number: int) -> None:
        self.number = number
        self.flows: tuple[_Flow, _Flow] = (_Flow("us"), _Flow("target"))
        self.reset = False

    @property
    def over(self) -> bool:
        return self.reset or all(flow.ended for flow in self.flows)


class Reassembly:
    """Give it segments; it gives events. ``port`` is that of targets: other connections are left out."""

    def __init__(self, port: int | None = None) -> None:
        self._port = port
        self._begun: float | None = None
        self._now = 0.0
        self._connections: OrderedDict[tuple[str, str], _Connection] = OrderedDict()
        self._number = 0
        self.other_ports = 0
        """Segments of connections without the given port."""
        self.repeated = 0
        """Segments that brought nothing new."""
        self.contradicting = 0
        """Segments that held other bytes than those that had come for the same place."""

    def add(self, segment: Segment) -> Iterator[Seen]:
        """What is known by this segment."""
        if self._begun is None:
            self._begun = segment.time
        self._now = max(self._now, segment.time - self._begun)
        if self._port is not None and not any(
            place.endswith(f":{self._port}") for place in (segment.source, segment.destination)
        ):
            self.other_ports += 1
            return
        us, target = self._ends(segment)
        connection = self._connections.get((us, target))
        if connection is None and (target, us) in self._connections:
            us, target = target, us
            connection = self._connections[us, target]
        starts = segment.flags & (SYN | ACK) == SYN
        if connection is not None and starts and self._is_another(connection, segment, us):
            yield from self._finish(connection)
            del self._connections[us, target]
            connection = None
            us, target = segment.source, segment.destination
        if connection is None:
            if not (segment.length or segment.flags & SYN):
                return  # of a connection that is over, or that says nothing
            connection = self._open(us, target)
            yield self._opened(connection, us, target)
            if len(self._connections) > CONNECTIONS:
                _, quietest = self._connections.popitem(last=False)
                yield from self._finish(quietest)
        self._connections.move_to_end((us, target))
        if not connection.over:
            yield from self._take(connection, 0 if segment.source == us else 1, segment)

    def end(self) -> Iterator[Seen]:
        """What is known now that nothing more will come."""
        while self._connections:
            _, connection = self._connections.popitem(last=False)
            yield from self._finish(connection)

    def _ends(self, segment: Segment) -> tuple[str, str]:
        """Us and the target."""
        forth, back = (segment.source, segment.destination), (segment.destination, segment.source)
        if segment.flags & SYN:
            return back if segment.flags & ACK else forth
        ports = tuple(int(place.rpartition(":")[2]) for place in forth)
        if self._port in ports and ports[0] != ports[1]:
            return back if ports[0] == self._port else forth
        return back if ports[0] < ports[1] else forth

    def _is_another(self, connection: _Connection, segment: Segment, us: str) -> bool:
        """Whether a SYN begins another connection between the same ports, not the known one again."""
        flow = connection.flows[0 if segment.source == us else 1]
        return flow.origin is None or flow.origin != (segment.sequence + 1) % _ALL

    def _open(self, us: str, target: str) -> _Connection:
        self._number += 1
        connection = self._connections[us, target] = _Connection(self._number)
        return connection

    def _opened(self, connection: _Connection, us: str, target: str) -> Opened:
        return Opened(
            real=self._now, protocol=self._now, connection=connection.number, local=us, remote=target
        )

    def _take(self, connection: _Connection, index: int, segment: Segment) -> Iterator[Seen]:
        flow, other = connection.flows[index], connection.flows[1 - index]
        sequence = segment.sequence
        if segment.flags & SYN:
            sequence = (sequence + 1) % _ALL
            if flow.origin is None:
                flow.origin = sequence
        if flow.origin is None and (segment.length or segment.flags & FIN):
            flow.origin = sequence
            yield self._missing(connection, flow, None)
        if segment.acknowledged is not None and other.origin is not None:
            other.acknowledged = max(other.acknowledged, other.place(segment.acknowledged))
        if segment.length and not flow.ended:
            self._keep(flow, flow.place(sequence), segment)
        if segment.flags & FIN and flow.origin is not None:
            flow.end = flow.place(sequence) + segment.length
        yield from self._give(connection, flow)
        for one in (flow, other):
            if self._is_hopeless(one):
                yield from self._skip(connection, one)
        if segment.flags & RST:
            yield from self._finish(connection)
            connection.reset = True
            yield self._closed(connection, flow.by, "reset")

    def _keep(self, flow: _Flow, start: int, segment: Segment) -> None:
        if start + segment.length <= flow.position:
            self.repeated += 1
            return
        for held in flow.waiting:
            if held.start == start and held.length >= segment.length:
                self.repeated += 1
                self.contradicting += not held.data.startswith(segment.data)
                return
        insort(flow.waiting, _Held(start, segment.data, segment.length))
        flow.held += len(segment.data)

    def _give(self, connection: _Connection, flow: _Flow) -> Iterator[Seen]:
        """All that has nothing missing before it, and the end of the flow."""
        waiting = flow.waiting
        while waiting and waiting[0].start <= flow.position:
            held = waiting.pop(0)
            flow.held -= len(held.data)
            skipped = flow.position - held.start
            if held.length <= skipped:
                continue
            if data := held.data[skipped:]:
                flow.position += len(data)
                yield self._bytes(connection, flow, data)
            if lost := held.start + held.length - flow.position:
                # The capture has cut the packet: the rest is nowhere, unless it was sent again in another.
                if waiting and waiting[0].start <= flow.position:
                    continue
                flow.position += lost
                yield self._missing(connection, flow, lost)
        if not waiting:
            flow.doubts = 0
        if flow.end is not None and flow.position >= flow.end and not flow.ended:
            flow.ended = True
            other = connection.flows[0 if flow.by == "target" else 1]
            yield self._closed(connection, flow.by, "fin" if other.ended else "half")

    def _is_hopeless(self, flow: _Flow) -> bool:
        """Whether what is missing before what waits will not come any more."""
        if not flow.waiting:
            return False
        if flow.acknowledged >= flow.waiting[0].start:
            flow.doubts += 1
        return flow.doubts > _DOUBTS or flow.held > HELD or len(flow.waiting) > _SEGMENTS

    def _skip(self, connection: _Connection, flow: _Flow) -> Iterator[Seen]:
        flow.doubts = 0
        lost = flow.waiting[0].start - flow.position
        flow.position += lost
        yield self._missing(connection, flow, lost)
        yield from self._give(connection, flow)

    def _finish(self, connection: _Connection) -> Iterator[Seen]:
        for flow in connection.flows:
            while flow.waiting:
                yield from self._skip(connection, flow)

    def _bytes(self, connection: _Connection, flow: _Flow, data: bytes) -> Event:
        kind = Sent if flow.by == "us" else Received
        return kind(real=self._now, protocol=self._now, connection=connection.number, data=data)

    def _missing(self, connection: _Connection, flow: _Flow, length: int | None) -> Missing:
        return Missing(
            real=self._now, protocol=self._now, connection=connection.number, by=flow.by, length=length
        )

    def _closed(self, connection: _Connection, by: By, how: How) -> Closed:
        return Closed(real=self._now, protocol=self._now, connection=connection.number, by=by, how=how)
