"""Setup is not subject: a case that meets a fault of which another statement speaks is blocked by that.

Each request code has an owner (`owner` in `specs/messages`): the most basic statement that an ordinary
request is answered and does its work. Let the owner of a code fail. Then

* a case that fails in the same way is blocked by the owner: in the same way means the same code and the same
  kind of wrong answer, so that another fault at the same code stays a failure;
* a case that sent a request which is answered and does not do its work is blocked by the owner of that
  request, wherever it shows: a server that ignores unregistrations gives itself away by its routes;
* a case that holds because it was refused, closed or left without an answer in the same way has proved
  nothing, and is blocked too: the owner is its control.

One statement is no code's: that of two requests in one segment, each is answered. If it fails, so that one of
them gets no answer, cases that get none where they have sent frames together are blocked by it.

The owner of the code that went wrong comes before the owners of other requests of the case, and these come in
the order of the messages. So of several owners that fail alike, one fails, and blocks the others.

An owner that has not run yet is run when it is asked for: neither the order nor the selection of cases
matters.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from harness.catalogue import Catalogue, Message
from harness.conformance.case_run import Attempt
from harness.conformance.evidence import Symptom
from harness.conformance.loading import LoadedCase
from harness.report.results import CaseResult, Verdict
from harness.wire.code_names import request_words

TOGETHER = "wire.framing.requests-in-one-segment"
"""The statement that requests are answered which arrive together."""


class Owner(msgspec.Struct, frozen=True):
    """The case that proves the owner of a message."""

    message: Message
    case: LoadedCase

    @property
    def statement(self) -> str:
        """The id of the statement."""
        assert self.message.owner is not None
        return self.message.owner


def owners_under(
    profile: str, catalogue: Catalogue, loaded: Iterable[LoadedCase], messages: Iterable[Message]
) -> dict[int, Owner]:
    """The owner of each request code that exists under the profile, in the order of the messages."""
    proving = {statement.id: one for one in loaded for statement in one.statements(catalogue, profile)}
    return {one.code: Owner(one, proving[one.owner]) for one in messages if one.owner in proving}


def case_of_together(catalogue: Catalogue, loaded: Iterable[LoadedCase], profile: str) -> LoadedCase | None:
    """The case that proves `TOGETHER`."""
    cases = ((one, one.statements(catalogue, profile)) for one in loaded)
    return next((one for one, proven in cases if any(it.id == TOGETHER for it in proven)), None)


class Owners:
    """Runs owners, once each, and judges other cases by them. May be used by several threads.

    `owners` are those of a profile, by code, in the order of the messages; without them no case is blocked.
    `measure` runs a case; `settled` gives its result under the baseline; `together` is the case that proves
    `TOGETHER`.
    """

    def __init__(
        self,
        owners: Mapping[int, Owner],
        measure: Callable[[LoadedCase], Attempt],
        settled: Callable[[CaseResult], CaseResult],
        together: LoadedCase | None = None,
    ) -> None:
        self._owners = owners
        self._together = together
        self._measure = measure
        self._settled = settled
        self._attempts: dict[str, Attempt] = {}
        names = [owner.case.name for owner in owners.values()]
        self._locks = {name: threading.Lock() for name in ([*names, together.name] if together else names)}

    def attempt(self, one: LoadedCase) -> Attempt:
        """The attempt of a case that counts; an owner is not run twice."""
        lock = self._locks.get(one.name)
        if lock is None:
            return self._measure(one)
        with lock:
            if one.name not in self._attempts:
                self._attempts[one.name] = self._measure(one)
            return self._attempts[one.name]

    def judged(self, one: LoadedCase, attempt: Attempt) -> CaseResult:
        """The result of a case, which may be that it is blocked by an owner, or that its setup failed."""
        result, evidence = attempt.result, attempt.evidence
        if result.verdict is Verdict.FLAKY:
            return result
        if attempt.has_failed and evidence.symptom is not None:
            owner = self._blocker(one, attempt)
            if owner is not None:
                return self._blocked(result, owner.case, f"needs {request_words(owner.message.code)}, and")
            if self._lacks_together(one, attempt):
                assert self._together is not None
                return self._blocked(result, self._together, "sends frames together, and")
            return self._with_setup(result, one, evidence.symptom) if evidence.was_setup else result
        if attempt.has_held:
            return self._controlled(one, attempt)
        needed = None if evidence.needs is None else self._owners.get(evidence.needs)
        if needed is not None and self._failed(needed) is not None:
            return msgspec.structs.replace(result, blocked_by=self._root(needed).statement)
        return result

    def _controlled(self, one: LoadedCase, attempt: Attempt) -> CaseResult:
        """The result of a case that holds: blocked where an ordinary request is refused in the same way."""
        for refusal in sorted(attempt.evidence.refusals, key=lambda it: (it.code or 0, it.kind)):
            owner = self._failing(one, refusal.code, refusal)
            if owner is not None:
                alike = "is treated so whatever it says:"
                why = f"{request_words(owner.message.code)} {alike}"
                return self._blocked(attempt.result, owner.case, why)
        return attempt.result

    def explains(self, one: LoadedCase, attempt: Attempt) -> bool:
        """Whether an owner has failed in the same way, so that there is no need to try the case again. Owners
        themselves stand alone here: they may not wait for each other.
        """
        if one.name in self._locks:
            return False
        return self._blocker(one, attempt) is not None or self._lacks_together(one, attempt)

    def _lacks_together(self, one: LoadedCase, attempt: Attempt) -> bool:
        """Whether it got no answer where frames were sent together, and no such frames get one each."""
        if self._together is None or one.name == self._together.name or not attempt.evidence.is_together:
            return False
        base = self.attempt(self._together)
        return base.has_failed and base.result.verdict is not Verdict.FLAKY and base.evidence.is_together

    def _blocker(self, one: LoadedCase, attempt: Attempt) -> Owner | None:
        """The owner that has failed in the same way as this attempt; None where the failure is the case's."""
        symptom = attempt.evidence.symptom
        if (
            symptom is None
            or (attempt.evidence.frames and symptom.code is None)
            or self._is_owner(one, symptom.code)
        ):
            return None
        found = self._failing(one, symptom.code, symptom)
        if found is not None:
            return found
        steps = [
            owner
            for owner in self._before(one)
            if owner.message.code in attempt.evidence.codes and owner.message.code != symptom.code
        ]
        alike = (owner for owner in steps if self._failing(one, owner.message.code, symptom))
        in_vain = (owner for owner in steps if self._reads(symptom.code) and self._is_in_vain(owner))
        found = next(alike, None) or next(in_vain, None)
        return None if found is None else self._root(found)

    def _root(self, owner: Owner) -> Owner:
        """The owner, or the one that blocks it: what blocks others is a failure itself."""
        return self._blocker(owner.case, self.attempt(owner.case)) or owner

    def _reads(self, code: int | None) -> bool:
        """Whether a request only shows what others have done; so does what a server sends by itself."""
        owner = None if code is None else self._owners.get(code)
        return code is None or (owner is not None and owner.message.read_only)

    def _is_in_vain(self, owner: Owner) -> bool:
        """Whether the request is answered, and does not do its work: its owner failed where it looked for
        that, with a request whose own owner holds.
        """
        symptom = self._failed(owner)
        if owner.message.read_only or symptom is None or self._is_owner(owner.case, symptom.code):
            return False
        shown = None if symptom.code is None else self._owners.get(symptom.code)
        return shown is not None and shown.message.read_only and self.attempt(shown.case).has_held

    def _before(self, one: LoadedCase) -> Iterator[Owner]:
        """The owners that can block the case as the sender of another request: those before its own."""
        for owner in self._owners.values():
            if owner.case.name == one.name:
                return
            yield owner

    def _failing(self, one: LoadedCase, code: int | None, symptom: Symptom) -> Owner | None:
        """The owner of the code, if it is another case and has failed in this way."""
        owner = None if code is None else self._owners.get(code)
        if owner is None or owner.case.name == one.name:
            return None
        return owner if self._failed(owner) == symptom else None

    def _failed(self, owner: Owner) -> Symptom | None:
        """What the owner failed at; None if it held, was not measured, or is flaky."""
        attempt = self.attempt(owner.case)
        is_flaky = attempt.result.verdict is Verdict.FLAKY
        return attempt.evidence.symptom if attempt.has_failed and not is_flaky else None

    def _is_owner(self, one: LoadedCase, code: int | None) -> bool:
        owner = None if code is None else self._owners.get(code)
        return owner is not None and owner.case.name == one.name

    def _blocked(self, result: CaseResult, case: LoadedCase, why: str) -> CaseResult:
        """Blocked by a case that failed; or known to fail, where the baseline knows that it does."""
        settled = self._settled(self._attempts[case.name].result)
        statement = settled.failure.statement if settled.failure else settled.statements[0]
        known = settled.verdict is Verdict.XFAIL
        actual = settled.failure.actual.split("\n")[0] if settled.failure else ""
        return msgspec.structs.replace(
            result,
            verdict=Verdict.XFAIL if known else Verdict.BLOCKED,
            blocked_by=statement,
            reason=f"{why} {statement} does not hold: {actual}" + (f"; {settled.reason}" if known else ""),
        )

    def _with_setup(self, result: CaseResult, one: LoadedCase, symptom: Symptom) -> CaseResult:
        """The failure, which says so if a step failed that only leads to what the case is about."""
        owner = None if symptom.code is None else self._owners.get(symptom.code)
        if owner is None or owner.message.read_only or owner.message.chapter in (None, one.chapter):
            return result
        setup = f"setup failed: {request_words(owner.message.code)} is a step on the way here"
        if self.attempt(owner.case).has_held:
            setup += f", and {owner.statement} holds"
        reason = f"{setup}; {result.reason}" if result.reason else setup
        return msgspec.structs.replace(result, reason=reason)
