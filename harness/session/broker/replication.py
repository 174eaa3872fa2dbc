"""Replication between Brokers, as a case sees it: as a slave of the target, and as its master.

- No frames here: a slave reports where its log ends (8 bytes), a master pushes a header (offset, 8 bytes, and
  size, 4 bytes) and as many bytes of its log. All numbers are big-endian.
- Waits are in protocol seconds. Nothing happens in the background: what comes waits until it is asked for.
- A connection whose end has been seen ends every wait on it.

Source: HAConnection, HAService (4.9.8); DefaultHAConnection, DefaultHAClient (5.3.3).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self

from harness.session.exchange import Exchange, Request, SentRequest, View
from harness.session.link import RawLink
from harness.session.outcome import Outcome, Replied, Silent, Stalled
from harness.session.transport import Listening, Transport
from harness.wire import Command

if TYPE_CHECKING:
    from harness.session.session import Session

_REPORT = struct.Struct(">q")
_HEADER = struct.Struct(">qi")

BETWEEN_BROKERS: Final = "what a master and its slave push and report is carried from one to the other"
"""The note in a trace behind which the harness stands between two Brokers of the target."""

Adopt = Callable[[Transport], RawLink]
"""Makes a link of a connection, which the session records and closes."""


class PushExchange(Exchange):
    """What a master has pushed. To be judged by ``Pushed(…)``, ``Silence()`` or ``Closed()``."""

    @property
    def place(self) -> Self:
        """View: ``(offset, size)``, the size as the header has it."""

        def read(push: Command) -> tuple[int, int]:
            return int((push.ext or {})["offset"] or 0), int((push.ext or {})["size"] or 0)

        return self.seen_as(View("push", read, columns=("offset", "size")))

    @property
    def data(self) -> Self:
        """View: the bytes of the log."""
        return self.seen_as(View("pushed bytes", lambda push: push.body))

    def part(self, offset: int, size: int) -> Self:
        """View: `size` bytes of the log from `offset` on."""

        def read(push: Command) -> bytes:
            start = offset - int((push.ext or {})["offset"] or 0)
            return push.body[start : start + size]

        return self.seen_as(View(f"log from {offset}", read))

    @property
    def seconds(self) -> Self:
        """View: protocol seconds from when it was asked for."""
        return self.seen_as(View("seconds", lambda _: self._waited()))

    def _waited(self) -> float:
        outcome = self._request.outcome()
        return round(outcome.at - self._request.first_asked, 3)


class ReportExchange(Exchange):
    """What a slave has reported. To be judged by ``Pushed(…)``, ``Silence()`` or ``Closed()``."""

    @property
    def offset(self) -> Self:
        """View: where its log ends."""
        return self.seen_as(View("reported offset", lambda report: _REPORT.unpack(report.body)[0]))


class Slave:
    """A connection to the target's replication port: a slave of it."""

    def __init__(self, session: Session, link: RawLink) -> None:
        self._session = session
        self._link = link

    @property
    def peer(self) -> str:
        """Its own ``ip:port``."""
        return self._link.local

    @property
    def is_connected(self) -> bool:
        """Whether the end of the connection has not been seen."""
        return _is_connected(self._link)

    def report(self, *offsets: int) -> None:
        """Says where its log ends; several in one write."""
        self.write(b"".join(_REPORT.pack(offset) for offset in offsets))

    def write(self, data: bytes) -> None:
        """Sends bytes as they are."""
        self._link.send(data)

    def next_push(self, *, within: float | None = None) -> PushExchange:
        """Awaits the next push, which may be empty."""
        return PushExchange(_Awaited(self._session, "next push", self._link, self._taken, within))

    def pushed(self, size: int, *, within: float | None = None) -> PushExchange:
        """Awaits `size` bytes of the log, in one push or several; empty pushes are passed over."""
        gathered: list[Replied] = []

        def take() -> Replied | None:
            while (push := self._taken()) is not None:
                if push.command.body:
                    gathered.append(push)
                if sum(len(one.command.body) for one in gathered) >= size:
                    return _joined(gathered)
            return None

        asked = _Awaited(self._session, f"{size} bytes of the log", self._link, take, within)
        return PushExchange(asked)

    def closes(self, *, within: float | None = None) -> Exchange:
        """Awaits that the target closes it; what is pushed before that is passed over."""

        def take() -> Replied | None:
            while self._taken() is not None:
                pass
            return None

        return Exchange(_Awaited(self._session, "end of replication", self._link, take, within))

    def close(self) -> None:
        """Closes it in order (FIN)."""
        self._link.close("fin")

    def _taken(self) -> Replied | None:
        head = self._link.peek(_HEADER.size)
        if head is None:
            return None
        offset, size = _HEADER.unpack(head)
        data = self._link.take(_HEADER.size + max(0, size))
        if data is None:
            return None
        push = Command(code=0, ext={"offset": str(offset), "size": str(size)}, body=data[_HEADER.size :])
        return _replied(self._session, self._link, push, data)


class Master:
    """An address where the target, as a slave, finds its master."""

    def __init__(self, session: Session, listening: Listening, adopt: Adopt) -> None:
        self._session = session
        self._listening = listening
        self._adopt = adopt
        self._link: RawLink | None = None

    @property
    def address(self) -> str:
        """``ip:port``, as a NameServer would name it."""
        return self._listening.address

    @property
    def is_connected(self) -> bool:
        """Whether the slave has connected, and the end of that has not been seen."""
        link = self._connected()
        return link is not None and _is_connected(link)

    def report(self, offset: int, *, within: float | None = None) -> ReportExchange:
        """Awaits that the slave reports this offset, on the connection that it has, or makes now. If it never
        does: what it has reported last.
        """
        seen: list[Replied] = []

        def take() -> Replied | None:
            while (report := self._taken()) is not None:
                seen.append(report)
                if _REPORT.unpack(report.command.body)[0] == offset:
                    return report
            return None

        asked = _Awaited(self._session, "report of the slave", self._connected, take, within, seen)
        return ReportExchange(asked)

    def next_report(self, *, within: float | None = None) -> ReportExchange:
        """Awaits the next report."""
        return ReportExchange(
            _Awaited(self._session, "next report of the slave", self._connected, self._taken, within)
        )

    def push(self, offset: int, data: bytes) -> None:
        """Pushes bytes of the log; none: a heartbeat."""
        self.write(_HEADER.pack(offset, len(data)) + data)

    def write(self, data: bytes) -> None:
        """Sends bytes as they are, on the connection that the slave has made."""
        link = self._connected()
        assert link is not None
        link.send(data)

    def closes(self, *, within: float | None = None) -> Exchange:
        """Awaits that the slave closes its connection; then it may make another."""

        def take() -> Replied | None:
            while self._taken() is not None:
                pass
            return None

        return Exchange(_Awaited(self._session, "end of replication", self._connected, take, within))

    def leaves(self) -> None:
        """Closes the connection; the next one that the slave makes takes its place."""
        if self._link is not None:
            self._link.close("fin")
            self._link = None

    def next_connection(self) -> None:
        """What follows is about the next connection of the slave."""
        self._link = None

    def _connected(self) -> RawLink | None:
        if self._link is None and (transport := self._listening.accept()) is not None:
            self._link = self._adopt(transport)
        return self._link

    def _taken(self) -> Replied | None:
        link = self._connected()
        data = None if link is None else link.take(_REPORT.size)
        if link is None or data is None:
            return None
        return _replied(self._session, link, Command(code=0, body=data), data)


class _Awaited(Request):
    """Waits for what `take` gives, until the connection ends. `seen`: what came instead; in the end, the last
    of it is the outcome.
    """

    def __init__(
        self,
        session: Session,
        subject: str,
        link: RawLink | Callable[[], RawLink | None],
        take: Callable[[], Replied | None],
        within: float | None,
        seen: list[Replied] | None = None,
    ) -> None:
        def ask() -> SentRequest:
            return SentRequest(None, None, None, b"", None, session.clock.now())

        super().__init__(session, subject, ask, repeatable=False)
        self._link = link
        self._take = take
        self._within = within
        self._seen = seen

    def outcome(self, *, silence_is_an_answer: bool = False) -> Outcome:
        if self._outcome is None:
            self._outcome = self._awaited()
        return self._outcome

    def _awaited(self) -> Outcome:
        session, clock = self.session, self.session.clock
        began, at = clock.waiting(), clock.now()
        while True:
            session.checked(f"waiting for {self.subject}")
            link = self._link if isinstance(self._link, RawLink) else self._link()
            if link is not None:
                link.notice()
            if (taken := self._take()) is not None:
                return taken
            if link is not None and (ending := link.ending()) is not None:
                return ending
            if self._within is None:
                over = clock.waiting() - began >= clock.timing.answer
            else:
                over = clock.now() - at >= self._within + session.jitter
            if over:
                break
            paused = clock.waiting()
            session.pause(clock.timing.pause)
            if self._within is not None and clock.kind != "virtual":
                session.prolong(clock.waiting() - paused)  # time asked for is not time lost
        if self._seen:
            return self._seen[-1]
        kind = Silent if session.is_answered() else Stalled
        return kind(connection=0, at=clock.now(), waited=clock.waiting() - began)


def _is_connected(link: RawLink) -> bool:
    link.notice()
    return link.ending() is None


def _joined(pushes: list[Replied]) -> Replied:
    """One push of all that come one behind the other."""
    first, end, data = pushes[0], 0, b""
    for one in pushes:
        offset = int((one.command.ext or {})["offset"] or 0)
        if data and offset != end:
            break
        data += one.command.body
        end = offset + len(one.command.body)
    return Replied(
        connection=first.connection,
        event=pushes[-1].event,
        at=pushes[-1].at,
        command=Command(code=0, ext={**(first.command.ext or {}), "size": str(len(data))}, body=data),
        frame=b"".join(one.frame for one in pushes),
    )


def _replied(session: Session, link: RawLink, command: Command, data: bytes) -> Replied:
    return Replied(
        connection=link.number,
        event=link.last_event,
        at=session.clock.now(),
        command=command,
        frame=data,
    )
