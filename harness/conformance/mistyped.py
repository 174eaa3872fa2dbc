"""Headers that only a lenient decoder can read: a number as text, an ext field that is no text.

Apache's clients read them; clients in C++, Go and Rust that decode into a structure do not.
"""

from __future__ import annotations

from typing import Final

from harness.conformance.frame_fault import FrameFault
from harness.report.results import Change, Wrong
from harness.report.text import in_words
from harness.session import Session
from harness.session.link import MistypedFrame
from harness.spec.headers import HEADER_STATEMENTS, seen_header, wanted_header
from harness.trace import Sent
from harness.wire import FrameBuffer, Mistyped, WireError, decode, dissect

_EXT: Final = "extFields."


def mistyped_header(session: Session) -> FrameFault | None:
    """The first such header that the connections of the session saw."""
    for connection, one in session.mistyped:
        return _fault(one, _request(session, connection, one))
    return None


def _fault(one: MistypedFrame, request: bytes) -> FrameFault:
    why = one.why
    change: Change = "absent"
    if why.shown:
        change = "not a JSON integer" if why.wanted == "JSON integer" else "not a JSON string"
    return FrameFault(
        statement=HEADER_STATEMENTS[why.wanted],
        expected=wanted_header(why),
        actual=seen_header(why),
        event=one.event,
        frame=one.frame,
        start=why.start,
        end=why.end,
        request=request,
        wrong=Wrong(kind="member", place=_place(why), change=change),
    )


def _place(why: Mistyped) -> str:
    """The members of the header itself, which are wrong in every answer, before those of some."""
    names = [name for name in why.members if not name.startswith(_EXT)]
    return in_words(names) if names else "values of extFields"


def _request(session: Session, connection: int, one: MistypedFrame) -> bytes:
    """The latest frame with the opaque of an answer; empty if there is none, or it is a request itself."""
    answer = decode(one.frame)
    found, buffer = b"", FrameBuffer()
    for event in session.trace.events[: one.event]:
        if not (answer.is_response and isinstance(event, Sent) and event.connection == connection):
            continue
        buffer.feed(event.data)
        try:
            while (frame := buffer.next_frame()) is not None:
                command = dissect(frame).command
                if command is not None and command.opaque == answer.opaque:
                    found = frame
        except WireError:
            break
    return found
