"""The closed vocabulary of expectations: `Reply`, `Request`, `AnyOf`, `Silence`, `Closed`, `Unchanged`.

* An expectation is mandatory: an exchange that is never judged is an error of the case.
* `check` is a pure function of the outcome and of the view's value: no socket, no clock, no guess.
* Each expectation renders itself in one line, and says of an outcome that misses it what came instead. The
  view of the exchange gives the value its name.
* A reply is always a frame whose response bit is set, a request one whose is not. A value that cannot be
  read misses both.
* A target that answers nothing at all (`Stalled`) meets nothing, so a dead server is never taken for a silent
  one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from harness.conformance.matchers import ANYTHING, Matcher, Path, at, difference, show
from harness.conformance.naming import difference_name, named, value_name
from harness.conformance.wrong import (
    answer_words,
    change_at,
    code_name,
    is_made,
    not_utf8,
    place_in_body,
    place_in_part,
    place_in_view,
)
from harness.report.results import CLOSED, SILENCE, Wrong
from harness.session.errors import Unmet
from harness.session.outcome import Answer, ClosedBy, Decisive, Outcome, Replied, Silent, Unreadable, kind_of
from harness.wire import Command, dissect

if TYPE_CHECKING:
    from harness.session.exchange import Exchange, View


_PARTS = ("remark", "ext", "flag", "version", "language", "serialization", "header", "body")


class Met(msgspec.Struct, frozen=True):
    """The outcome met the expectation.

    `instead_of`: a tolerated alternative came, allowed, but not what Apache does, and this is how it misses
    the others.
    """

    instead_of: Missed | None = None


class Missed(msgspec.Struct, frozen=True):
    """The outcome did not meet the expectation. `actual` and `reason` are for people.

    `field` names the field of the frame that decided it, as `harness.wire.dissect` does; where the value of
    the view did, it is None and `path` leads to the first difference in it. `is_other`: the outcome is
    another, whatever is in it.
    """

    actual: str
    reason: str = ""
    field: str | None = None
    path: Path = ()
    part: str = ""
    """The part of the reply that differs, as `Reply` names it."""
    by: _Expectation | None = None
    """Which of several expectations came nearest."""
    is_other: bool = False


Check: TypeAlias = Met | Missed


class _Expectation:
    """The common base: turns a check into `Unmet`, as `harness.session.Expectation` requires."""

    silence_is_an_answer: bool = False

    def check(self, outcome: Outcome, value: object, view: View | None = None) -> Check:
        """Compares the outcome, and the value of the exchange's view, with the expectation."""
        raise NotImplementedError

    def said(self, view: View | None = None) -> str:
        """The expectation in one line, of the value that the view shows."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.said()

    def alternatives(self, view: View | None = None) -> tuple[str, ...]:
        """The outcomes that meet the expectation, one line each."""
        return (self.said(view),)

    def preferred(self, view: View | None = None) -> tuple[str, ...]:
        """The outcomes that meet it as Apache does, one line each."""
        return self.alternatives(view)

    def judge(self, outcome: Outcome, value: object, exchange: Exchange) -> Unmet | None:
        """None if the expectation is met; where a tolerated alternative is, how it misses what is preferred.
        Raises `Unmet` where nothing is met.
        """
        view = exchange.shows
        checked = self.check(outcome, value, view)
        if isinstance(checked, Missed):
            raise self._unmet(self.alternatives(view), checked, outcome, value, exchange)
        if checked.instead_of is None:
            return None
        return self._unmet(self.preferred(view), checked.instead_of, outcome, value, exchange)

    def _unmet(
        self, expected: tuple[str, ...], missed: Missed, outcome: Outcome, value: object, exchange: Exchange
    ) -> Unmet:
        return Unmet(
            expected=expected,
            actual=missed.actual,
            reason=missed.reason,
            exchange=exchange,
            outcome=outcome,
            decisive=_decisive(outcome, missed, exchange),
            wrong=not_utf8(outcome) or self.wrong(missed, outcome, value, exchange.shows),
            kind=_kind(outcome, value, missed, exchange),
        )

    def wanted(self) -> str:
        """The outcomes that meet it, without what is in them: ``SUCCESS (0)``, ``closed``."""
        raise NotImplementedError

    def wrong(self, missed: Missed, outcome: Outcome, value: object, view: View) -> Wrong:
        """How the outcome misses it, as causes are told apart."""
        return Wrong(kind="outcome", wanted=self.wanted(), got=answer_words(outcome))


class Reply(_Expectation):
    """A response with this code, whose value and parts are as the patterns say.

    `value` is compared with the exchange's view (`.queues`, `.addresses`, …). `ext` and `remark` take ABSENT
    for "not there"; `header` is the header's bytes as text, for what no other part says. `code` may be a
    tuple of codes where the catalogue allows several, or ANYTHING.
    """

    _kind = "reply"
    _is_response = True

    def __init__(
        self,
        code: int | tuple[int, ...] | Matcher,
        value: object = ANYTHING,
        *,
        remark: object = ANYTHING,
        ext: object = ANYTHING,
        flag: object = ANYTHING,
        version: object = ANYTHING,
        language: object = ANYTHING,
        serialization: object = ANYTHING,
        header: object = ANYTHING,
        body: object = ANYTHING,
    ) -> None:
        self._codes: tuple[int, ...] = ()
        """Empty: any code."""
        if code is not ANYTHING:
            self._codes = code if isinstance(code, tuple) else (code,)  # type: ignore[assignment]
            if not self._codes or not all(isinstance(one, int) for one in self._codes):
                raise TypeError(f"Reply({code!r}): the code is a number, such as SUCCESS, or a tuple of them")
        self._value = value
        given = (remark, ext, flag, version, language, serialization, header, body)
        self._parts = {
            name: pattern for name, pattern in zip(_PARTS, given, strict=True) if pattern is not ANYTHING
        }

    def check(self, outcome: Outcome, value: object, view: View | None = None) -> Check:
        if not isinstance(outcome, Replied):
            return Missed(str(outcome))
        command = outcome.command
        if command.is_response is not self._is_response:
            other = "response" if self._is_response else "request"
            return Missed(
                f"a frame that is no {other}: {_summary(command)}", f"flag is {command.flag}", "flag"
            )
        kind = self._kind
        if self._codes and command.code not in self._codes:
            return Missed(f"{kind} {_summary(command)}", field="code")
        for name, pattern in self._parts.items():
            actual = _part(outcome, name)
            path = difference(pattern, actual)
            if path is not None:
                part = _FIELDS.get(name, name)
                actual_line = f"{kind} {self._name(command.code)}, {part} {show(actual)}"
                return Missed(
                    actual_line,
                    difference_name(None, path, pattern, actual),
                    _field(name, path),
                    path,
                    part=name,
                )
        if isinstance(value, Unreadable):
            whole = value if view is None else f"{value_name(view)} {value}"
            return Missed(f"{kind} {self._name(command.code)}, {whole}")
        path = difference(self._value, value)
        if path is not None:
            added = path if change_at(self._value, value, path) == "added" else ()
            return Missed(
                f"{kind} {self._name(command.code)}, {named(view, value, added)}",
                difference_name(view, path, self._value, value),
                path=path,
            )
        return Met()

    def wanted(self) -> str:
        return " or ".join(self._name(code) for code in self._codes) or f"any {self._kind}"

    def wrong(self, missed: Missed, outcome: Outcome, value: object, view: View) -> Wrong:
        if isinstance(value, Unreadable) and not missed.part and missed.field is None:
            if value.place:
                place = place_in_body(value.place)
                return Wrong(kind="member", wanted=self.wanted(), place=place, change=value.change)
            return Wrong(kind="unreadable", wanted="readable", place=place_in_view(view))
        if not isinstance(outcome, Replied) or (missed.field in ("code", "flag") and not missed.part):
            return super().wrong(missed, outcome, value, view)
        if missed.part:
            pattern, actual = self._parts[missed.part], _part(outcome, missed.part)
            place, is_entry = place_in_part(missed.part, missed.path, actual), False
        elif view.path is not None and not outcome.command.body:
            return Wrong(kind="member", wanted=self.wanted(), place="body", change="absent")
        else:
            pattern, actual, is_entry = self._value, value, any(map(is_made, view.path or ()))
            place = place_in_view(view, missed.path, actual)
        change = change_at(pattern, actual, missed.path, is_entry=is_entry)
        return Wrong(kind="member", wanted=self.wanted(), place=place, change=change)

    def _name(self, code: int) -> str:
        return code_name(code, is_response=self._is_response)

    def said(self, view: View | None = None) -> str:
        parts = [" or ".join(self._name(code) for code in self._codes) or "with any code"]
        parts += [f"{_FIELDS.get(name, name)} {show(pattern)}" for name, pattern in self._parts.items()]
        if self._value is not ANYTHING:
            parts.append(named(view, self._value))
        return f"{self._kind} " + ", ".join(parts)


class Request(Reply):
    """A request of the target's own with this code, whose parts are as the patterns say."""

    _kind = "request"
    _is_response = False


class Pushed(Reply):
    """What one Broker sends another for replication, which is no frame: a push of the log, or a report. Its
    value is as the pattern says.
    """

    _kind = "replication"
    _is_response = False

    def __init__(self, value: object) -> None:
        super().__init__(ANYTHING, value)

    def _name(self, code: int) -> str:
        return ""

    def wanted(self) -> str:
        return "a push or a report"

    def said(self, view: View | None = None) -> str:
        return f"{self._kind}, {named(view, self._value)}"


class AnyOf(_Expectation):
    """One of several outcomes; the first that is met counts.

    Those in `deviates` are tolerated: within the catalogue, not what Apache does. They grade the case
    `deviates`.
    """

    def __init__(self, *alternatives: _Expectation, deviates: Iterable[_Expectation] = ()) -> None:
        self._plain = alternatives
        self._tolerated = tuple(deviates)
        if not alternatives or len(alternatives) + len(self._tolerated) < 2:
            raise ValueError("AnyOf takes at least two alternatives, one of them not in deviates=")
        self.silence_is_an_answer = any(one.silence_is_an_answer for one in (*alternatives, *self._tolerated))

    def check(self, outcome: Outcome, value: object, view: View | None = None) -> Check:
        misses: list[Missed] = []
        for one in self._plain:
            checked = one.check(outcome, value, view)
            if isinstance(checked, Met):
                return checked
            misses.append(msgspec.structs.replace(checked, by=checked.by or one))
        nearest = max(misses, key=_progress)
        is_tolerated = any(isinstance(one.check(outcome, value), Met) for one in self._tolerated)
        return Met(nearest) if is_tolerated else nearest

    def preferred(self, view: View | None = None) -> tuple[str, ...]:
        return tuple(line for one in self._plain for line in one.preferred(view))

    def alternatives(self, view: View | None = None) -> tuple[str, ...]:
        return tuple(line for one in (*self._plain, *self._tolerated) for line in one.alternatives(view))

    def wanted(self) -> str:
        return " or ".join(dict.fromkeys(one.wanted() for one in (*self._plain, *self._tolerated)))

    def wrong(self, missed: Missed, outcome: Outcome, value: object, view: View) -> Wrong:
        assert missed.by is not None
        wrong = missed.by.wrong(missed, outcome, value, view)
        return msgspec.structs.replace(wrong, wanted=self.wanted()) if wrong.kind == "outcome" else wrong

    def said(self, view: View | None = None) -> str:
        return " or ".join(self.alternatives(view))


def _progress(missed: Missed) -> tuple[bool, bool, bool]:
    """How far an alternative got: a wrong value explains more than a wrong code."""
    return bool(missed.reason), missed.field not in (None, "code"), missed.field is not None


class Silence(_Expectation):
    """No frame answers, and the connection stays open and serves."""

    silence_is_an_answer = True

    def check(self, outcome: Outcome, value: object, view: View | None = None) -> Check:
        return Met() if isinstance(outcome, Silent) else Missed(_outcome_text(outcome), is_other=True)

    def wanted(self) -> str:
        return SILENCE

    def said(self, view: View | None = None) -> str:
        return "no reply, while the connection goes on to serve"


class Closed(_Expectation):
    """The target closes the connection without an answer, by FIN or by reset."""

    def check(self, outcome: Outcome, value: object, view: View | None = None) -> Check:
        if isinstance(outcome, ClosedBy) and outcome.by == "target":
            return Met()
        return Missed(_outcome_text(outcome), is_other=True)

    def wanted(self) -> str:
        return CLOSED

    def said(self, view: View | None = None) -> str:
        return "the target closes the connection, without a reply"


class Unchanged(_Expectation):
    """The same code and the same value as an earlier answer."""

    def __init__(self, answer: Answer) -> None:
        if answer.command is None:
            raise ValueError("Unchanged takes the answer of a reply; this exchange had none")
        self._reply = Reply(answer.command.code, answer.value)

    def check(self, outcome: Outcome, value: object, view: View | None = None) -> Check:
        return self._reply.check(outcome, value, view)

    def wanted(self) -> str:
        return self._reply.wanted()

    def wrong(self, missed: Missed, outcome: Outcome, value: object, view: View) -> Wrong:
        return self._reply.wrong(missed, outcome, value, view)

    def said(self, view: View | None = None) -> str:
        return f"as before: {self._reply.said(view)}"


_FIELDS = {"ext": "extFields", "serialization": "serialize type"}  # where the frame's name is another


def _field(name: str, path: Path) -> str:
    """The field of a frame that holds a part of a command, or the ext field that `path` leads to."""
    field = _FIELDS.get(name, name)
    return f"{field}.{path[0]}" if name == "ext" and path else field


def _decisive(outcome: Outcome, missed: Missed, exchange: Exchange) -> Decisive | None:
    """The bytes of a field; where the value decided, the exchange knows the place of its view."""
    if missed.field is None:
        return exchange.decisive(outcome, missed.path)
    if not isinstance(outcome, Replied) or outcome.event is None:
        return None
    for field in dissect(outcome.frame).fields:
        if field.name == missed.field:
            return Decisive(
                event=outcome.event,
                connection=outcome.connection,
                what=exchange.subject,
                part="frame",
                start=field.start,
                end=field.end,
                excerpt=outcome.frame[field.start : field.end],
            )
    return None


def _kind(outcome: Outcome, value: object, missed: Missed, exchange: Exchange) -> str:
    """What kind of wrong answer it is. Names that a case has made stand for themselves in every case."""
    if not isinstance(outcome, Replied) or missed.is_other or missed.field == "code":
        return kind_of(outcome)
    if missed.field is not None:
        return f"field {missed.field}"
    if isinstance(value, Unreadable):
        return f"{exchange.general_view} unreadable"
    is_ours = exchange.session.is_ours
    place = tuple("*" if isinstance(step, str) and is_ours(step) else step for step in missed.path)
    how = "differs" if _reaches(value, missed.path) else "lacks"
    return exchange.kind(outcome, value) or f"{exchange.general_view} {how} at {at(place)}"


def _reaches(value: object, path: Path) -> bool:
    """Whether there is something in a value where the path leads."""
    for step in path:
        if (isinstance(value, Mapping) and step in value) or (
            isinstance(value, list | tuple) and isinstance(step, int) and step < len(value)
        ):
            value = value[step]
        else:
            return False
    return value is not None


def _outcome_text(outcome: Outcome) -> str:
    return f"reply {_summary(outcome.command)}" if isinstance(outcome, Replied) else str(outcome)


def _summary(command: Command) -> str:
    parts = [code_name(command.code, is_response=command.is_response)]
    if command.remark is not None:
        parts.append(f"remark {show(command.remark)}")
    if command.ext:
        parts.append(f"extFields {show(command.ext)}")
    if command.body:
        parts.append(f"{len(command.body)} body bytes")
    return ", ".join(parts)


def _part(outcome: Replied, name: str) -> object:
    """The part of the reply that `Reply(name=…)` is compared with."""
    if name == "header":
        return outcome.frame[8 : outcome.body_offset].decode("utf-8", "replace")
    value: object = getattr(outcome.command, name)
    # No ext fields and an empty object of them mean the same to every client, and are one in the binary
    # header.
    return (value or {}) if name == "ext" else value
