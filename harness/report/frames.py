"""From a trace's pieces of bytes to frames with readable labels.

Invariants:

1. Pure, and it never raises: a trace may hold anything.
2. A frame has the number of the event that completed it, as the trace counts events: the number in "frame
   #6".
3. Bytes that are no frame are shown as bytes; so is an unfinished frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from harness.report.results import Direction
from harness.report.text import visible
from harness.trace import Closed, Event, Note, Opened, Purpose, Received, Sent
from harness.wire import Command, WireError, dissect, frame_size
from harness.wire.code_names import request_name, response_name

Kind = Literal["opened", "frame", "bytes", "closed", "note"]

RESTARTS = {"restart": "term", "killed and started again": "kill", "asked to stop": "stop"}
"""Notes that say that a target was ended, and how (`harness.session.NameServerSession`)."""

_TELLING = ("topic", "brokerId", "brokerAddr", "brokerName", "clusterName", "namespace", "key")


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened, as a person would count it."""

    number: int
    kind: Kind
    real: float
    protocol: float
    """Protocol seconds since the trace began."""
    label: str
    connection: int | None = None
    direction: Direction | None = None
    data: bytes = b""
    purpose: Purpose = "case"
    """For a response, the purpose of its request."""
    server: int = 0
    """Which of several targets it is about."""
    segments: int = 1
    """For a frame that was sent: the number of pieces."""
    over: float = 0.0
    """Protocol seconds from its first piece to its last."""

    ends: bool = False
    """Whether the connection is of no use any more."""

    @property
    def words(self) -> str:
        """The label, and in how many pieces it was sent."""
        if self.segments < 2:
            return self.label
        return f"{self.label} · in {self.segments} segments" + (f", {self.over:g} s" if self.over else "")


class _Side:
    """What one end of one connection has sent and not yet finished."""

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.broken = False
        self.pieces = 0
        self.since = 0.0


def moments(events: Sequence[Event]) -> list[Moment]:
    """The frames, notes, openings and closings of a trace, in order; protocol time from its beginning.

    Several targets have clocks of their own: time is from the first that was done to each of them.
    """
    servers = {event.connection: event.server for event in events if isinstance(event, Opened)}
    begun: dict[int, float] = {}
    found = []
    for moment in _moments(events):
        server = 0 if moment.connection is None else servers.get(moment.connection, 0)
        since = begun.setdefault(server, moment.protocol)
        found.append(msgspec.structs.replace(moment, protocol=moment.protocol - since, server=server))
    return found


def _moments(events: Sequence[Event]) -> list[Moment]:
    found: list[Moment] = []
    sides: dict[tuple[int, Direction], _Side] = {}
    asked: dict[tuple[int, int], Purpose] = {}
    for number, event in enumerate(events):
        if isinstance(event, Sent | Received):
            direction: Direction = "sent" if isinstance(event, Sent) else "received"
            side = sides.setdefault((event.connection, direction), _Side())
            purpose = event.purpose if isinstance(event, Sent) else "case"
            found += _frames(number, event, direction, side, asked, purpose)
            continue
        if isinstance(event, Closed):
            for (connection, direction), side in sides.items():
                if connection == event.connection and side.buffer and not side.broken:
                    found.append(
                        _bytes(number, event, direction, bytes(side.buffer), "of an unfinished frame")
                    )
                    side.broken = True
        found.append(_plain(number, event))
    return found


def as_text(events: Sequence[Event], decisive: int | None = None) -> str:
    """The trace for people, one line for each moment: number, protocol time, connection, what happened."""
    lines = []
    for moment in moments(events):
        way = {"sent": "→", "received": "←"}.get(moment.direction or "", "·")
        place = f"conn {moment.connection}" if moment.connection is not None else ""
        own = f" [{moment.purpose}]" if moment.purpose != "case" else ""
        mark = "   <- decisive" if moment.number == decisive else ""
        when = f"#{moment.number:<4} {moment.protocol:>10.3f} s"
        lines.append(f"{when}  {place:<8} {way} {visible(moment.words)}{own}{mark}")
    return "\n".join(lines) + "\n"


def describe(command: Command) -> str:
    """A command in one line: what it asks for or answers, and what about."""
    if command.is_response:
        name = response_name(command.code) or f"response {command.code}"
        return f"{name} · {_cut(command.remark, 60)}" if command.remark else name
    name = request_name(command.code) or f"request {command.code}"
    ext = command.ext or {}
    about = ", ".join(f"{key}={ext[key]}" for key in _TELLING if ext.get(key))
    return f"{name}{' one-way' if command.is_oneway else ''}{f' ({_cut(about, 70)})' if about else ''}"


def _frames(
    number: int,
    event: Sent | Received,
    direction: Direction,
    side: _Side,
    asked: dict[tuple[int, int], Purpose],
    purpose: Purpose,
) -> Iterable[Moment]:
    if not side.buffer:
        side.pieces, side.since = 0, event.protocol
    side.buffer += event.data
    side.pieces += 1
    while not side.broken:
        try:
            size = frame_size(side.buffer)
        except WireError:
            side.broken = True
            break
        if size is None:
            return
        frame = bytes(side.buffer[:size])
        del side.buffer[:size]
        moment = _frame(number, event, direction, frame, asked, purpose)
        if direction == "sent":
            over = round(event.protocol - side.since, 3)
            moment = msgspec.structs.replace(moment, segments=side.pieces, over=over)
        yield moment
        side.pieces, side.since = 1, event.protocol
    if side.buffer:
        yield _bytes(number, event, direction, bytes(side.buffer), "that are no frame")
        side.buffer.clear()


def _frame(
    number: int,
    event: Sent | Received,
    direction: Direction,
    frame: bytes,
    asked: dict[tuple[int, int], Purpose],
    purpose: Purpose,
) -> Moment:
    command = dissect(frame).command
    if command is None:
        return _bytes(number, event, direction, frame, "that cannot be decoded")
    label = describe(command)
    if direction == "sent":
        asked[event.connection, command.opaque] = purpose
    elif command.is_response:
        if (event.connection, command.opaque) not in asked:
            label += f" · answers no question (opaque {command.opaque})"
        purpose = asked.get((event.connection, command.opaque), "case")
    return Moment(
        number=number,
        kind="frame",
        real=event.real,
        protocol=event.protocol,
        label=label,
        connection=event.connection,
        direction=direction,
        data=frame,
        purpose=purpose,
    )


def _bytes(
    number: int, event: Sent | Received | Closed, direction: Direction, data: bytes, words: str
) -> Moment:
    return Moment(
        number=number,
        kind="bytes",
        real=event.real,
        protocol=event.protocol,
        label=f"{len(data)} bytes {words}: {_cut(repr(data[:40])[2:-1], 60)}",
        connection=event.connection,
        direction=direction,
        data=data,
    )


def _plain(number: int, event: Opened | Closed | Note) -> Moment:
    if isinstance(event, Opened):
        return Moment(
            number=number,
            kind="opened",
            real=event.real,
            protocol=event.protocol,
            label=f"connects from {event.local}",
            connection=event.connection,
        )
    if isinstance(event, Closed):
        how = {"fin": "closes", "reset": "resets", "half": "closes its sending side of"}[event.how]
        who = "the target" if event.by == "target" else "the case"
        return Moment(
            number=number,
            kind="closed",
            real=event.real,
            protocol=event.protocol,
            label=f"{who} {how} connection {event.connection}",
            connection=event.connection,
            direction="received" if event.by == "target" else "sent",
            ends=event.how != "half",
        )
    return Moment(
        number=number,
        kind="note",
        real=event.real,
        protocol=event.protocol,
        label=event.text,
        connection=event.connection,
    )


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
