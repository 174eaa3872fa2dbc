"""Recording events and keeping them in a file.

- The recorder is given its clocks; it reads none.
- The file is JSON lines: the header first, then the events in the order in which they happened. Bytes are
  base64. The number of an event is its place after the header, counted from 0; it never changes.
- A file that does not end properly (the writer was killed) is read up to the last whole line.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from harness.trace.events import Closed, Event, Header, How, Note, Opened, Purpose, Received, Sent


class TraceError(ValueError):
    """A file is not a trace that this version can read; the message says what was found where."""


class Trace(msgspec.Struct, frozen=True):
    """A header and its events."""

    header: Header
    events: tuple[Event, ...]


class Recorder:
    """Collects the events of one session. Every method may be called from any thread.

    ``real`` and ``protocol`` are called once per event and give seconds. What happened before it is recorded
    says when: ``at``, in protocol seconds.
    """

    def __init__(self, header: Header, *, real: Callable[[], float], protocol: Callable[[], float]) -> None:
        self._header = header
        self._real = real
        self._protocol = protocol
        self._server = 0
        self._events: list[Event] = []
        self._lock = threading.Lock()

    def beside(self, server: int, *, protocol: Callable[[], float]) -> Recorder:
        """A recorder of another target's connections, on a clock of its own, into the same events."""
        other = Recorder(self._header, real=self._real, protocol=protocol)
        other._server, other._events, other._lock = server, self._events, self._lock
        return other

    @property
    def header(self) -> Header:
        return self._header

    @property
    def trace(self) -> Trace:
        """What has been recorded so far."""
        with self._lock:
            return Trace(self._header, tuple(self._events))

    def name(self, name: str, hint: str) -> None:
        """Remembers that ``name`` was made from ``hint``."""
        self._header.names[name] = hint

    def opened(self, connection: int, local: str, remote: str, *, at: float | None = None) -> int:
        return self._append(
            Opened(
                real=self._real(),
                protocol=self._protocol() if at is None else at,
                connection=connection,
                local=local,
                remote=remote,
                server=self._server,
            )
        )

    def sent(
        self, connection: int, data: bytes, purpose: Purpose = "case", *, at: float | None = None
    ) -> int:
        return self._append(
            Sent(
                real=self._real(),
                protocol=self._protocol() if at is None else at,
                connection=connection,
                data=data,
                purpose=purpose,
            )
        )

    def received(self, connection: int, data: bytes, *, at: float | None = None) -> int:
        return self._append(
            Received(
                real=self._real(),
                protocol=self._protocol() if at is None else at,
                connection=connection,
                data=data,
            )
        )

    def closed_by_us(self, connection: int, how: How) -> int:
        return self._append(
            Closed(real=self._real(), protocol=self._protocol(), connection=connection, by="us", how=how)
        )

    def closed_by_target(self, connection: int, how: How) -> int:
        return self._append(
            Closed(real=self._real(), protocol=self._protocol(), connection=connection, by="target", how=how)
        )

    def note(self, text: str, connection: int | None = None) -> int:
        return self._append(
            Note(real=self._real(), protocol=self._protocol(), text=text, connection=connection)
        )

    def _append(self, event: Event) -> int:
        with self._lock:
            self._events.append(event)
            return len(self._events) - 1


def write_trace(path: Path, trace: Trace) -> None:
    """Writes a trace; an existing file is replaced whole or not at all."""
    lines: Sequence[Header | Event] = (trace.header, *trace.events)
    partial = path.with_name(path.name + ".partial")
    partial.parent.mkdir(parents=True, exist_ok=True)
    partial.write_bytes(msgspec.json.Encoder().encode_lines(lines))
    partial.replace(path)


class TraceWriter:
    """Writes a trace event by event: for recordings that are too long to be held, and that may be killed.

    What has been added is in the file when ``add`` returns. A file in the way is replaced. Raises ``OSError``
    as files do; what was whole before stays whole.
    """

    def __init__(self, path: Path, header: Header) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._encoder = msgspec.json.Encoder()
        self._file = path.open("wb", buffering=0)
        self._whole = 0
        self._line(header)

    def add(self, event: Event) -> None:
        self._line(event)

    def close(self) -> None:
        self._file.close()

    def _line(self, record: Header | Event) -> None:
        line = self._encoder.encode(record) + b"\n"
        written = 0
        try:
            while written < len(line):
                written += self._file.write(line[written:])
        except OSError:
            self._file.truncate(self._whole)
            raise
        self._whole += len(line)


def read_trace(path: Path) -> Trace:
    """Reads a trace back. Raises ``TraceError`` where the file is not one."""
    header, events = open_trace(path)
    return Trace(header, tuple(events))


def open_trace(path: Path) -> tuple[Header, Iterator[Event]]:
    """The header of a trace and its events, which are read one at a time. Raises ``TraceError`` as
    ``read_trace`` does, for an event when it comes to it.
    """
    with path.open("rb") as file:
        line = file.readline()
    if not line.endswith(b"\n"):
        raise TraceError(f"{path}: expected a trace (JSON lines), found an empty file")
    try:
        header = msgspec.json.decode(line, type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise TraceError(f"{path}: line 1: expected the header of a trace: {problem}") from problem
    if header.format != 1:
        raise TraceError(f"{path}: format {header.format}; this version reads format 1")
    return header, _events(path)


def _events(path: Path) -> Iterator[Event]:
    decoder = msgspec.json.Decoder(Event)
    with path.open("rb") as file:
        file.readline()
        for number, line in enumerate(file, start=2):
            if not line.endswith(b"\n"):
                return
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as problem:
                raise TraceError(f"{path}: line {number}: expected an event: {problem}") from problem
