"""One connection, seen as frames: who asked what, what came back, how it ended.

- Every byte passes the recorder, at the transport, before anything is made of it.
- A response answers the oldest request with its opaque; where there is none, the oldest that takes any
  response; else it is a stray. A request of the target's is always a stray. Replies may come in any order
  (`NettyRemotingAbstract#processRequestCommand`).
- Bytes that are no command end the conversation: what waits, and whatever is asked later, is ``Garbled``.
- Nothing here raises because of what the target does.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.session.clock import Clock
from harness.session.errors import Misuse
from harness.session.outcome import (
    OTHER_OPAQUE,
    REQUEST,
    UNFLAGGED,
    ClosedBy,
    Garbled,
    Replied,
    UnsolicitedFrame,
)
from harness.session.tls import TlsTransport
from harness.session.transport import PeerReset, Transport, TransportTimeout
from harness.trace import How, Purpose, Recorder
from harness.wire import FrameBuffer, Mistyped, WireError, decode, dissect, mistyped
from harness.wire.lengths import cut_body, wrong_lengths

_OPENING = 16
"""Bytes; enough to tell protocols apart."""


class PendingResponse(msgspec.Struct):
    """A response that is waited for on a link: the response with ``opaque``, or any (None)."""

    opaque: int | None
    purpose: Purpose
    result: Replied | Garbled | None = None


class MistypedFrame(msgspec.Struct, frozen=True):
    """A frame whose JSON header only a lenient decoder can read."""

    why: Mistyped
    frame: bytes
    event: int


class _End(msgspec.Struct, frozen=True):
    by: Literal["us", "target"]
    how: How
    event: int
    at: float


class Link:
    """The state of one connection. Used by one thread at a time."""

    def __init__(
        self,
        number: int,
        transport: Transport,
        recorder: Recorder,
        clock: Clock,
        *,
        opening: bytes = b"",
    ) -> None:
        self.number = number
        self.preamble = opening
        """What was sent before the link was made."""
        self.opening = opening[:_OPENING]
        """The first bytes that were sent; ``opening`` is what was sent before the link was made."""
        self._transport = transport
        self._recorder = recorder
        self._clock = clock
        self._inbound = FrameBuffer()
        self._unfinished = bytearray()
        self._outbound = FrameBuffer()
        self._sends_frames = True
        self.sends_together = False
        """Whether frames were sent, or parts of them, while nothing had come since those before."""
        self._is_heard = True
        self._pending: list[PendingResponse] = []
        self._unsolicited: list[UnsolicitedFrame] = []
        self._end: _End | None = None
        self._half_closed = False
        self._garbled: Garbled | None = None
        self._idle = False
        self._last_event = 0
        self.mistyped: list[MistypedFrame] = []
        """The first frame of each kind."""
        self.last_sent = self._last_heard = clock.now()
        self._quiet = 0.0  # protocol seconds before the latest bytes were sent, unless the case wanted it so
        recorder.opened(number, transport.local, transport.remote)

    @property
    def local(self) -> str:
        return self._transport.local

    @property
    def certificate(self) -> bytes | None:
        """The target's certificate (DER), once it has been seen; None without TLS."""
        return self._transport.certificate if isinstance(self._transport, TlsTransport) else None

    @property
    def idle(self) -> bool:
        """Whether the case lets it lie idle."""
        return self._idle

    @idle.setter
    def idle(self, idle: bool) -> None:
        if self._idle and not idle:
            self.last_sent = self._last_heard = self._clock.now()  # that it lay idle until now was meant
        self._idle = idle

    @property
    def is_open(self) -> bool:
        """Whether both directions are open, as far as has been seen."""
        return self._end is None

    @property
    def takes_frames(self) -> bool:
        """Whether a frame sent now would be read as one: open, and what was sent so far is whole frames."""
        return (
            self._end is None
            and not self._half_closed
            and self._sends_frames
            and not self._outbound.pending
            and not self.lacks_tls
        )

    @property
    def lacks_tls(self) -> bool:
        """Whether it is to be encrypted, and the target leaves the handshake unanswered."""
        transport = self._transport
        return isinstance(transport, TlsTransport) and not (transport.is_agreed or transport.has_ended)

    @property
    def state(self) -> str:
        """What the case has done to it last, in words that go on after "a connection that"."""
        if self._half_closed:
            return "is half closed"
        if self._idle:
            return "lies idle"
        return "takes frames" if self.takes_frames else "takes no frame"

    def quiet_until(self, at: float) -> float:
        """Protocol seconds, not after ``at``, for which the target may have found nothing on it to read.

        That is: since we sent, or before that; or since we heard of it, because a target that stood still has
        not read what was sent. When it goes on, its idle timer comes first (seen with Apache 4.9.8).
        """
        return max(self._quiet, at - self.last_sent, at - self._last_heard)

    def send(self, data: bytes, purpose: Purpose = "case") -> int:
        """Sends bytes; returns the number of the event. A connection that the target has ended swallows
        them.
        """
        if self._half_closed or (self._end is not None and self._end.by == "us"):
            raise Misuse(f"connection {self.number} was closed by the case: it cannot send any more")
        event = self._recorder.sent(self.number, data, purpose)
        self.sends_together = self.sends_together or not self._is_heard
        self._is_heard = False
        if len(self.opening) < _OPENING:
            self.opening += data[:_OPENING]
        now = self._clock.now()
        self._quiet, self.last_sent = now - self.last_sent, now
        if self._sends_frames and not self._outbound.is_next(data):
            self.sends_together = True
            self._outbound.feed(data)
            try:
                while self._outbound.next_frame() is not None:
                    pass
            except WireError:
                self._sends_frames = False
        if self._end is None and not self._transport.send(data):
            self._recorder.note("the target took no more bytes", self.number)
        return event

    def want(self, opaque: int | None, purpose: Purpose = "case") -> PendingResponse:
        """Something to wait for. To be made before the request is sent."""
        wanted = PendingResponse(opaque, purpose, self._garbled)
        if wanted.result is None:
            self._pending.append(wanted)
        return wanted

    def give_up(self, wanted: PendingResponse | None) -> None:
        """A wait for any response that was given up: the next response belongs to another."""
        if wanted is not None and wanted.opaque is None:
            self._pending = [one for one in self._pending if one is not wanted]

    def withdraw(self, wanted: PendingResponse | None) -> None:
        """A wait that was given up: an answer that comes later is unsolicited."""
        self._pending = [one for one in self._pending if one is not wanted]

    def want_next(self, opaque: int | None) -> PendingResponse:
        """Something to wait for that belongs to what was sent before: what has come meanwhile counts."""
        for stray in self._unsolicited:
            if stray.command.is_response and opaque in (None, stray.command.opaque):
                self._unsolicited.remove(stray)
                answer = Replied(
                    connection=self.number,
                    event=stray.event,
                    at=self._clock.now(),
                    unexpected=self.strays,
                    command=stray.command,
                    frame=stray.frame,
                )
                return PendingResponse(opaque, "case", answer)
        return self.want(opaque)

    def next_request(self, at: float, code: int | None = None) -> Replied | None:
        """The first request (of this code) that the target has sent here, once; None where there is none."""
        for stray in self._unsolicited:
            if not stray.command.is_response and code in (None, stray.command.code):
                self._unsolicited.remove(stray)
                return Replied(
                    connection=self.number,
                    event=stray.event,
                    at=at,
                    unexpected=self.strays,
                    command=stray.command,
                    frame=stray.frame,
                )
        return None

    def pump(self, timeout: float) -> bool:
        """Takes what comes within ``timeout`` waiting seconds, and sorts it. False where nothing came."""
        if self._end is not None:
            return False
        try:
            data = self._transport.receive(timeout)
        except TransportTimeout:
            return False
        except PeerReset:
            self._ended("reset")
            return True
        if not data:
            self._ended("fin")
            return True
        self._last_heard = self._clock.now()
        self._is_heard = True
        self.came(data, self._recorder.received(self.number, data))
        return True

    def came(self, data: bytes, event: int) -> None:
        """Sorts what has come."""
        self._last_event = event
        if self._garbled is None and self._inbound.is_next(data):
            self._take(data, event)
            return
        self._unfinished += data
        if self._garbled is None:
            self._inbound.feed(data)
            self._sort(event)

    def notice(self) -> None:
        """Takes what has arrived already."""
        while self.pump(0):
            pass

    def close(self, how: How) -> int | None:
        """Closes our end; returns the number of the event, or None where it has ended before. What has
        arrived by then is taken first, so that nothing seen is lost.
        """
        self.notice()
        if self._end is not None:
            return None
        event = self._recorder.closed_by_us(self.number, how)
        if how == "half":
            self._half_closed = True
        else:
            self._end = _End("us", how, event, self._clock.now())
        self._transport.close(how)
        return event

    def ending(self) -> ClosedBy | None:
        """How it ended, if it has."""
        if self._end is None:
            return None
        return ClosedBy(
            connection=self.number,
            event=self._end.event,
            at=self._end.at,
            unexpected=self.strays,
            leftover=self.leftover,
            how=self._end.how,
            by=self._end.by,
        )

    @property
    def strays(self) -> tuple[UnsolicitedFrame, ...]:
        return tuple(self._unsolicited)

    @property
    def has_begun_frame(self) -> bool:
        """Whether a part of a frame has come, and not all of it."""
        return bool(self._unfinished)

    @property
    def leftover(self) -> bytes:
        return bytes(self._unfinished)

    def _ended(self, how: How) -> None:
        event = self._recorder.closed_by_target(self.number, how)
        self._end = _End("target", how, event, self._clock.now())
        self._transport.close("fin")

    def _sort(self, event: int) -> None:
        try:
            while (frame := self._inbound.next_frame()) is not None:
                del self._unfinished[: len(frame)]
                if self._unfinished and (lengths := cut_body(frame, self._unfinished)):
                    self._garble(frame, WireError(lengths, ()), event)
                    return
                self._take(frame, event)
        except WireError as problem:
            data = bytes(self._unfinished)
            self._unfinished.clear()
            self._garble(data, problem, event)

    def _take(self, frame: bytes, event: int) -> None:
        try:
            command = decode(frame)
        except WireError as problem:
            self._garble(frame, problem, event)
            return
        why = mistyped(frame)
        if why is not None and all(why.wanted != one.why.wanted for one in self.mistyped):
            self.mistyped.append(MistypedFrame(why, frame, event))
        if not command.is_response:
            asked = any(want.opaque == command.opaque for want in self._pending)
            reason = UNFLAGGED if asked else REQUEST
            self._unsolicited.append(UnsolicitedFrame(reason, command, frame, event))
            return
        wanted = self._wanted(command.opaque)
        if wanted is None:
            self._unsolicited.append(UnsolicitedFrame(OTHER_OPAQUE, command, frame, event))
            return
        self._pending.remove(wanted)
        wanted.result = Replied(
            connection=self.number,
            event=event,
            at=self._clock.now(),
            unexpected=self.strays,
            command=command,
            frame=frame,
            mistyped=why,
        )

    def _wanted(self, opaque: int) -> PendingResponse | None:
        exact = next((want for want in self._pending if want.opaque == opaque), None)
        return exact or next((want for want in self._pending if want.opaque is None), None)

    def break_off(self) -> None:
        """A frame has begun, and what is lacking does not come: it is none."""
        data = bytes(self._unfinished)
        announced = int.from_bytes(data[:4], "big", signed=True)
        problem = f"the length word announces {announced} bytes, and {max(0, len(data) - 4)} came behind it"
        self._unfinished.clear()
        self._garble(data, WireError(problem, ()), self._last_event)

    def _garble(self, data: bytes, problem: WireError, event: int) -> None:
        rest = bytes(self._unfinished)
        self._garbled = Garbled(
            connection=self.number,
            event=event,
            at=self._clock.now(),
            unexpected=self.strays,
            data=data,
            diagnostics=dissect(data).diagnostics or problem.diagnostics,
            problem=str(problem),
            lengths=wrong_lengths(data + rest),
        )
        for want in self._pending:
            want.result = self._garbled
        self._pending.clear()


class RawLink(Link):
    """A connection that carries no frames: nothing is sent on it but what a case sends, and what comes waits
    until it is taken.
    """

    def __init__(self, number: int, transport: Transport, recorder: Recorder, clock: Clock) -> None:
        super().__init__(number, transport, recorder, clock)
        self._sends_frames = False
        self._waiting = bytearray()
        self.idle = True

    @property
    def last_event(self) -> int:
        """The number of the event that brought the latest bytes."""
        return self._last_event

    def came(self, data: bytes, event: int) -> None:
        self._last_event = event
        self._waiting += data

    def peek(self, size: int) -> bytes | None:
        """The next bytes, which stay; None: there are fewer."""
        return bytes(self._waiting[:size]) if len(self._waiting) >= size else None

    def take(self, size: int) -> bytes | None:
        """The next bytes; None: there are fewer."""
        data = self.peek(size)
        if data is not None:
            del self._waiting[:size]
        return data
