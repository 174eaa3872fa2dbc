"""What a request to the target can come to, and how it is judged.

- An outcome is a value. It is decided once, when it is judged; nothing a target does makes it an exception.
- The types are the whole alphabet. ``Silent`` means that the target was seen to work and chose not to answer;
  a target that answers nothing at all is ``Stalled``, so that a dead server never satisfies ``Silence()``.
- Numbers called ``event`` are places in the trace (``harness.trace``), counted from 0.

Judging is a small protocol, ``Expectation``, between this room and the vocabulary in
``harness.conformance``::

    answer = exchange >> expectation

    1. exchange asks ``expectation.silence_is_an_answer`` and so knows how long to wait (see ``Expectation``);
    2. it waits, and has an ``Outcome``;
    3. it looks at the outcome through its view (``.queues``, ``.master``, …): the ``value``;
    4. it calls ``expectation.judge(outcome, value, exchange)``, which returns or raises ``Unmet``;
    5. it returns ``Answer(command, value, …)``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

import msgspec

from harness.trace import LINE_BREAK, How
from harness.wire import Command, Diagnostic, Mistyped
from harness.wire.code_names import response_name

if TYPE_CHECKING:
    from harness.session.errors import Unmet
    from harness.session.exchange import Exchange


UNFLAGGED: Final = "the opaque of the request, without the response flag"
OTHER_OPAQUE: Final = "a response with an opaque that nothing was asked with"
REQUEST: Final = "a request, not a response"


class UnsolicitedFrame(msgspec.Struct, frozen=True):
    """A frame that answers nothing that was asked."""

    why: str
    """UNFLAGGED, OTHER_OPAQUE or REQUEST."""
    command: Command
    frame: bytes
    event: int

    def __str__(self) -> str:
        told = f"code {self.command.code}, opaque {self.command.opaque}, flag {self.command.flag}"
        return f"#{self.event} ← {self.why}: {told}"


class _Outcome(msgspec.Struct, frozen=True, kw_only=True):
    connection: int
    """The id of the connection in the trace."""
    event: int | None = None
    """The decisive event: the one that completed the frame, or the close. None where there is none."""
    at: float = 0.0
    """Protocol seconds on the target's clock when it was decided."""
    unexpected: tuple[UnsolicitedFrame, ...] = ()
    """Frames that came meanwhile on this connection and answer nothing."""
    leftover: bytes = b""
    """Bytes of a frame that has begun and not ended."""

    @property
    def mistaken(self) -> UnsolicitedFrame | None:
        """The frame that was most likely meant as the answer, and is none."""
        meant = [stray for stray in self.unexpected if stray.why != REQUEST]
        return meant[-1] if meant else None

    def remarks(self) -> list[str]:
        """Lines for a person: what else was seen on the connection."""
        lines = [str(stray) for stray in self.unexpected]
        if self.leftover:
            lines.append(f"{len(self.leftover)} bytes of an unfinished frame: {_hex(self.leftover)}")
        return lines


class Replied(_Outcome, frozen=True, kw_only=True):
    """The frame that answers the request: for a call the response with its opaque, for raw bytes the next
    frame.
    """

    command: Command
    frame: bytes
    mistyped: Mistyped | None = None
    """What is wrong with the types in its header."""

    @property
    def body_offset(self) -> int:
        """Where the body begins in ``frame``."""
        return len(self.frame) - len(self.command.body)

    def __str__(self) -> str:
        remark = "" if self.command.remark is None else f" remark {_short(self.command.remark)}"
        name = response_name(self.command.code)
        code = f"with code {self.command.code}" if name is None else f"{name} ({self.command.code})"
        return f"reply {code}{remark}"


class Silent(_Outcome, frozen=True, kw_only=True):
    """No answer, although a later probe was answered and the grace was over; the connection is open."""

    waited: float
    """Seconds of waiting (real seconds, or virtual ones)."""

    def __str__(self) -> str:
        return f"no answer within {self.waited:.2f} s, while the target answers other requests"


class Stalled(_Outcome, frozen=True, kw_only=True):
    """No answer, and the probe was not answered either: nothing can be said about the request."""

    waited: float

    def __str__(self) -> str:
        return f"no answer within {self.waited:.2f} s, to the request or to a probe after it"


class ClosedBy(_Outcome, frozen=True, kw_only=True):
    """The connection ended before an answer. ``by`` is ``us`` where the case itself had closed it."""

    how: How
    by: str = "target"

    def __str__(self) -> str:
        who = "the target" if self.by == "target" else "the case"
        return f"{who} closed the connection ({self.how})"


class Garbled(_Outcome, frozen=True, kw_only=True):
    """Bytes came that are no command of this protocol."""

    data: bytes
    """The frame that cannot be decoded, or all that came where there is no frame (HTTP, TLS, a bad length
    word).
    """
    diagnostics: tuple[Diagnostic, ...]
    problem: str
    lengths: str = ""
    """What is wrong with the lengths of the frame; empty where they are right, or it cannot be told."""

    def __str__(self) -> str:
        shown = _short(self.data)
        if self.lengths:
            said = f"a frame of wrong lengths, {self.lengths}: {len(self.data)} bytes {shown}"
        else:
            said = f"{len(self.data)} bytes that are no RocketMQ command: {shown} ({self.problem})"
        return f"{said}; specs/rendered/frame.md has the layout"


Outcome = Replied | Silent | Stalled | ClosedBy | Garbled


UNANSWERED = ("closed", "silent", "stalled", "garbled")
"""The kinds of outcomes that are no frame of this protocol."""


def kind_of(outcome: Outcome) -> str:
    """What kind of outcome it is, the same for every request that it could befall: ``code 1``, ``closed``."""
    match outcome:
        case Replied():
            return f"code {outcome.command.code}"
        case ClosedBy():
            return "closed"
        case Silent():
            return "silent"
        case Stalled():
            return "stalled"
        case Garbled():
            return "garbled"


Misfit = Literal["absent", "of another type"]


class Unreadable(msgspec.Struct, frozen=True):
    """The value of a view whose reply cannot be read that way. It equals no plain value."""

    problem: str
    start: int
    """Range of the offending bytes in the body."""
    end: int
    place: tuple[str | int, ...] = ()
    """Where a member is absent or of another type, if that is the problem."""
    change: Misfit = "absent"

    def __str__(self) -> str:
        return f"unreadable: {self.problem} (body bytes {self.start}–{self.end})"


class Decisive(msgspec.Struct, frozen=True):
    """The bytes that decided a judgement, for reports."""

    event: int
    connection: int
    what: str
    """What the exchange was about, such as ``cluster information``."""
    part: str
    """``body``, ``frame`` or ``connection``: what the range counts in."""
    start: int
    end: int
    excerpt: bytes

    def __str__(self) -> str:
        if self.part == "connection":
            return f"event #{self.event} on connection {self.connection}"
        return (
            f"#{self.event} ← {self.what}, {self.part} bytes {self.start}–{self.end}: {_short(self.excerpt)}"
        )


class Mark(msgspec.Struct, frozen=True):
    """A moment on the target's clock, known to lie between two readings (protocol seconds)."""

    earliest: float
    latest: float


class Answer(msgspec.Struct, frozen=True):
    """What a met expectation leaves: the reply and the value of the view."""

    command: Command | None
    """None where the outcome is no reply."""
    value: Any
    outcome: Outcome
    mark: Mark
    """When the target acted on the request: between sending it and having the answer."""


class Expectation(Protocol):
    """What a case can put behind ``>>``.

    ``silence_is_an_answer``: True where no reply can be what is expected (``Silence()``, or an ``AnyOf`` that
    has it). The exchange then does not sit through its answer deadline: it sends a probe at once, and silence
    is decided by the probe's answer plus a grace. Where it is False an answer is awaited until the deadline.

    ``judge(outcome, value, exchange)`` returns None where it is met, and how the outcome differs from what
    Apache does where that is tolerated (the session keeps it in ``tolerated``); it raises ``Unmet`` otherwise
    and nothing else. It may be called several times for one exchange (several views,
    ``eventually()``). ``value`` is what the exchange's view sees: None where the outcome is no reply or the
    reply has no such part, ``Unreadable`` where the body cannot be parsed.
    """

    @property
    def silence_is_an_answer(self) -> bool: ...

    def judge(self, outcome: Outcome, value: object, exchange: Exchange) -> Unmet | None: ...


_BINARY: Final = re.compile(rb"[\x00-\x08\x0e-\x1f]")
"""Bytes that no text has."""


def _hex(data: bytes) -> str:
    return data[:32].hex(" ") + (" …" if len(data) > 32 else "")


def _short(data: bytes | str) -> str:
    if isinstance(data, bytes) and _BINARY.search(data):
        return _hex(data)
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    text = (text if len(text) <= 160 else text[:160] + "…").replace("\n", LINE_BREAK)
    return text if text.isprintable() else repr(text)
