"""Responses that answer nothing: a second one, one to a one-way request, one with an opaque of its own.

A response that comes after the case has given it up is late, and none of these. Where a case has sent bytes
that are no plain frames, the requests in them cannot be counted, so its connection is not judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from harness.conformance.frame_fault import FrameFault
from harness.report.results import UNASKED, Wrong
from harness.session import Session
from harness.session.outcome import OTHER_OPAQUE, UnsolicitedFrame
from harness.trace import Event, Received, Sent
from harness.wire import Command, FrameBuffer, WireError, dissect

STATEMENT: Final = "wire.framing.one-answer-for-each-request"
"""The statement that such a response breaks, whatever the case is about."""


def unasked_response(session: Session) -> FrameFault | None:
    """The first such response that the connections of the session saw."""
    counts: dict[int, _Counted] = {}
    for connection, stray in session.strays:
        if stray.why != OTHER_OPAQUE:
            continue
        counted = counts.get(connection)
        if counted is None:
            counted = counts[connection] = _Counted(connection, session.trace.events)
        if found := counted.judged(stray):
            return found
    return None


class _Counted:
    """What went over a connection up to an event, by opaque. Goes forward only: each frame is read once."""

    def __init__(self, connection: int, events: tuple[Event, ...]) -> None:
        self._connection = connection
        self._events = events
        self._next = 0
        self._sent, self._received = FrameBuffer(), FrameBuffer()
        self._wanted: Counter[int] = Counter()
        """Requests that an answer may follow."""
        self._answers: Counter[int] = Counter()
        self._last: dict[int, bytes] = {}
        """The last frame that was sent with an opaque."""
        self._is_plain = True

    def judged(self, stray: UnsolicitedFrame) -> FrameFault | None:
        """What is wrong with a response that no request waits for; None if it is late or cannot be judged."""
        try:
            self._read(stray.event)
        except WireError:
            self._is_plain = False
        opaque = stray.command.opaque
        if not self._is_plain or self._answers[opaque] <= self._wanted[opaque]:
            return None
        return _fault(stray, self._last.get(opaque, b""))

    def _read(self, until: int) -> None:
        """Raises WireError where a frame is not plain."""
        while self._is_plain and self._next <= until:
            event = self._events[self._next]
            self._next += 1
            if isinstance(event, Sent) and event.connection == self._connection:
                for frame, command in _commands(self._sent, event.data, odd=False):
                    self._last[command.opaque] = frame
                    self._wanted[command.opaque] += not (command.is_response or command.is_oneway)
            elif isinstance(event, Received) and event.connection == self._connection:
                for _, command in _commands(self._received, event.data, odd=True):
                    self._answers[command.opaque] += command.is_response


def _fault(stray: UnsolicitedFrame, request: bytes) -> FrameFault:
    """`request`: the frame that had its answer, or wanted none; empty where no request had the opaque."""
    told = f"#{stray.event} ← code {stray.command.code}, opaque {stray.command.opaque}"
    asked = dissect(request).command
    if not request:
        actual = f"a response to no request: {told}"
    elif asked is not None and asked.is_oneway:
        actual = f"a response to a one-way request: {told}"
    else:
        actual = f"one response more than there were requests with its opaque: {told}"
    return FrameFault(
        statement=STATEMENT,
        expected="no response but the one to each request",
        actual=actual,
        event=stray.event,
        frame=stray.frame,
        request=request,
        wrong=Wrong(kind="member", place=UNASKED, change="repeated" if request else "added"),
    )


def _commands(stream: FrameBuffer, data: bytes, *, odd: bool) -> Iterator[tuple[bytes, Command]]:
    """The frames that these bytes complete. Raises WireError for one that Apache would not read; without
    `odd`, also for one that no Java peer would have written.
    """
    stream.feed(data)
    while (frame := stream.next_frame()) is not None:
        dissection = dissect(frame)
        if dissection.command is None or (not odd and dissection.diagnostics):
            raise WireError("no plain frame", dissection.diagnostics)
        yield frame, dissection.command
