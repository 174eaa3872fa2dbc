"""What a server is known to do otherwise, as confirmed findings show it: how programs go on behind it.

Each deviation is met again in one of three ways, so that it hides as little as possible:

- *forgiven*: only what an answer shows is wrong, and the same difference counts no more;
- *left out*: the step that brings it about, with what is special in it, is left out of most programs;
- *tolerated*: where it shows all the same, the program goes on, and what it was about is judged no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from harness.findings.experiment import (
    Finding,
    Trigger,
    decisive_step,
    is_about_the_request,
    signature_of,
    special_of,
)
from harness.program.nameserver.steps import Damaged, Register
from harness.program.step import Request, Time
from harness.program.steps import AnyStep
from harness.program.traits import changes, kind_of, settings_in, traits_of, words_of
from harness.spec import Violation
from harness.spec.nameserver.answers import is_shown_only
from harness.spec.observation import DEATH, FAILURE_CODE, FROZEN, MISTYPED, Difference

_MOMENT = "for a moment"
_ALIKE = 3
"""After this many settings have deviated alike, all settings are expected to."""
_OTHER = Difference("code", "", "other", "", "")
"""Stands for what is no difference in an answer."""


class _Forgiven(msgspec.Struct, frozen=True):
    kind: str
    aspect: str
    presence: str
    is_empty: bool


class Deviations:
    """Those of one server; there are none at first."""

    def __init__(self) -> None:
        self.left_out: list[Trigger] = []
        """Steps that most programs leave out."""
        self._findings: list[Finding] = []
        self._forgiven: dict[_Forgiven, list[frozenset[str]]] = {}

    def __bool__(self) -> bool:
        return bool(self._findings)

    def learn(self, findings: Iterable[Finding]) -> None:
        """Takes in what has been confirmed; what is known already is passed over."""
        for one in findings:
            if any(one.signature == known.signature for known in self._findings):
                continue
            self._findings.append(one)
            differences = one.violation.differences
            if differences and all(map(is_shown_only, differences)):
                step = decisive_step(one.program, one.violation)
                for difference in differences if step is not None else ():
                    key = _forgiven(step, difference)
                    self._forgiven.setdefault(key, []).append(one.special)
            elif one.trigger is not None and one.trigger not in self.left_out:
                self._leave_out(one.trigger)

    def _leave_out(self, trigger: Trigger) -> None:
        general = msgspec.structs.replace(trigger, traits=trigger.traits - settings_in(trigger.traits))
        if general in self.left_out:
            return
        self.left_out.append(trigger)
        alike = [one for one in self.left_out if one.traits > general.traits and _is_general(general, one)]
        if len(alike) >= _ALIKE:
            self.left_out = [*(one for one in self.left_out if one not in alike), general]

    def recognises(self, program: Sequence[AnyStep], violation: Violation) -> bool:
        """Whether a violation is one of them, or of a setting where several others have shown the same."""
        if any(one.is_shown_by(program, violation) for one in self._findings):
            return True
        if not settings_in(special_of(program, violation)):
            return False
        plain = signature_of(program, violation)
        alike = [one for one in self._findings if one.plain == plain and settings_in(one.special)]
        return len(alike) >= _ALIKE

    def forgives(self, step: AnyStep, difference: Difference) -> bool:
        """Whether a difference in what an answer shows counts no more."""
        if not self._forgiven:
            return False
        specials = self._forgiven.get(_forgiven(step, difference), ())
        return any(special <= traits_of(step) for special in specials)

    def leaves_out(self, step: AnyStep) -> bool:
        """Whether most programs leave a step out."""
        return any(one.is_about(step) for one in self.left_out)


def trigger_of(found: Finding) -> Trigger | None:
    """The step that brings a deviation about: the one that is answered otherwise than it must be, a question
    only if in no state it is answered so; else the last that has changed anything, and is no plain
    registration; of a program that has nothing of the kind, the one that looks.
    """
    decisive = decisive_step(found.program, found.violation)
    if found.violation.invariant == MISTYPED:  # nothing is to be left out: it would be everything
        return None
    if decisive is None or all(map(is_shown_only, found.violation.differences or (_OTHER,))):
        return None
    if found.violation.invariant in (DEATH, FROZEN):
        asked = [one for one in found.program if isinstance(one, Damaged | Request)]
        return _trigger(asked[-1], "the server ends or freezes") if asked else None
    why = _why(found)
    is_itself = isinstance(decisive, Damaged) or (changes(decisive) and not isinstance(decisive, Time))
    if is_itself or is_about_the_request(decisive, found.violation):
        return _trigger(decisive, why)
    earlier = [one for one in found.program[: found.violation.number] if changes(one)]
    telling = [one for one in earlier if _is_special(one)]
    if telling:
        return _trigger(telling[-1], why)
    return _trigger(decisive, why) if why == "refused" or len(earlier) < 2 else None


def _is_general(general: Trigger, one: Trigger) -> bool:
    """Whether a trigger is the general one but for the settings that it names."""
    return general == msgspec.structs.replace(one, traits=one.traits - settings_in(one.traits))


def _trigger(step: AnyStep, why: str) -> Trigger | None:
    traits = traits_of(step)
    return None if _MOMENT in traits else Trigger(kind_of(step), traits, words_of(step), why)


def _is_special(step: AnyStep) -> bool:
    traits = traits_of(step)
    return _MOMENT not in traits and (bool(traits) or not isinstance(step, Register))


def _why(found: Finding) -> str:
    first = found.violation.differences[0] if found.violation.differences else None
    if first is not None and first.aspect == "code" and first.expected == "code 0":
        return "refused"
    return found.signature.statement


def _forgiven(step: AnyStep | None, difference: Difference) -> _Forgiven:
    kind = "" if step is None or difference.aspect == FAILURE_CODE else kind_of(step)
    return _Forgiven(kind, difference.aspect, difference.presence, not difference.actual.strip("'\" "))
