"""From traces to requests with their answers, in the order of time, whichever server got them.

Two clocks: `at` is that of the servers, `now` that of the client, by which a client is judged. Where the
clock of servers is turned (`harness.testing`), their clients do not see it: of what passes between two events
by the two clocks, the shorter counts. Where time is virtual or warped, the client that recorded it followed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec

from harness.report.commands import Commands, Told
from harness.trace import Closed, Event, Header, Note, Opened, Sent
from harness.trace.reassembly import By, Missing, Seen
from harness.wire import Command
from harness.wire.bodies import Heartbeat


class Source(msgspec.Struct, frozen=True):
    """A trace or a capture, read event by event. `all_speak`: all connections carry frames."""

    header: Header
    events: Iterable[Seen]
    all_speak: bool = True


class Connection:
    """A connection of a client. `number` counts those of all traces together."""

    def __init__(self, number: int, opened: Opened | None) -> None:
        self.number = number
        self.local = "" if opened is None else opened.local
        self.server = "" if opened is None else opened.remote
        self.client = ""
        """The id that its first heartbeat says."""
        self.beat: Heartbeat | None = None
        """The last heartbeat that says what its groups subscribe to."""
        self.waiting: dict[int, Said] = {}
        """The client's requests that are not answered yet, by opaque."""
        self.is_judged = True
        """Whether it is that of a client: servers speak to each other, too."""

    @property
    def host(self) -> str:
        """Where the client runs."""
        return self.local.rpartition(":")[0]

    @property
    def name(self) -> str:
        """What a reader calls the client."""
        return self.client or self.local or f"connection {self.number}"


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A frame of a connection. `number` counts the frames of all traces together."""

    number: int
    at: float
    now: float
    connection: Connection
    by: By
    told: Told

    @property
    def command(self) -> Command:
        """What it holds. Of a frame that can be decoded."""
        assert self.told.command is not None
        return self.told.command

    def __getitem__(self, field: str) -> str | None:
        """An ext field; None where it is absent."""
        return (self.command.ext or {}).get(field)


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a connection."""

    at: float
    now: float
    connection: Connection
    by: By


Happening: TypeAlias = Said | Ended


def happenings(sources: Iterable[Source]) -> Iterator[Happening]:
    """What happened, in order."""
    readers = [_Reader(source, number) for number, source in enumerate(sources)]
    clock = _Clock()
    numbers, frames = _Numbers(), 0
    for _, _, reader, event in heapq.merge(*(reader.events() for reader in readers), key=lambda one: one[:2]):
        clock.pass_to(reader.epoch + event.real, reader.epoch + event.protocol, follows=reader.follows)
        for told in reader.told(event):
            connection = numbers.of(reader, told.connection)
            frames += 1
            yield Said(
                number=frames, at=clock.at, now=clock.now, connection=connection, by=told.by, told=told
            )
        if isinstance(event, Opened):
            numbers.open(reader, event)
        elif isinstance(event, Closed):
            connection = numbers.of(reader, event.connection)
            yield Ended(at=clock.at, now=clock.now, connection=connection, by=event.by)


class _Clock:
    """The two clocks, from the first event on."""

    def __init__(self) -> None:
        self._last: tuple[float, float] | None = None
        self.now = self.at = 0.0

    def pass_to(self, real: float, protocol: float, *, follows: bool) -> None:
        if self._last is not None:
            passed = max(real - self._last[0], 0.0), max(protocol - self._last[1], 0.0)
            self.at += passed[1]
            self.now += passed[1] if follows else min(passed)
        before = self._last or (real, protocol)
        self._last = max(real, before[0]), max(protocol, before[1])


class _Reader:
    """One trace."""

    def __init__(self, source: Source, number: int) -> None:
        self._header, self._events = source.header, source.events
        self._number = number
        self._commands = Commands(all_speak=source.all_speak)
        self.epoch = self._header.started

    @property
    def follows(self) -> bool:
        """Whether the clients of the trace follow the clock of the server."""
        return self._header.clock != "real"

    def events(self) -> Iterator[tuple[float, int, _Reader, Event | Missing]]:
        """When each happened on the wall, and what orders those of one moment."""
        for event in self._events:
            yield self.epoch + event.real, self._number, self, event

    def told(self, event: Seen) -> list[Told]:
        """The frames that an event completes. What a recorder sent of itself is not the client's."""
        if isinstance(event, Note) or (isinstance(event, Sent) and event.purpose != "case"):
            return []
        return [line for line in self._commands.add(event) if isinstance(line, Told)]


class _Numbers:
    """The connections of all traces."""

    def __init__(self) -> None:
        self._known: dict[tuple[_Reader, int], Connection] = {}
        self._count = 0

    def open(self, reader: _Reader, event: Opened) -> None:
        self._count += 1
        self._known[reader, event.connection] = Connection(self._count, event)

    def of(self, reader: _Reader, number: int) -> Connection:
        if (reader, number) not in self._known:
            self._count += 1
            self._known[reader, number] = Connection(self._count, None)
        return self._known[reader, number]
