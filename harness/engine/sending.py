"""How requests go out: one or several in a segment, cut and stalled where their steps say so."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import msgspec

from harness.program.frames import command_of
from harness.program.names import Names
from harness.program.steps import AnyQuestion
from harness.session import Connection, Session
from harness.session.exchange import SentRequest
from harness.wire import Command, encode

_GAP = 0.002
"""Real seconds between two segments, so that they do not arrive as one."""


class Open(msgspec.Struct):
    """A connection in use."""

    connection: Connection
    alive: float
    """When it was last seen to be open, in protocol seconds."""
    held: list[tuple[int, AnyQuestion]] = []
    strays: int = 0
    """How many of its unsolicited frames have been reported."""
    left: bool = False
    """Whether we have ended it, be it our half: that the target ends it, too, says nothing."""


class Asked(msgspec.Struct):
    """A request in flight."""

    number: int
    step: AnyQuestion
    open: Open
    asked: SentRequest

    @property
    def is_answered(self) -> bool:
        """Whether its answer has come."""
        self.open.connection.link.notice()
        return self.asked.want is not None and self.asked.want.result is not None


class Sender:
    """Puts the requests of one run on their connections; ``announces`` is that of the profile."""

    def __init__(self, names: Names, announces: int) -> None:
        self.waited = 0.0
        """Real seconds that steps have asked for."""
        self._names = names
        self._announces = announces

    def request(self, step: AnyQuestion, opaque: int) -> tuple[Command, bytes]:
        """A request as it is sent, and its frame."""
        command = command_of(step, self._names, opaque, self._announces)
        return command, encode(command)

    def send(self, session: Session, open_: Open, held: Sequence[tuple[int, AnyQuestion]]) -> list[Asked]:
        """Sends numbered requests together; what is to be waited for."""
        link = open_.connection.link
        link.idle = False
        data, stops, sent_at = bytearray(), dict[int, int](), session.now()
        going = []
        for number, step in held:
            opaque = session.next_opaque()
            command, frame = self.request(step, opaque)
            for cut in step.cuts:
                at = cut if cut >= 0 else len(frame) + cut
                if 0 < at < len(frame):
                    stops[len(data) + at] = step.stall
            for _ in range(1 + step.twice):
                data += frame
                want = None if step.oneway else link.want(opaque)
                asked = SentRequest(link, want, command, frame, None, sent_at)
                going.append(Asked(number, step, open_, asked))
        event = self._in_segments(open_, session, bytes(data), stops)
        for one in going:
            one.asked.event = event
        return going

    def _in_segments(self, open_: Open, session: Session, data: bytes, stops: dict[int, int]) -> int:
        """Sends bytes with stops between them; returns the number of the first event."""
        link, at, first = open_.connection.link, 0, None
        for stop in sorted(stops):
            event = link.send(data[at:stop])
            at, first = stop, event if first is None else first
            with self.waiting(session):
                if stops[stop]:
                    session.advance(stops[stop])
                elif session.clock.kind != "virtual":
                    session.clock.pause(_GAP)
        event = link.send(data[at:])
        return event if first is None else first

    @contextlib.contextmanager
    def waiting(self, session: Session) -> Iterator[None]:
        """What is done here was asked for, and takes the time that it takes."""
        began = session.clock.waiting()
        try:
            yield
        finally:
            if session.clock.kind != "virtual":
                self.waited += session.clock.waiting() - began
