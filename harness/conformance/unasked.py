"""Responses that answer nothing: a second one, one to a one-way request, one with an opaque of its own.

A response that comes after the case has given it up is late, and none of these. Where a case has sent bytes
that are no plain frames, the requests in them cannot be counted, so its connection is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from harness.conformance.evidence import Symptom
from harness.report.results import UNASKED, Change, Wrong
from harness.session import Session
from harness.session.outcome import OTHER_OPAQUE, UnsolicitedFrame
from harness.trace import Event, Received, Sent
from harness.wire import Command, FrameBuffer, WireError, dissect

EVIDENCE: Final = Symptom(None, UNASKED)
"""It is about no request code: whatever is asked may be answered twice."""
STATEMENT: Final = "wire.framing.one-answer-for-each-request"
"""The statement that such a response breaks, whatever the case is about."""


class Unasked(msgspec.Struct, frozen=True):
    """A response that answers nothing."""

    connection: int
    stray: UnsolicitedFrame
    request: bytes
    """The frame that had its answer, or wanted none; empty where no request had the opaque."""

    @property
    def wrong(self) -> Wrong:
        change: Change = "repeated" if self.request else "added"
        return Wrong(kind="member", place=UNASKED, change=change)

    @property
    def actual(self) -> str:
        told = f"#{self.stray.event} ← code {self.stray.command.code}, opaque {self.stray.command.opaque}"
        if not self.request:
            return f"a response to no request: {told}"
        asked = dissect(self.request).command
        if asked is not None and asked.is_oneway:
            return f"a response to a one-way request: {told}"
        return f"one response more than there were requests with its opaque: {told}"


def unasked_response(session: Session) -> Unasked | None:
    """The first such response that the connections of the session saw."""
    for connection, stray in session.strays:
        if stray.why == OTHER_OPAQUE and (found := _judged(session.trace.events, connection, stray)):
            return found
    return None


def _judged(events: tuple[Event, ...], connection: int, stray: UnsolicitedFrame) -> Unasked | None:
    """What is wrong with a response for which no request waits; None if it is late or cannot be judged."""
    opaque, until = stray.command.opaque, stray.event
    try:
        requests = [
            (frame, command)
            for frame, command in _commands(events, connection, Sent, until)
            if command.opaque == opaque
        ]
        answers = sum(
            command.opaque == opaque and command.is_response
            for _, command in _commands(events, connection, Received, until)
        )
    except WireError:
        return None
    if answers <= sum(not (command.is_response or command.is_oneway) for _, command in requests):
        return None
    return Unasked(connection, stray, requests[-1][0] if requests else b"")


def _commands(
    events: tuple[Event, ...], connection: int, kind: type[Sent] | type[Received], until: int
) -> Iterator[tuple[bytes, Command]]:
    """The frames that went one way, up to an event. Raises WireError where one is not plain."""
    stream = FrameBuffer()
    for event in events[: until + 1]:
        if isinstance(event, kind) and event.connection == connection:
            stream.feed(event.data)
            while (frame := stream.next_frame()) is not None:
                dissection = dissect(frame)
                if dissection.command is None or (kind is Sent and dissection.diagnostics):
                    raise WireError("no plain frame", dissection.diagnostics)
                yield frame, dissection.command
