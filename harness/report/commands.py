"""From recorded or captured bytes to commands: which request was sent when, and what answered it.

It takes events one at a time and keeps only what is unfinished or unanswered: a capture of any size goes
through. Commands are numbered from 1 in the order in which they were complete. A response answers the latest
request of the other end with its opaque, once.

Where the beginning of a stream was not captured, or bytes are missing or are no frame, it searches for the
next frame and says how much it skipped. Without ``all_speak`` a connection speaks the protocol if a frame is
found in its first `PROBED` bytes; the others are only counted.

Offsets count the bytes of a direction from the first that was seen, missing bytes included where their number
is known.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final, TypeAlias

import msgspec

from harness.report.bodies import Body, body_of
from harness.report.text import visible
from harness.trace import Closed, Note, Opened, Received, Sent
from harness.trace.reassembly import By, Missing, Seen
from harness.wire import Command, Dissection, WireError, dissect, find_frame, frame_size
from harness.wire.code_names import request_name, response_name

PROBED: Final = 65_536
_ASKED: Final = 10_000
"""Requests without an answer that are remembered for each direction."""
_LISTED: Final = 1000


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """One command, or a frame that holds none."""

    number: int
    at: float
    """Protocol seconds since the beginning, when its last byte was there."""
    connection: int
    by: By
    start: int
    """Offset of its first byte in its direction."""
    frame: bytes
    dissection: Dissection
    asked: int | None = None
    """The code of the request: its own, or of the one that it answers."""
    answers: int | None = None
    """The number of the request."""
    after: float | None = None
    """Seconds since the request."""

    @property
    def command(self) -> Command | None:
        return self.dissection.command

    @property
    def body(self) -> Body | None:
        return None if self.command is None else body_of(self.command, self.asked)


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """Something else that happened. ``trouble``: bytes could not be read as commands, or were not there."""

    at: float
    text: str
    connection: int | None = None
    by: By | None = None
    trouble: bool = False


Line: TypeAlias = Told | Remark


class Totals(msgspec.Struct, kw_only=True):
    """What has been seen so far."""

    connections: int = 0
    """Those that speak the protocol."""
    others: int = 0
    commands: int = 0
    requests: int = 0
    responses: int = 0
    fatal: int = 0
    """Frames on which Apache would close the connection, streams that are no frames included."""
    answered: int = 0
    missing: int = 0
    """Bytes that were not captured, as far as is known."""
    skipped: int = 0
    """Bytes passed over in search of a frame."""
    tls: int = 0
    """Connections under TLS, which could not be read."""
    unanswered: list[int] = []
    """Numbers of requests that wanted an answer and got none, up to a thousand."""


class _Stream:
    """One direction."""

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.offset = 0
        self.in_step = False
        """Whether the next byte begins a frame."""
        self.skipped = 0
        self.whole = True
        """Whether its beginning was captured."""
        self.asked: OrderedDict[int, tuple[int, int, float]] = OrderedDict()
        """By opaque: number, code and time of a request."""

    def drop(self, count: int) -> None:
        del self.buffer[:count]
        self.offset += count


class _Connection:
    def __init__(self, number: int, opened: Opened | None, at: float) -> None:
        self.number = number
        self.opened = opened
        self.at = at
        self.speaks: bool | None = None
        self.tls = False
        self.streams: dict[By, _Stream] = {"us": _Stream(), "target": _Stream()}

    def opening(self) -> Iterator[Remark]:
        """Who connects to whom."""
        if self.opened is not None:
            whole = all(stream.whole for stream in self.streams.values())
            between = f"{self.opened.local} {'connects' if whole else 'is connected'} to {self.opened.remote}"
            text = between if whole else f"{between}: captured from the middle on"
            yield Remark(at=self.at, text=text, connection=self.number)


class Commands:
    """Give it events in order; it gives what they come to. ``all_speak``: no connection is doubted."""

    def __init__(self, *, all_speak: bool) -> None:
        self._all_speak = all_speak
        self._connections: dict[int, _Connection] = {}
        self._begun: float | None = None
        self._last = 0.0
        self._ended: set[int] = set()
        """Numbers of connections that are over, on which a trace may still say what was swallowed."""
        self.totals = Totals()

    def add(self, seen: Seen) -> Iterator[Line]:
        """The lines that this event completes."""
        if self._begun is None:
            self._begun = seen.protocol
        self._last = seen.protocol - self._begun
        if isinstance(seen, Note):
            yield Remark(at=self._last, text=seen.text, connection=seen.connection)
            return
        connection = self._connections.get(seen.connection)
        if connection is None:
            opened = seen if isinstance(seen, Opened) else None
            connection = _Connection(seen.connection, opened, self._last)
            self._connections[seen.connection] = connection
        beginning = isinstance(seen, Opened) or (isinstance(seen, Missing) and seen.length is None)
        if connection.speaks is None and self._all_speak and not beginning:
            yield from self._speaks(connection)
        if isinstance(seen, Sent | Received):
            yield from self._bytes(connection, "us" if isinstance(seen, Sent) else "target", seen.data)
        elif isinstance(seen, Missing):
            yield from self._missing(connection, seen)
        elif isinstance(seen, Closed):
            yield from self._closed(connection, seen)

    def end(self) -> Iterator[Line]:
        """The lines that the end of everything completes."""
        for connection in list(self._connections.values()):
            if connection.speaks is None and self._all_speak:
                yield from self._speaks(connection)
            yield from self._over(connection)

    def _speaks(self, connection: _Connection) -> Iterator[Line]:
        connection.speaks = True
        self.totals.connections += connection.number not in self._ended
        for stream in connection.streams.values():
            # In search of a frame only where the beginning is not known, or something else came first.
            stream.in_step = stream.whole and not stream.skipped
        yield from connection.opening()

    def _bytes(self, connection: _Connection, by: By, data: bytes) -> Iterator[Line]:
        if connection.speaks is False or connection.tls:
            return
        stream = connection.streams[by]
        stream.buffer += data
        if _is_tls(stream):
            yield from self._under_tls(connection)
            return
        if connection.speaks is None:
            # Each direction is probed by itself; the first frame decides for both.
            at, sure = find_frame(stream.buffer)
            stream.skipped += at
            stream.drop(at)
            if sure:
                yield from self._speaks(connection)
                for each, one in connection.streams.items():
                    yield from self._read(connection, each, one)
            elif stream.skipped > PROBED or len(stream.buffer) > 2 * PROBED:
                self._is_other(connection)
            return
        yield from self._read(connection, by, stream)

    def _read(self, connection: _Connection, by: By, stream: _Stream) -> Iterator[Line]:
        """All whole frames."""
        while True:
            if not stream.in_step:
                at, sure = find_frame(stream.buffer)
                stream.skipped += at
                stream.drop(at)
                if not sure:
                    return
                yield from self._passed(connection, by, stream, "the next frame")
                stream.in_step = True
            try:
                size = frame_size(stream.buffer)
            except WireError:
                yield self._no_frame(connection, by, stream, bytes(stream.buffer[:64]))
                stream.in_step = False
                stream.skipped = 4
                stream.drop(4)
                continue
            if size is None:
                return
            yield self._told(connection, by, stream, bytes(stream.buffer[:size]))
            stream.drop(size)

    def _told(self, connection: _Connection, by: By, stream: _Stream, frame: bytes) -> Told:
        totals = self.totals
        totals.commands += 1
        number, dissection = totals.commands, dissect(frame)
        command = dissection.command
        told = Told(
            number=number,
            at=self._last,
            connection=connection.number,
            by=by,
            start=stream.offset,
            frame=frame,
            dissection=dissection,
        )
        if command is None:
            totals.fatal += 1
            return told
        if not command.is_response:
            totals.requests += 1
            if not command.is_oneway:
                if (before := stream.asked.pop(command.opaque, None)) is not None:
                    self._unanswered(before[0])
                stream.asked[command.opaque] = (number, command.code, self._last)
                if len(stream.asked) > _ASKED:
                    _, (forgotten, _, _) = stream.asked.popitem(last=False)
                    self._unanswered(forgotten)
            return msgspec.structs.replace(told, asked=command.code)
        totals.responses += 1
        other = connection.streams["target" if by == "us" else "us"]
        if (question := other.asked.pop(command.opaque, None)) is None:
            return told
        totals.answered += 1
        asked, code, at = question
        return msgspec.structs.replace(told, asked=code, answers=asked, after=self._last - at)

    def _no_frame(self, connection: _Connection, by: By, stream: _Stream, data: bytes) -> Remark:
        self.totals.fatal += 1
        (problem, *_) = dissect(data).diagnostics
        where = f"bytes {stream.offset + problem.start}–{stream.offset + problem.end}"
        return self._remark(
            connection, f"no frame: {problem.message} ({problem.code}, {where}): {_shown(data)}", by, True
        )

    def _passed(self, connection: _Connection, by: By, stream: _Stream, until: str) -> Iterator[Remark]:
        """Says what was passed over, once it is known how much."""
        if stream.skipped:
            self.totals.skipped += stream.skipped
            start = stream.offset - stream.skipped
            yield self._remark(
                connection,
                f"{stream.skipped} bytes passed over, up to {until} (bytes {start}–{stream.offset})",
                by,
                True,
            )
            stream.skipped = 0

    def _missing(self, connection: _Connection, seen: Missing) -> Iterator[Line]:
        stream = connection.streams[seen.by]
        if seen.length is None:
            stream.whole = stream.in_step = False
            return
        self.totals.missing += seen.length
        if connection.speaks:
            yield from self._unfinished(connection, seen.by, stream)
            yield self._remark(connection, f"{seen.length} bytes were not captured", seen.by, True)
        stream.drop(len(stream.buffer))
        stream.offset += seen.length
        stream.in_step = False

    def _closed(self, connection: _Connection, seen: Closed) -> Iterator[Line]:
        if not connection.speaks:
            if seen.how != "half":
                yield from self._over(connection)
            return
        yield from self._unfinished(connection, seen.by, connection.streams[seen.by])
        how = {"fin": "closes", "reset": "resets", "half": "closes its sending side of"}[seen.how]
        yield self._remark(connection, f"{how} the connection", seen.by)
        if seen.how != "half":
            yield from self._over(connection)

    def _over(self, connection: _Connection) -> Iterator[Line]:
        """Nothing more will come on a connection."""
        self._connections.pop(connection.number, None)
        self._ended.add(connection.number)
        if connection.speaks is None and not connection.tls:
            seen = any(stream.offset or stream.buffer for stream in connection.streams.values())
            self.totals.others += seen
        if not connection.speaks:
            return
        for by, stream in connection.streams.items():
            yield from self._unfinished(connection, by, stream)
            for number, _, _ in stream.asked.values():
                self._unanswered(number)

    def _unfinished(self, connection: _Connection, by: By, stream: _Stream) -> Iterator[Line]:
        """What is left of a stream that does not go on."""
        if not stream.in_step:
            stream.skipped += len(stream.buffer)
            stream.drop(len(stream.buffer))
            yield from self._passed(connection, by, stream, "the end")
        elif stream.buffer:
            problems = dissect(stream.buffer).diagnostics
            said = problems[0].message if problems else "not whole"
            end = stream.offset + len(stream.buffer)
            yield self._remark(
                connection,
                f"unfinished frame, bytes {stream.offset}–{end}: {said}: {_shown(stream.buffer)}",
                by,
                True,
            )
            stream.drop(len(stream.buffer))

    def _under_tls(self, connection: _Connection) -> Iterator[Line]:
        connection.tls = True
        self.totals.tls += 1
        if not connection.speaks:
            yield from connection.opening()
        for stream in connection.streams.values():
            stream.drop(len(stream.buffer))
        yield self._remark(connection, "under TLS: what it carries cannot be read", None, True)

    def _is_other(self, connection: _Connection) -> None:
        connection.speaks = False
        self.totals.others += 1
        for stream in connection.streams.values():
            stream.drop(len(stream.buffer))

    def _unanswered(self, number: int) -> None:
        if len(self.totals.unanswered) < _LISTED:
            self.totals.unanswered.append(number)

    def _remark(self, connection: _Connection, text: str, by: By | None, trouble: bool = False) -> Remark:
        return Remark(at=self._last, text=text, connection=connection.number, by=by, trouble=trouble)


def code_name(command: Command) -> str:
    """``REGISTER_BROKER``, ``SUCCESS``, or ``request 9`` where there is no name for it."""
    if command.is_response:
        return response_name(command.code) or f"response {command.code}"
    return request_name(command.code) or f"request {command.code}"


def _is_tls(stream: _Stream) -> bool:
    """Whether a stream begins with a handshake of TLS."""
    begins = stream.buffer[:3]
    return not (stream.offset or stream.skipped) and begins[:2] == b"\x16\x03" and begins[2:] <= b"\x04"


def _shown(data: bytes | bytearray) -> str:
    return visible(repr(bytes(data[:32]))[2:-1])
