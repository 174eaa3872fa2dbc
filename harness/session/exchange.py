"""A request to the target and its judgement.

- Sending is eager, receiving happens at judgement: ``exchange >> expectation``.
- A request has one outcome however often it is judged, unless ``eventually()`` asks it again.
- An exchange is a request seen through a view. Views of one request share its outcome.
- A request that is never judged is an error of the case, which the session reports.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import TYPE_CHECKING, Any, Self

import msgspec

from harness.session.errors import Misuse, Unmet
from harness.session.link import Link, PendingResponse
from harness.session.outcome import (
    UNFLAGGED,
    Answer,
    Decisive,
    Expectation,
    Garbled,
    Mark,
    Misfit,
    Outcome,
    Replied,
    Unreadable,
    UnsolicitedFrame,
    kind_of,
)
from harness.wire import Command, FrameBuffer, ResponseCode, WireError, decode, dissect, fastjson

if TYPE_CHECKING:
    from harness.session.session import Session


Path = tuple[str | int, ...]
"""Member names and positions that lead to a part of a JSON body."""


_EXCUSES = 20
"""How often a request is asked again because its reply is excused."""


class NotSo(Exception):  # noqa: N818  (control flow between a view and its exchange)
    """Raised by a view's reader: the reply is not made as the view needs it. ``path`` leads to the
    culprit, ``place`` to the member of the body that is absent or of another type, if it is that.
    """

    def __init__(self, problem: str, path: Path = (), place: Path = (), change: Misfit = "absent") -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = path
        self.place = place
        self.change = change


class View(msgspec.Struct, frozen=True):
    """A part of a reply. ``read`` gives its value or raises ``NotSo``; ``path`` tells where in the body it
    is.
    """

    name: str
    read: Callable[[Command], Any]
    path: Path | None = None
    columns: tuple[str, ...] = ()
    """What the values in a tuple are called on the wire; of a view without a path: its ext fields."""
    said: str = ""
    """What reports call the value, where path and columns do not say it all."""


BODY = View("body", lambda reply: reply.body, ())


class SentRequest(msgspec.Struct):
    """What went out for one request, and what is waited for."""

    link: Link | None
    """None where nothing was sent, because it is the target that speaks first."""
    want: PendingResponse | None
    """None where the close of the connection is awaited."""
    request: Command | None
    sent: bytes
    event: int | None
    sent_at: float


class Request:
    """Something asked once, or again and again; ``ask`` sends it."""

    def __init__(
        self, session: Session, subject: str, ask: Callable[[], SentRequest], *, repeatable: bool = True
    ) -> None:
        self.is_ordinary = False
        """Whether it is as Apache's clients and Brokers send it; the code that makes it sets this."""
        self.session = session
        self.subject = subject
        self.repeatable = repeatable
        self.judged = False
        self.excuses: Callable[[Command], bool] | None = None
        """Which replies are the target's way of saying "ask again"; None: no reply is."""
        self._ask = ask
        self.asked = ask()
        self.first_asked = self.asked.sent_at
        session.register(self)
        self._outcome: Outcome | None = None

    def again(self) -> None:
        """Sends it once more and forgets what came of it before."""
        self.asked = self._ask()
        self._outcome = None

    @property
    def decided(self) -> Outcome | None:
        """What became of it, or None where that was not waited for."""
        return self._outcome

    def outcome(self, *, silence_is_an_answer: bool = False) -> Outcome:
        """What became of it; waits the first time. After a reply that is excused it is asked again."""
        if self._outcome is None:
            self._outcome = self.session.decide(self.asked, self.subject, silence_is_an_answer)
            for _ in range(_EXCUSES):
                if self.excuses is None or not isinstance(self._outcome, Replied):
                    break
                if not self.excuses(self._outcome.command):
                    break
                self.session.pause(self.session.clock.timing.pause)
                self.again()
                self._outcome = self.session.decide(self.asked, self.subject, silence_is_an_answer)
        return self._outcome


class Exchange:
    """A request seen through a view. ``exchange >> expectation`` judges it and gives an ``Answer``."""

    def __init__(self, request: Request, view: View = BODY, *, patient: bool = False) -> None:
        self._request = request
        self._view = view
        self._patient = patient

    def seen_as(self, view: View) -> Self:
        """The same request through another view."""
        return type(self)(self._request, view, patient=self._patient)

    @property
    def body(self) -> Self:
        """View: the body's bytes. This is what an exchange shows where no other view is chosen."""
        return self.seen_as(BODY)

    def eventually(self) -> Self:
        """Asks again until the expectation is met or the patience (2 s) is over; the last failure counts.

        The patience ends earlier where the case has named a term (``while_lasts``).
        """
        if not self._request.repeatable:
            raise Misuse(
                f"{self.subject}: eventually() repeats a request, and this one can be asked only once"
            )
        return type(self)(self._request, self._view, patient=True)

    def __rshift__(self, expectation: Expectation) -> Answer:
        """Waits for the outcome and judges it. Raises ``Unmet``, or ``Blocked`` where nothing could be
        measured.
        """
        session = self._request.session
        session.checked(f"judging {self.subject}")
        self._request.judged = True
        try:
            return self._judge_patiently(expectation) if self._patient else self._judge(expectation)
        except Unmet as unmet:
            session.refuse_if_expired(unmet, self._request.first_asked)
            raise

    def _judge_patiently(self, expectation: Expectation) -> Answer:
        session = self._request.session
        clock = session.clock
        end = clock.waiting() + clock.timing.patience
        pause = clock.timing.pause
        while True:
            try:
                answer = self._judge(expectation)
            except Unmet:
                impatient = clock.waiting() >= end or not session.term.looks_again(session.clock.now())
                link = self._request.asked.link
                if impatient or link is None or not link.takes_frames:
                    raise
            else:
                session.refuse_if_overdue(self.subject)
                return answer
            session.pause(pause)
            pause = min(pause * 1.5, 0.1)
            self._request.again()

    def outcome(self, *, silence_is_an_answer: bool = False) -> Outcome:
        """What became of the request, for code that is no case. Counts as judging it."""
        self._request.judged = True
        return self._request.outcome(silence_is_an_answer=silence_is_an_answer)

    def look(self, outcome: Outcome) -> Any:
        """What the view sees: None where there is no reply, ``Unreadable`` where it cannot be read."""
        if not isinstance(outcome, Replied):
            return None
        try:
            return self._view.read(outcome.command)
        except NotSo as problem:
            start, end = _range(outcome.command.body, problem.path)
            return Unreadable(problem.problem, start, end, problem.place, problem.change)
        except fastjson.ParseError as problem:
            return Unreadable(
                str(problem), problem.offset, min(problem.offset + 1, len(outcome.command.body))
            )
        except (LookupError, TypeError, ValueError, AttributeError) as problem:
            # A body that has other members, or others' types, than the view takes for granted.
            what = f"no {problem}" if isinstance(problem, LookupError) else f"of another form: {problem}"
            return Unreadable(what, 0, len(outcome.command.body))

    def decisive(self, outcome: Outcome, path: Sequence[str | int] = ()) -> Decisive | None:
        """The bytes to show for this outcome: the part of the body that the view, and ``path`` below it, lead
        to.
        """
        if outcome.mistaken is not None and not isinstance(outcome, Replied | Garbled):
            return self._mistaken(outcome.mistaken, outcome.connection)
        if outcome.event is None:
            return None
        if isinstance(outcome, Replied):
            part, data, start, end = "frame", outcome.frame, 0, len(outcome.frame)
            if outcome.command.body and self._view.path is not None:
                part, data = "body", outcome.command.body
                start, end = self.locate(outcome, path)
        elif isinstance(outcome, Garbled):
            part, data, start, end = "frame", outcome.data, 0, len(outcome.data)
        else:
            part, data, start, end = "connection", b"", 0, 0
        return Decisive(
            outcome.event, outcome.connection, self.subject, part, start, end, data[start:end][:400]
        )

    def _mistaken(self, stray: UnsolicitedFrame, connection: int) -> Decisive | None:
        """The field by which a frame is not the answer: its opaque or its flag."""
        name = "flag" if stray.why == UNFLAGGED else "opaque"
        field = next((one for one in dissect(stray.frame).fields if one.name == name), None)
        start, end = (0, len(stray.frame)) if field is None else (field.start, field.end)
        return Decisive(
            stray.event, connection, self.subject, "frame", start, end, stray.frame[start:end][:400]
        )

    def locate(self, outcome: Replied, path: Sequence[str | int] = ()) -> tuple[int, int]:
        """Byte range in the body of what the view looks at, or of what ``path`` leads to below that."""
        base = self._view.path or ()
        for length in range(len(path), -1, -1):
            found = _find(outcome.command.body, (*base, *path[:length]))
            if found is not None:
                return found
        return _range(outcome.command.body, base)

    @property
    def subject(self) -> str:
        """What was asked, in words: ``route of T-k3f9a1``."""
        return self._request.subject

    @property
    def shows(self) -> View:
        """The view through which the reply is seen."""
        return self._view

    @property
    def origin(self) -> Request:
        """The request that it sees; exchanges that are views of one request share it."""
        return self._request

    @property
    def request(self) -> Command | None:
        """The command that was sent; None for raw bytes and for ``closes()``."""
        return self._request.asked.request

    def kind(self, outcome: Outcome, value: object) -> str:
        """What kind of answer it is, the same for every case that gets one alike: how it is no success, or
        that there is next to nothing in it. Empty for any other.
        """
        if not isinstance(outcome, Replied) or outcome.command.code != ResponseCode.SUCCESS:
            return kind_of(outcome)
        if value is None and not outcome.command.body:
            return "no body"
        empty = value is None or isinstance(value, bool) or (isinstance(value, Sized) and not len(value))
        return f"{self.general_view} is {value}" if empty or value == 0 else ""

    @property
    def general_view(self) -> str:
        """The name of the view, with a star for each name that the session has made."""
        is_ours = self.session.is_ours
        return " ".join("*" if is_ours(word) else word for word in self._view.name.split(" "))

    @property
    def code(self) -> int | None:
        """The code of the request, also of one that was sent as raw bytes; None where there is none to be
        read.
        """
        if self.request is not None:
            return self.request.code
        buffer = FrameBuffer()
        buffer.feed(self.sent)
        try:
            frame = buffer.next_frame()
            return None if frame is None else decode(frame).code
        except WireError:
            return None

    @property
    def is_ordinary(self) -> bool:
        """Whether the request is as Apache's clients and Brokers send it, as far as it is known."""
        return self._request.is_ordinary

    @property
    def sent(self) -> bytes:
        """The bytes that were sent, last time."""
        return self._request.asked.sent

    @property
    def sent_event(self) -> int | None:
        """Number of the event of sending in the trace."""
        return self._request.asked.event

    @property
    def connection(self) -> int:
        """Id of the connection in the trace; 0 where the target speaks first."""
        link = self._request.asked.link
        return 0 if link is None else link.number

    @property
    def is_sent_together(self) -> bool:
        """Whether frames, or parts of them, were sent on its connection before others were answered."""
        link = self._request.asked.link
        return link is not None and link.sends_together

    @property
    def awaits_answer(self) -> bool:
        """Whether a response ends it: no close is awaited, and the target does not speak first."""
        return self._request.asked.want is not None

    @property
    def session(self) -> Session:
        return self._request.session

    def _judge(self, expectation: Expectation) -> Answer:
        outcome = self._request.outcome(silence_is_an_answer=expectation.silence_is_an_answer)
        value = self.look(outcome)
        session = self._request.session
        try:
            tolerated = expectation.judge(outcome, value, self)
        except Unmet as unmet:
            unmet.until = len(session.trace.events)
            session.refuse_if_late(unmet, self._request.asked.link)
            raise
        if tolerated is not None:
            tolerated.until = len(session.trace.events)
            session.tolerated.append(tolerated)
        session.met.append((self.code, self.kind(outcome, value)))
        command = outcome.command if isinstance(outcome, Replied) else None
        return Answer(command, value, outcome, Mark(self._request.asked.sent_at, outcome.at))


def _range(body: bytes, path: Path) -> tuple[int, int]:
    """Where ``path`` leads, or the nearest thing above it that exists."""
    for length in range(len(path), 0, -1):
        found = _find(body, path[:length])
        if found is not None:
            return found
    return 0, len(body)


def _find(body: bytes, path: Path) -> tuple[int, int] | None:
    if not path:
        return 0, len(body)
    try:
        return fastjson.locate(body, path)
    except fastjson.ParseError:
        return None
