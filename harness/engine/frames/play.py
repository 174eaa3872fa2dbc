"""Carries programs of damaged frames out, judges each reaction, and looks after those who had no part in it.

- Everything goes over one session, so that it is in one trace. Names are new in every attempt.
- What is sent on a connection is cut into frames as a server must (`reading.Stream`); each frame is judged by
  what it was allowed to do. A connection on which no frame could follow is closed, and opened anew when it is
  used again.
- In every attempt a neighbour registers a broker on a connection of its own. At the end its connection must
  answer, its route be what it was, and a new connection be served.
- Where this machine was too slow for the clock nothing counts: the attempt ended late.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from harness.catalogue import profile_named
from harness.engine.executor import observed_outcome
from harness.engine.frames.answers import Allowed, Happened, Table, allowed, wrong_with
from harness.engine.frames.neighbour import ALONE, Harm, Neighbour
from harness.engine.frames.reading import Stream
from harness.engine.kind import SeededNames
from harness.findings.experiment import Attempt, Ended
from harness.program.broker.steps import BesideRequests, BrokerRequest
from harness.program.damaging import segment_of
from harness.program.names import Names
from harness.program.nameserver.controller_steps import ControllerRequest
from harness.program.nameserver.steps import Damaged, Register
from harness.program.step import Close, Reconnect, Restart, Time
from harness.program.steps import AnyStep
from harness.session import (
    CaseTimeout,
    ClosedBy,
    Connection,
    Garbled,
    Instance,
    NameServerSession,
    Outcome,
    Replied,
    Silent,
    Stalled,
    TargetDied,
    TooLate,
)
from harness.session.exchange import SentRequest
from harness.spec import Observation, Violation
from harness.spec.headers import mistyped_answers
from harness.spec.observation import DEATH, FROZEN
from harness.targets.memory import resident
from harness.trace import Trace
from harness.wire import Command, RequestCode

_IDLE_TERM: Final = 110.0
_PATIENCE: Final = 4
"""How often a target that answers nothing is asked again."""

_MEMORY: Final = "wire.security.announced-bytes-are-not-set-aside"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a target may need."""

    memory: int = 1024 * 1024 * 1024
    """Resident bytes, where it is a process of ours."""
    seconds: float = 10.0
    """Real seconds between two things that happen, where the target is in this process."""


class Reaction(msgspec.Struct, frozen=True):
    """What came of one frame, as the corpus keeps it."""

    number: int
    """The step."""
    happened: Happened
    code: int | None
    """Of the answer."""
    why: str
    """What the frame was."""
    silent: bool
    """The catalogue says nothing about it."""


class _Line(msgspec.Struct):
    """A connection in use."""

    connection: Connection
    stream: Stream
    strays: int = 0
    """How many have been judged."""
    excused: bool = False
    """Something was not answered here that may be answered yet."""
    leased: bool = False
    """A lease may have been registered here that is so short that the connection ends with it (5.x)."""


class Setting(Protocol):
    """The experiment that an attempt belongs to."""

    seeded: SeededNames

    @property
    def profile(self) -> str: ...

    @property
    def limits(self) -> Limits: ...

    def session(self, instance: Instance, names: Names) -> NameServerSession:
        """A session for one attempt."""
        ...

    def counts(self, statement: str) -> bool:
        """Whether breaking a statement is a violation."""
        ...


class FrameAttempt:
    """One performance of a program on an instance."""

    def __init__(self, instance: Instance, experiment: Setting, names: Names) -> None:
        self.reactions: list[Reaction] = []
        self.is_frozen = False
        """Whether the server answers nothing any more."""
        self._instance = instance
        self._experiment = experiment
        self._names = names
        self._session = experiment.session(instance, names)
        self._profile = experiment.profile
        self._announces = profile_named(experiment.profile).announces
        self._lines: dict[str, _Line] = {}
        self._table = Table()
        self._violations: list[Violation] = []
        self._number = 0
        self._neighbour: Neighbour | None = None
        self._late = False
        self._observed: list[Observation] = []
        self._judged: dict[int, set[str]] = {}
        self._refused: set[str] = set()
        self._listed: set[str] = set()
        self._anybody = False
        """Whether an unknown broker may have registered."""

    def play(self, program: Sequence[AnyStep]) -> Attempt:
        ended: Ended = "whole"
        stepped = 0
        try:
            self._settle_in()
            for self._number, step in enumerate(program):
                if self._violations:
                    break
                stepped += 1
                self._step(step)
            if not self._violations:
                self._look_around()
            if not self._violations:  # such a server shows it in every program, which shows more before that
                self._violations += mistyped_answers(self._observed)
        except TargetDied as problem:
            ended = self._died(str(problem))
        except (TooLate, CaseTimeout):
            ended = "late"
        finally:
            self._session.close()
        if ended != "died":
            ended = self._looked_after(ended)
        self._measure()
        if self._late and ended == "whole":
            ended = "late"
        return Attempt(
            violations=() if ended == "late" else tuple(self._violations),
            trace=self._trace(),
            ended=ended,
            stepped=stepped,
            observed=tuple(self._observed),
            judged={number: frozenset(found) for number, found in self._judged.items()},
        )

    def _died(self, last_words: str) -> Ended:
        """The server is gone: whatever else was seen came of that."""
        self._violations.clear()
        self._add(DEATH, ALONE, "a server that takes connections", last_words)
        return "died"

    def _looked_after(self, ended: Ended) -> Ended:
        """How a program has ended whose server may have died or frozen of it without a word."""
        if self._session.death:
            return self._died(self._session.death)
        if not self._violations and ended != "late":
            return ended
        try:
            if not self._instance.alive():
                self._instance.open().close("fin")
        except TargetDied as problem:
            return self._died(str(problem))
        if ended != "late" or self._is_answered():
            return ended
        self._frozen()
        return "whole"

    def _is_answered(self) -> bool:
        """Whether a new session is answered, where this one was not in time."""
        session = self._experiment.session(self._instance, self._experiment.seeded.next())
        try:
            return any(session.is_answered() for _ in range(_PATIENCE))
        except (TargetDied, TooLate, CaseTimeout):
            return False
        finally:
            session.close()

    def _frozen(self) -> None:
        """None of its connections answers: whatever else was seen came of that."""
        self._violations.clear()
        self._add(FROZEN, ALONE, "a server that answers others", "none of its connections answers")
        self.is_frozen = True

    def _trace(self) -> Trace:
        trace = self._session.trace
        head = msgspec.structs.replace(trace.header, nonce=self._names.nonce, names=dict(self._names.made))
        return Trace(head, trace.events)

    # --- steps ----------------------------------------------------------------------------------------------

    def _step(self, step: AnyStep) -> None:
        if isinstance(step, Reconnect | Restart | BrokerRequest | ControllerRequest | BesideRequests):
            raise ValueError(f"{type(step).__name__} is no part of a program of damaged frames")
        match step:
            case Damaged():
                self._damaged(step)
            case Time():
                self._session.advance(step.seconds)
            case Close():
                line = self._lines.pop(step.conn, None)
                if line is not None:
                    line.connection.link.close(step.how)
            case _:
                self._damaged(Damaged(conn=step.conn, base=step))

    def _damaged(self, step: Damaged) -> None:
        if self._neighbour is not None:
            self._neighbour.refresh()
        line = self._line(step.conn)
        opaques = iter(self._session.next_opaque, -1)
        data = segment_of(step, self._names, opaques, self._announces)
        if not data:
            return
        due = [allowed(reading, self._profile, self._table) for reading in line.stream.feed(data)]
        self._judge(line, step, due, self._send(line, step, data, due))
        if not line.stream.whole or not line.connection.is_open or any(one.closes for one in due):
            line.connection.link.close("fin")
            self._lines.pop(step.conn, None)

    def _line(self, symbol: str) -> _Line:
        line = self._lines.get(symbol)
        if line is not None:
            line.connection.link.notice()
            if not line.connection.is_open:
                self._closed_by_itself(line)
                line = None
        if line is None:
            line = self._lines[symbol] = _Line(self._session.connect(), Stream(self._profile))
        return line

    def _closed_by_itself(self, line: _Line) -> None:
        link = line.connection.link
        if line.leased:
            return
        if self._is_virtual or link.quiet_until(self._session.now()) < _IDLE_TERM:
            expected = "a connection that stays open"
            self._add(
                "ends without reason", "ns.errors.failure-keeps-the-connection", expected, "it was closed"
            )

    @property
    def _is_virtual(self) -> bool:
        return self._session.clock.kind == "virtual"

    def _send(self, line: _Line, step: Damaged, data: bytes, due: list[Allowed]) -> list[SentRequest]:
        """Sends all of it; what is to be waited for, frame by frame."""
        link = line.connection.link
        link.idle = False
        sent_at = self._session.now()
        wants = []
        for one in due:
            opaque = one.opaque if one.command is None else one.command.opaque
            if opaque is not None:
                self._session.spend(opaque)  # a damage may have made it that of the next probe
            wants.append(link.want(opaque) if one.answers or one.silent else None)
        at, first = 0, None
        for stop in sorted(
            {cut if cut >= 0 else len(data) + cut for cut in step.cuts} & set(range(1, len(data)))
        ):
            event = link.send(data[at:stop])
            at, first = stop, event if first is None else first
        event = link.send(data[at:])
        first = event if first is None else first
        return [SentRequest(link, want, None, data, first, sent_at) for want in wants]

    # --- judging --------------------------------------------------------------------------------------------

    def _judge(self, line: _Line, step: Damaged, due: list[Allowed], asked: list[SentRequest]) -> None:
        link = line.connection.link
        line.leased = line.leased or any(_is_short_lease(one, step) for one in due)
        for at, (one, question) in enumerate(zip(due, asked, strict=True)):
            may_close = line.leased or any(other.closes for other in due[at:])
            may_be_silent = one.silent or (one.closes and one.answers)
            seen = self._session.decide(question, one.why or "frame", silence_is_an_answer=may_be_silent)
            happened, answer = _what(seen)
            self._remember(one, happened, answer)
            self._observe(step, question, seen)
            if isinstance(seen, Stalled) and not self._answers_at_last():
                self._frozen()
                return
            if isinstance(seen, ClosedBy) and self._was_quiet(line):
                self._late = True
                return
            self._compare(one, happened, answer, seen, may_close=may_close, judged=line.strays)
            if one.statement:
                self._judged.setdefault(self._number, set()).add(one.statement)
            self._note_registration(one, answer)
            self._table.take(one, happened, answer, at_once=self._is_virtual)
            if happened in ("closed", "garbled"):
                break
            link.withdraw(question.want)
            line.excused = line.excused or (happened == "silent" and one.silent and one.answers)
        if len(due) > 1 and any(one.command is not None and one.command.code in (100, 102) for one in due):
            self._table.forget()  # what is sent together may be carried out in any order
        strays = link.strays[line.strays :]
        line.strays += len(strays)
        if self._violations or line.excused:
            return
        if strays and all(one.command is not None or (one.closes and not one.answers) for one in due):
            stray = strays[0].command
            statement = "opaque-is-echoed" if stray.is_response else "response-flag-is-one"
            expected = "answers to what was asked"
            self._add(
                "echo", f"wire.framing.{statement}", expected, f"code {stray.code}, opaque {stray.opaque}"
            )

    def _compare(
        self,
        one: Allowed,
        happened: Happened,
        answer: Command | None,
        seen: Outcome,
        *,
        may_close: bool,
        judged: int,
    ) -> None:
        match happened:
            case "answered":
                assert answer is not None
                assert isinstance(seen, Replied)
                for statement, expected, actual in wrong_with(answer, seen.frame, one, self._profile):
                    self._add("answer", statement or ALONE, expected, actual, one.why)
            case "closed" if not may_close:
                expected = "an answer" if one.answers else "no reaction"
                self._add(
                    "stays open", one.statement or ALONE, expected, "the connection was closed", one.why
                )
            case "silent" if not one.silent and not (one.closes and one.answers):
                if one.answers and any(stray.command.is_response for stray in seen.unexpected[judged:]):
                    return  # it was answered with another opaque
                expected = "the connection closed" if one.closes else "an answer"
                self._add("reaction", one.statement or ALONE, expected, "nothing", one.why)
            case "garbled" if not one.foreign:
                statement = "wire.framing.response-lengths-agree"
                self._add("answer", statement, "a command", str(seen), one.why)

    def _remember(self, one: Allowed, happened: Happened, answer: Command | None) -> None:
        code = None if answer is None else answer.code
        what = one.why or ("" if one.command is None else str(one.command.code))
        self.reactions.append(Reaction(self._number, happened, code, what, not one.statement))

    def _observe(self, step: Damaged, asked: SentRequest, seen: Outcome) -> None:
        self._observed.append(
            Observation(
                number=self._number,
                step=step,
                invoked=asked.sent_at,
                returned=seen.at,
                outcome=observed_outcome(seen),
                asked=-1 if asked.event is None else asked.event,
            )
        )

    def _note_registration(self, one: Allowed, answer: Command | None) -> None:
        """Whose registration has surely failed, and whose may have been carried out."""
        command = one.command
        if command is None:
            self._anybody = self._anybody or one.answers
        elif command.code == RequestCode.REGISTER_BROKER and not command.is_response:
            name = (command.ext or {}).get("brokerName") or ""
            failed = answer is not None and answer.code == 1 and one.codes == frozenset([1])
            (self._refused if failed else self._listed).add(name)

    def _was_quiet(self, line: _Line) -> bool:
        link = line.connection.link
        return not self._is_virtual and link.quiet_until(self._session.now()) > _IDLE_TERM

    def _answers_at_last(self) -> bool:
        """Whether it answers after all; then it was slow, and nothing counts."""
        for _ in range(_PATIENCE):
            if self._session.is_answered():
                self._late = True
                return True
        return False

    def _add(self, invariant: str, statement: str, expected: str, actual: str, why: str = "") -> None:
        if not self._experiment.counts(statement):
            return
        self._violations.append(
            Violation(
                invariant=invariant,
                statement=statement,
                expected=expected,
                actual=f"{actual} ({why})" if why else actual,
                number=self._number,
            )
        )

    def _settle_in(self) -> None:
        """Others are there before anything odd is sent."""
        neighbour = self._neighbour = Neighbour(self._session, self._names, self._announces)
        harm = neighbour.harm_at_first()
        if harm is not None:
            if harm.statement.endswith("answered") and self._answers_at_last():
                raise TooLate("a plain request was answered too late")
            self._harmed(harm)

    def _look_around(self) -> None:
        """Whether others are as they were."""
        if self._neighbour is None:
            return
        unlisted = frozenset() if self._anybody else frozenset(self._refused - self._listed)
        for harm in self._neighbour.harms(unlisted):
            self._harmed(harm)
        self._late = self._late or self._neighbour.is_late

    def _harmed(self, harm: Harm) -> None:
        self._add(harm.invariant, harm.statement, harm.expected, harm.actual)

    # --- what it costs --------------------------------------------------------------------------------------

    def _measure(self) -> None:
        limits = self._experiment.limits
        found = resident(self._instance)
        if found is not None and found > limits.memory:
            mib = 1024 * 1024
            self._add(
                "memory", _MEMORY, f"at most {limits.memory // mib} MiB resident", f"{found // mib} MiB"
            )
        if self._is_virtual:
            events = self._session.trace.events
            slowest = max((b.real - a.real for a, b in itertools.pairwise(events)), default=0.0)
            if slowest > limits.seconds:
                self._add("time", _MEMORY, f"a reaction within {limits.seconds:g} s", f"{slowest:.1f} s")


def _is_short_lease(one: Allowed, step: Damaged) -> bool:
    """Whether it may have registered a broker that leaves within the program: a server that removes it ends
    his connection (`RouteInfoManager#scanNotActiveBroker`).
    """
    if one.command is None:
        return one.answers and isinstance(step.base, Register)
    if one.command.code != RequestCode.REGISTER_BROKER or one.command.is_response:
        return False
    try:
        return int((one.command.ext or {}).get("heartbeatTimeoutMillis") or "120000") < _IDLE_TERM * 1000
    except ValueError:
        return False


def _what(seen: Outcome) -> tuple[Happened, Command | None]:
    match seen:
        case Replied():
            return "answered", seen.command
        case ClosedBy():
            return "closed", None
        case Garbled():
            return "garbled", None
        case Silent() | Stalled():
            return "silent", None
    raise TypeError(f"{type(seen).__name__} is no outcome")
