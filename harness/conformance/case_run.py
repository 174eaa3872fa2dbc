"""One try of a case: from its function on a session of its own to a result, with what it saw.

* A case always comes to a verdict. It runs in a thread of its own, which is abandoned when it outlives its
  deadline: no behaviour of a target can hang a run.
* This module alone maps exceptions to verdicts; `harness.report.verdicts` says what a broken level means.
* A broken statement is a `quirk` if the server is known to break it in exactly this way.
* Results are values. The parts of live objects that they need (the decisive frame, the trace) are copied
  here.
"""

from __future__ import annotations

import shlex
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from harness.catalogue import Catalogue, Level, Quirk, Role, Statement, explanation, fixes
from harness.conformance.baseline import Baseline
from harness.conformance.evidence import NOTHING, Evidence, evidence_of
from harness.conformance.frame_fault import FrameFault
from harness.conformance.instances import Waiting
from harness.conformance.loading import LAST, LoadedCase
from harness.conformance.mistyped import mistyped_header
from harness.conformance.observed import acts_before, changed_before, deed_of, held_of, sent_frame, sent_of
from harness.conformance.pauses import Wait
from harness.conformance.sessions import session_of
from harness.conformance.unasked import unasked_response
from harness.report.results import CaseResult, Failure, FieldLine, Held, Verdict, Wrong
from harness.report.verdicts import judge
from harness.session import Clock, Instance, Session
from harness.session.errors import Blocked, CaseTimeout, NotRestarted, TargetDied, TooLate, Unmet, Unsupported
from harness.session.futile import FutileWaits
from harness.session.outcome import ClosedBy, Decisive, Garbled, Replied, Silent, Stalled
from harness.targets.server_log import ServerLog
from harness.trace import write_trace
from harness.version import version
from harness.wire import dissect

DEADLINE = 30.0  # real seconds for what a case does; the time that it advances by is not counted
LONGEST_WAIT = 900.0  # protocol seconds: no case waits longer for a lease, an idle timer or a scan
REMARKS = 4  # about other events on the connection, such as a request that came back
STARTING = 75.0  # real seconds for a target to start in; its own deadline is shorter
IN_LINE = 120.0  # real seconds for earlier servers to start
LAST_WORDS = 0.15  # real seconds in which a server writes why it closed: Go does so after its deferred calls
GIVEN_UP = 10.0  # real seconds after the deadline until a thread is abandoned


class Setting(msgspec.Struct, frozen=True):
    """The facts that all cases of a run share."""

    catalogue: Catalogue
    profile: str
    target: str
    role: Role = "nameserver"
    strict: bool = False
    quirks: tuple[Quirk, ...] = ()  # those of the server that is judged, where it is a known one
    release: str = ""  # that of Apache's server which is judged; empty for any other server
    baseline: Baseline = Baseline()
    waiting: Waiting = Waiting.AMONG_OTHERS
    deadline: float = DEADLINE
    out: Path | None = None  # where traces of failures are written
    futile: FutileWaits = msgspec.field(default_factory=FutileWaits)
    fresh: bool = False
    """Whether a failure is tried again on a fresh server, where one can be started."""


class Attempt(msgspec.Struct, frozen=True):
    """What one try of a case came to, and what it saw. `too_late`: it has measured nothing, because the
    machine was too busy for the speed of the clock.
    """

    result: CaseResult
    evidence: Evidence = NOTHING
    too_late: bool = False
    is_lost: bool = False
    """Whether the target ended meanwhile, as another case saw first."""
    has_met_end: bool = False
    """Whether it was the first to see that the target had ended, or froze."""
    wait: Wait | None = None
    """That in vain for an answer at which it failed."""

    def fails_like(self, other: Attempt) -> bool:
        """Whether both failed, in the same way. A busy machine makes answers late, but not the same twice."""
        symptom = self.evidence.symptom
        return (
            self.has_failed and other.has_failed and symptom is not None and symptom == other.evidence.symptom
        )

    @property
    def has_failed(self) -> bool:
        """Whether the case saw a failure that is not a known quirk."""
        return self.result.is_broken and self.result.verdict is not Verdict.QUIRK

    @property
    def has_held(self) -> bool:
        """Whether everything was as the case expects."""
        return not self.result.is_broken and self.result.verdict in (Verdict.PASS, Verdict.DEVIATES)


class CaseRun:
    """One case on its way to a result."""

    def __init__(self, setting: Setting, one: LoadedCase, stopwatch: Clock) -> None:
        self.one = one
        self.ended: CaseResult | None = None
        self.target_died = ""
        self.stalled = False
        self.too_late = False
        self.has_met_end = False
        self.wait: Wait | None = None
        self.lacking = ""
        """What the target lacks whenever it is started with the settings of this case."""
        self.evidence = NOTHING
        self._is_lost = False
        self._ended_in: tuple[str, ...] = ()
        self._setting = setting
        self._stopwatch = stopwatch
        self._begun = stopwatch.waiting()
        self._statements = one.statements(setting.catalogue, setting.profile)
        self._level = one.level(setting.catalogue, setting.profile)
        self._session: Session | None = None
        self._held: tuple[Held, ...] = ()
        self._log = ServerLog(None)
        self._patience = IN_LINE + STARTING + GIVEN_UP  # until the case itself begins
        self._lock = threading.Lock()

    @property
    def attempt(self) -> Attempt:
        """What it came to; to be asked for when it has ended."""
        assert self.ended is not None
        return Attempt(self.ended, self.evidence, self.too_late, self._is_lost, self.has_met_end, self.wait)

    def within(self, work: Callable[[], None]) -> None:
        """Does the work in a thread, and abandons it on a timeout.

        An interrupt of the user gets through.
        """
        thread = threading.Thread(target=self._guarded, args=(work,), name=self.one.name, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.2)
            if self._stopwatch.waiting() - self._begun > self._patience:
                self.ends(
                    Verdict.BLOCKED,
                    f"did not end within {self._patience:.0f} s, although every wait has a deadline",
                )
                if self._session is not None:
                    self._session.close()
                return

    @property
    def was_cut_off(self) -> bool:
        """Whether it failed at a connection that the target closed, as one does that ends."""
        return self.evidence.symptom is not None and self.evidence.symptom.kind == "closed"

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # whatever it is, a case comes to a verdict
            self.ends(Verdict.ERROR, _said(error), detail="".join(traceback.format_exception(error)))

    def ends_last(self, how: str, ended_in: tuple[str, ...] = ()) -> None:
        """The verdict of the last case on a target that did not live through the run.

        `ended_in`: the cases in which it ended.
        """
        self._ended_in = ended_in
        self.ends(judge(self._level, held=False, strict=self._setting.strict), how)

    def is_lost(self, how: str) -> None:
        """The target ended while this case ran, as another one saw: what this one saw proves nothing."""
        self._is_lost = True
        self.ended = self.result(Verdict.BLOCKED, how)

    def measure(self, instance: Instance, *, alone: bool = False) -> None:
        """Runs the function of the case on a session of its own. `alone`: no other case has used the server,
        so that this one is to blame for its end.
        """
        longest = LONGEST_WAIT / instance.clock.warp if self.one.case.clock and instance.clock.warp else 0.0
        restart = STARTING if self.one.case.own_server or self.one.case.setup else 0.0
        self._log = ServerLog(instance.log)
        began = self._stopwatch.waiting()
        self._patience = began - self._begun + self._setting.deadline + longest + restart + GIVEN_UP
        session = self._session = session_of(
            self._setting.role,
            instance,
            self._setting.profile,
            case=self.one.name,
            target=self._setting.target,
            suite=version(),
            deadline=self._setting.deadline,
            futile=self._setting.futile,
        )
        try:
            with session:
                self.one.function(session)
        except Unmet as unmet:
            self.evidence = evidence_of(session, unmet)
            self.stalled = isinstance(unmet.outcome, Stalled)
            if isinstance(unmet.outcome, Silent | Stalled):
                now = self._stopwatch.waiting()
                self.wait = Wait(self.one.name, instance, now - unmet.outcome.waited, now)
            self._held = held_of(session, unmet.exchange.origin)
            if isinstance(unmet.outcome, ClosedBy) and instance.log is not None:
                self._stopwatch.pause(LAST_WORDS)
            self._breaks(unmet.reason, self._failure(unmet, session))
        except Unsupported as error:
            self.lacking = str(error) if error.of_setup else ""
            self.ends(Verdict.UNSUPPORTED, str(error))
        except NotRestarted as error:
            failure = self._judged("the target starts again", in_a_line(error), self._write_trace(session))
            self._breaks("", failure)
        except TargetDied as error:
            self.target_died = str(error)
            if self.one.chapter in LAST:
                self.ends_last(f"the target did not live through the run: {error}")
            elif alone:
                self._ended_in = (self.one.name,)
                failure = self._judged("the target lives", in_a_line(error), self._write_trace(session))
                self._breaks("", failure, level="MUST")
            else:
                self.ends(Verdict.BLOCKED, str(error))
        except Blocked as error:
            self.too_late = isinstance(error, TooLate)
            self.evidence = Evidence(needs=error.needs)
            self.ends(Verdict.BLOCKED, in_a_line(error))
        except CaseTimeout as error:
            self.stalled = True
            self.ends(Verdict.BLOCKED, str(error))
        else:
            self.evidence = evidence_of(session)
            self._held = held_of(session)
            if fault := mistyped_header(session) or unasked_response(session):
                self.evidence = msgspec.structs.replace(
                    self.evidence, symptom=fault.symptom, frames=fault.statement
                )
                self._breaks("", self._of_frames(fault, session), level="MUST")
            if session.tolerated:
                failure = self._failure(session.tolerated[0], session)
                allowed = msgspec.structs.replace(failure, allowed=True)
                self.ends(Verdict.DEVIATES, _allowed(session.tolerated), failure=allowed)
            else:
                self.ends(Verdict.PASS)
        self.target_died = self.target_died or session.death

    def _breaks(self, reason: str, failure: Failure, level: Level | None = None) -> None:
        """The end of a case whose expectations were not met. `level`: of what is broken, if that is not what
        the case is about.
        """
        quirk = explanation(self._setting.quirks, self.one.name, failure.expected, failure.actual)
        if quirk is None:
            verdict = judge(level or self._level, held=False, strict=self._setting.strict)
            self.ends(verdict, reason, failure=failure)
        else:
            self.ends(Verdict.QUIRK, quirk.instead, failure=failure, quirk=quirk.id)

    def ends(
        self,
        verdict: Verdict,
        reason: str = "",
        *,
        failure: Failure | None = None,
        detail: str = "",
        quirk: str = "",
    ) -> None:
        """Fixes the result; the first one counts."""
        with self._lock:
            if self.ended is None:
                self.ended = self.result(verdict, reason, failure=failure, detail=detail, quirk=quirk)

    def result(
        self,
        verdict: Verdict,
        reason: str = "",
        *,
        failure: Failure | None = None,
        detail: str = "",
        quirk: str = "",
    ) -> CaseResult:
        return CaseResult(
            case=self.one.name,
            statements=tuple(statement.id for statement in self._statements),
            chapter=self.one.chapter,
            level=self._level,
            class_=self.one.class_(self._setting.catalogue, self._setting.profile),
            verdict=verdict,
            begun=self._begun,
            seconds=self._stopwatch.waiting() - self._begun,
            title=self.one.title(self._setting.catalogue),
            reason=reason,
            failure=failure,
            detail=detail,
            trace=failure.trace if failure else self._trace(verdict),
            log=self._log.quoted() if self._is_its_fault(verdict) else (),
            quirk=quirk,
            held=self._held,
            ended_in=self._ended_in,
        )

    def _is_its_fault(self, verdict: Verdict) -> bool:
        """Whether the server may have written why the case came to this."""
        ended = self.target_died or self.stalled
        return verdict in (Verdict.FAIL, Verdict.ERROR) or (verdict is Verdict.BLOCKED and bool(ended))

    def _judged(
        self, expected: str, actual: str, trace: str | None, statement: Statement | None = None
    ) -> Failure:
        """A failure that no frame shows. `statement`: the broken one, if the case is about others."""
        statement = statement or self._decisive_statement()
        return Failure(
            statement=statement.id,
            text=statement.text,
            expected=expected,
            actual=actual,
            source=tuple(str(source) for source in statement.source),
            observed=statement.observed,
            issues=statement.issues,
            fixes=fixes(statement, self._setting.catalogue.reports, self._setting.release),
            trace=trace,
            replay=reproduction(self._setting, statement.id),
        )

    def _failure(self, unmet: Unmet, session: Session) -> Failure:
        decisive, outcome = unmet.decisive, unmet.outcome
        frame = outcome.frame if isinstance(outcome, Replied) else b""
        frame = outcome.data if isinstance(outcome, Garbled) else frame
        start, end = _range(decisive, outcome.body_offset if isinstance(outcome, Replied) else 0, frame)
        sent = sent_of(unmet.exchange)
        acts = acts_before(unmet)
        deed, then = deed_of(unmet, acts, sent)
        return msgspec.structs.replace(
            self._judged(
                "\n".join(unmet.expected),
                "\n".join([unmet.actual, *outcome.remarks()[:REMARKS]]),
                self._write_trace(session),
            ),
            frame_no=decisive.event if decisive else None,
            direction="received" if frame else None,
            where=str(decisive) if decisive else "",
            frame_hex=frame.hex(),
            fields=_fields(frame, start, end),
            start=start,
            end=end,
            sent=sent,
            deed=deed,
            then=then,
            wrong=unmet.wrong if isinstance(unmet.wrong, Wrong) else None,
            after=changed_before(unmet, acts),
        )

    def _of_frames(self, fault: FrameFault, session: Session) -> Failure:
        """A frame that no server may send, which fails a case whatever it is about."""
        where = "the whole frame" if fault.start is None else f"frame bytes {fault.start}–{fault.end}"
        return msgspec.structs.replace(
            self._judged(
                fault.expected,
                fault.actual,
                self._write_trace(session),
                self._setting.catalogue.statement(fault.statement),
            ),
            frame_no=fault.event,
            direction="received",
            where=f"#{fault.event} ← {where}",
            frame_hex=fault.frame.hex(),
            fields=_fields(fault.frame, fault.start, fault.end),
            start=fault.start,
            end=fault.end,
            sent=sent_frame(fault.request, session.profile) if fault.request else None,
            wrong=fault.wrong,
        )

    def _decisive_statement(self) -> Statement:
        """The statement that a failure of the case is about: the first of its strictest level."""
        return next(one for one in self._statements if one.level == self._level)

    def _trace(self, verdict: Verdict) -> str | None:
        """The trace of a case that needs one although it has no failure to show."""
        if verdict in (Verdict.BLOCKED, Verdict.ERROR, Verdict.FLAKY) and self._session is not None:
            return self._write_trace(self._session)
        return None

    def _write_trace(self, session: Session) -> str | None:
        if self._setting.out is None:
            return None
        name = f"traces/{self.one.name}.trace"
        write_trace(self._setting.out / name, session.trace)
        return name


def reproduction(setting: Setting, identifier: str) -> str:
    """The command that runs one statement again."""
    target = shlex.quote(setting.target)
    role = "" if setting.role == "nameserver" else f" --role {setting.role}"
    return f"rmq-harness check {target}{role} --profile {setting.profile} --select {identifier}"


def _range(decisive: Decisive | None, body_offset: int, frame: bytes) -> tuple[int | None, int | None]:
    """The decisive bytes, counted from where the frame begins; None where all of it decides, or nothing."""
    if decisive is None or not frame or decisive.part == "connection":
        return None, None
    offset = body_offset if decisive.part == "body" else 0
    start, end = decisive.start + offset, decisive.end + offset
    return (None, None) if (start, end) == (0, len(frame)) else (start, end)


def _fields(frame: bytes, start: int | None, end: int | None) -> tuple[FieldLine, ...]:
    """The dissected frame; fields that overlap the decisive range are marked."""
    if not frame:
        return ()
    return tuple(
        FieldLine(
            name=field.name,
            start=field.start,
            end=field.end,
            value=_value(field.value),
            decisive=start is not None and end is not None and field.start < end and start < field.end,
        )
        for field in dissect(frame).fields
    )


def _value(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return "null" if value is None else str(value)


def _allowed(tolerated: Sequence[Unmet]) -> str:
    """How it differs, and of how many answers the first is shown."""
    differs = f"{tolerated[0].reason}; " if tolerated[0].reason else ""
    first = f" (the first of {len(tolerated)} such answers)" if len(tolerated) > 1 else ""
    return f"{differs}allowed, but not what Apache's server does{first}"


def in_a_line(error: Exception) -> str:
    """Its message without line breaks."""
    return "; ".join(" ".join(line.split()) for line in str(error).splitlines())


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
