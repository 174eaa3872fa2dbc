"""Runs cases to their verdicts: on which server, how often, and whether another case is to blame.

* Except in virtual time, a failure must happen twice. Where a fresh server can be had, it must happen there:
  the same verdict alone as in a whole run.
* A target that dies or stops answering is started again.
* `harness.conformance.owners` decides whose failure it is.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import NamedTuple

import msgspec

from harness.catalogue import missing_from
from harness.conformance.case_run import Attempt, CaseRun, Setting, in_a_line
from harness.conformance.evidence import Symptom
from harness.conformance.exclusive_lock import ExclusiveLock
from harness.conformance.idling import Idling
from harness.conformance.instances import Instances
from harness.conformance.loading import FIRST, LAST, LoadedCase
from harness.conformance.owners import Owner, Owners
from harness.conformance.pauses import Pauses
from harness.conformance.second_tries import SecondTries
from harness.conformance.sessions import session_of
from harness.conformance.spares import Spare, Spares
from harness.conformance.stopping import Stopping
from harness.report.results import CaseResult, Verdict
from harness.report.text import in_words
from harness.session import Instance, Setup
from harness.session.clock import RunningClock
from harness.session.errors import Blocked, CaseTimeout, Unsupported

AGAIN = 3  # times that a case which came too late is repeated
TRIES = 3  # a case that fails in some of these, and holds in others, is flaky
RESTARTS = 5  # times that a target which died or froze is started again
NOT_STARTED = "an instance for this case could not be started"


class End(NamedTuple):
    """That a server ended, or froze: which cases ran on it, the one that saw it first, and how."""

    suspects: tuple[str, ...]
    how: str
    words: str = ""
    """Its last."""

    def __str__(self) -> str:
        return self.told(self.suspects, "in" if len(self.suspects) == 1 else "during")

    def told(self, names: Sequence[str], when: str, more: str = "") -> str:
        """How it ended, in a sentence: in or during these cases, and what more is known of that."""
        place = f" {when} {in_words(names)}" if names else ""
        return f"{self.how}{place}{more}" + (f": {self.words}" if self.words else "")


class Runner:
    """Runs cases against one instance of the target. May be used by several threads.

    `start` starts another instance, for cases that need their own; what the `planned` cases need can be
    started ahead of them. A target that dies or stops answering is started again, so that it costs the case
    alone in which it happened, and the last case, which judges it. Which case that is shows when those that
    ran on the target run again, each alone on a fresh one. `dead` says why the target is given up: it is not
    ours to start, does not start, or has ended `RESTARTS` times. Later cases are blocked at once.
    """

    def __init__(
        self,
        setting: Setting,
        instance: Instance,
        start: Callable[[Setup], Instance],
        planned: Iterable[LoadedCase] = (),
        owners: Mapping[int, Owner] | None = None,
        together: LoadedCase | None = None,
    ) -> None:
        self._setting = setting
        self._start = start
        self._clock = instance.clock.kind
        self._run_lock = ExclusiveLock(self._clock)
        measured = [one for one in planned if not self._comes_with(one)]
        self._stopping = Stopping(at_once=self._clock == "virtual")
        self._idling = Idling()
        self._instances = Instances(
            instance, start, setting.waiting, self._run_lock, self._stopping, self._idling, measured
        )
        self._spares = Spares(start, self._stopping, self._idling, looks_ahead=self._clock != "virtual")
        self._second_tries = SecondTries(self._spares, lambda one, spare: self._try(one, spare, keeps=False))
        self._owners = Owners(owners or {}, self._counting, setting.baseline.settled, together)
        self._stopwatch = RunningClock()
        self.dead = ""
        self.insane: CaseResult | None = None
        """The first case, if the target did not answer it: it blocks all others."""
        self._begun: dict[str, int] = {}
        """How often the target had ended when a case began on it."""
        self._ends: list[End] = []
        """An entry for each time that the target ended."""
        self._ends_apart: list[End] = []
        """The same of servers that were started for single cases."""
        self._deadly: dict[str, None] = {}
        """Cases that ended a fresh server, too, alone."""
        self._harmless: set[str] = set()
        """Cases that a fresh server lived through alone, where they ran on one that ended."""
        self._lacking: dict[Setup, str] = {}
        """What the target lacks although it was started with these settings."""
        self._pauses = Pauses()
        self._reviving = threading.Lock()
        self._changing_settings = threading.Lock()
        """Such cases share a server, and an owner may be tried while another one runs."""
        self._repeated: set[Symptom] = set()
        """What went wrong on a fresh server, too."""
        self._of_frames: set[str] = set()
        """What is wrong with frames in general, as has been seen more than once."""

    @property
    def ended(self) -> int:
        """How often a server has ended, or frozen."""
        return len(self._ends) + len(self._ends_apart)

    def run(self, one: LoadedCase) -> CaseResult:
        """Runs the case to its verdict, and the owners of the requests that it failed at.

        In warped time, a case that is repeated has the run to itself. What came with a later release of the
        server is not tried.
        """
        if late := self._comes_with(one):
            return CaseRun(self._setting, one, self._stopwatch).result(
                Verdict.LATER, f"not in this release: came with {late}"
            )
        attempt = self._owners.attempt(one)
        if _stands_alone(one):
            result = attempt.result
            if one.chapter in FIRST and not attempt.has_held and not attempt.evidence.was_answered:
                self.insane = result
        else:
            result = self._owners.judged(one, attempt)
        return self._setting.baseline.settled(result)

    def _comes_with(self, one: LoadedCase) -> str:
        """The later release of the server with which what the case proves or builds on comes; else empty."""
        setting = self._setting
        return missing_from(one.needed(setting.catalogue, setting.profile), setting.release)

    def _counting(self, one: LoadedCase) -> Attempt:
        """The attempt that counts: in time, and a failure only if it comes back: in this case or, where
        frames are wrong in general, in another one.
        """
        attempt = self._repeating(one)
        if attempt.has_failed and attempt.evidence.frames:
            self._of_frames.add(attempt.evidence.frames)
        return attempt

    def _repeating(self, one: LoadedCase) -> Attempt:
        second = self._second_tries.begin(one) if self._is_tried_twice(one) else None
        with self._run_lock.shared(waits=one.case.clock):
            attempt = self._try(one)
        if attempt.too_late:
            attempt = self._in_time(one)
        elif (attempt.is_lost or attempt.has_met_end) and not one.case.clock:
            attempt = self._alone(one, attempt)
        if one.name in self._deadly:
            return attempt
        if not attempt.has_failed or attempt.evidence.frames in self._of_frames:
            return attempt
        if not _stands_alone(one) and self._owners.explains(one, attempt):
            return attempt
        is_shared = not self._instances.is_its_own(one)
        if self._setting.fresh and is_shared and (elsewhere := self._fresh(one, attempt, second)) is not None:
            return elsewhere
        return attempt if self._clock == "virtual" else self._confirmed(one, attempt)

    def _is_tried_twice(self, one: LoadedCase) -> bool:
        """Whether the case lasts as long as a lease, so that a second try begins with the first. One server
        serves all of them: those of other setups would need one each.
        """
        is_plain = not (one.case.setup or self._instances.is_its_own(one))
        return self._clock == "real" and self._setting.fresh and one.case.clock and is_plain

    def _alone(self, one: LoadedCase, first: Attempt) -> Attempt:
        """What a case that ran on a server which ended comes to alone on a fresh one, and whether it ends
        that one, too. Where none can be had, the first attempt, or one on the server as it is now.
        """
        if not self._setting.fresh:
            return self._in_time(one) if first.is_lost else first
        try:
            instance = self._start(one.case.setup)
        except Exception:  # it cannot be started a second time, or not now
            return self._in_time(one) if first.is_lost else first
        try:
            again = self._in_time(one, Spare(instance, is_unused=True))
            has_ended = not (instance.alive() and self._answers(instance))
        finally:
            self._stopping.stop(instance)
        if not has_ended:
            self._harmless.add(one.name)
            return again
        self._deadly[one.name] = None
        return first if first.has_failed else again

    def _fresh(self, one: LoadedCase, first: Attempt, second: Future[Attempt] | None) -> Attempt | None:
        """The failure, if it comes back on a fresh server, or cannot be tried there; flaky if it does not.
        None where there is no such server.

        Where the case goes on to fail on the server that others had used, one of them has changed it: from
        now on cases run on the fresh one.
        """
        setup, symptom = one.case.setup, first.evidence.symptom
        with contextlib.ExitStack() as using:
            try:
                spare = using.enter_context(self._spares.one(setup, clean=symptom not in self._repeated))
                again = self._again(one, first, spare) if second is None else second.result()
            except Exception:  # it cannot be started a second time, or not now
                return None
            if again.has_failed and symptom is not None:
                self._repeated.add(symptom)
            if not again.has_held:
                return first
            third = self._in_time(one)
            if not third.has_failed:
                return self._by_chance(first, third, failed=1)
            self._instances.replace(one, self._spares.adopted(setup, spare))
        return _flaky(
            first,
            "fails on the server that earlier cases have used, and holds on a fresh one: one of them has "
            "changed the server, unless it fails by chance; later cases have the fresh one",
        )

    def _again(self, one: LoadedCase, first: Attempt, spare: Spare) -> Attempt:
        """The second try, beside other cases: alone it would wait for those that let leases run out. If it
        neither holds nor fails as the first one did, it is repeated alone.
        """
        with self._run_lock.quiet() if one.case.clock else self._run_lock.shared():
            again = self._try(one, spare)
        return again if again.has_held or again.fails_like(first) else self._in_time(one, spare)

    def _confirmed(self, one: LoadedCase, first: Attempt) -> Attempt:
        """The failure after repetition on the same server. One that cannot be repeated stands."""
        failed, held = 1, list[Attempt]()
        for _ in range(TRIES - 1):
            again = self._in_time(one)
            failed += again.has_failed
            held += [again] if again.has_held else []
            if failed > 1 and not held:
                break
        return self._by_chance(first, held[0], failed) if held else first

    def _by_chance(self, first: Attempt, held: Attempt, failed: int) -> Attempt:
        """What a failure that does not come back comes to: the case is flaky, unless it waited for a server
        that had stopped in another case.
        """
        is_explained = failed == 1 and self._pauses.explain(first.wait)
        return held if is_explained else _flaky(first, f"failed in {failed} of {TRIES} tries")

    def _in_time(self, one: LoadedCase, spare: Spare | None = None) -> Attempt:
        """Runs the case alone, until it is in time for what it measures.

        A case that came too late has measured nothing: the machine was too busy for the speed of the clock.
        """
        for _ in range(AGAIN):
            with self._run_lock.exclusive():
                attempt = self._try(one, spare)
            if not attempt.too_late:
                break
        return attempt

    def _try(self, one: LoadedCase, spare: Spare | None = None, *, keeps: bool = True) -> Attempt:
        """One try. `keeps`: its trace is written."""
        setting = self._setting if keeps else msgspec.structs.replace(self._setting, out=None)
        run = CaseRun(setting, one, self._stopwatch)
        obstacle = self._obstacle(one) if spare is None else None
        if obstacle is not None:
            return Attempt(obstacle)
        if spare is None:
            run.within(lambda: self._measure(run))
        else:
            run.within(lambda: run.measure(spare.instance, alone=spare.is_unused))
            spare.is_clean = spare.is_clean and not run.attempt.has_failed
        return run.attempt

    def hopeless(self, one: LoadedCase) -> CaseResult | None:
        """The result of a case whose target has gone; None while the target lives."""
        self._revive(End((), "the target had gone"), len(self._ends))
        lost = self._lost(one)
        return self._obstacle(one) or (self._blocked(one, lost) if lost else None)

    def _obstacle(self, one: LoadedCase) -> CaseResult | None:
        """The result of a case that cannot be measured; None if it can."""
        if self.insane is not None:
            first = self.insane
            why = first.failure.actual.split("\n")[0] if first.failure else first.reason
            result = self._blocked(one, f"{first.case} came to {first.verdict}: {why}")
            by = first.statements[0] if first.failure else ""
            return msgspec.structs.replace(result, blocked_by=by)
        # The last case judges exactly this, and a case with a server of its own has a living one.
        if self.dead and self._instances.is_main(one) and one.chapter not in LAST:
            ended_in = f"; it ends in {in_words(tuple(self._deadly))}" if self._deadly else ""
            return self._blocked(one, f"{self.dead}{ended_in}")
        return None

    def _blocked(self, one: LoadedCase, reason: str) -> CaseResult:
        return CaseRun(self._setting, one, self._stopwatch).result(Verdict.BLOCKED, reason)

    def _lost(self, one: LoadedCase) -> str:
        """How the target ended while the case ran on it, losing what the case had set up; else empty."""
        begun = self._begun.get(one.name, len(self._ends))
        return str(self._ends[begun]) if begun < len(self._ends) else ""

    def look_ahead(self) -> None:
        """Starts in the background the instances that the planned cases need."""
        self._instances.look_ahead()

    def only_waiting_cases_are_left(self) -> None:
        """The target need not run while none of them uses it."""
        self._instances.let_main_rest()

    def close(self) -> None:
        """Stops the instances that were started here."""
        self._instances.close()
        self._spares.close()
        self._stopping.close()

    def _measure(self, run: CaseRun) -> None:
        if lacking := self._lack(run.one.case.setup):
            self._instances.give_back(run.one, None)
            run.ends(Verdict.UNSUPPORTED, lacking)
            return
        try:
            instance = self._instances.take(run.one)
        except Unsupported as error:
            run.ends(Verdict.UNSUPPORTED, str(error))
            return
        except Exception as error:  # a target that does not start a second time: no fault of the case
            run.ends(Verdict.BLOCKED, f"{NOT_STARTED}: {in_a_line(error)}")
            return
        ends = [*self._ends, *self._ends_apart]
        if ends and run.one.chapter in LAST and instance is self._instances.main:
            named = dict.fromkeys(name for end in ends for name in self._blamed(end))
            run.ends_last("; ".join(map(self._told, ends)), tuple(named))
            return
        if instance is self._instances.main:
            self._begun[run.one.name] = len(self._ends)
        try:
            with self._changing_settings if run.one.case.apart else contextlib.nullcontext():
                run.measure(instance, alone=self._instances.is_its_own(run.one))
        finally:
            self._instances.give_back(run.one, instance)
        if run.lacking:
            self._lacking[run.one.case.setup] = run.lacking
            self._instances.look_ahead_no_more(lambda setup: bool(self._lack(setup)))
        if run.wait is not None:
            self._pauses.note(run.wait)
        lost = self._lost(run.one)
        self._begun.pop(run.one.name, None)
        if lost:
            run.is_lost(lost)
            return
        if instance is not self._instances.main:
            result = run.attempt.result
            if run.target_died and (result.verdict is Verdict.BLOCKED or result.ended_in):
                self._ends_apart.append(End((run.one.name,), "the target had gone", run.target_died))
            return
        number, suspects = len(self._ends), (run.one.name, *self._begun)
        if run.target_died or (run.was_cut_off and not instance.alive()):
            run.has_met_end = True
            self._revive(End(suspects, "the target had gone", run.target_died), number)
        elif run.stalled and not self.dead and not self._answers(instance):
            run.has_met_end = True
            self._revive(End(suspects, "the target had stopped answering"), number, is_frozen=True)

    def _lack(self, setup: Setup) -> str:
        """What a server that is started with these settings lacks, as one with a part of them has shown."""
        return next((lack for known, lack in self._lacking.items() if set(known) <= set(setup)), "")

    def _blamed(self, end: End) -> list[str]:
        """The cases that ended a server: those that do it alone, or the only one that may have."""
        deadly = [name for name in end.suspects if name in self._deadly]
        left = [name for name in end.suspects if name not in self._harmless]
        return deadly or (left if len(left) == 1 else [])

    def _told(self, end: End) -> str:
        """How a server ended, and in which case, as far as that is known."""
        if blamed := self._blamed(end):
            again = ", and on a fresh one" if set(blamed) & self._deadly.keys() else ""
            return end.told(blamed, "in", again)
        is_shared = bool(end.suspects) and self._harmless.issuperset(end.suspects)
        return end.told(end.suspects, "during", ", but lives through each alone" if is_shared else "")

    def _revive(self, end: End, ends: int, *, is_frozen: bool = False) -> None:
        """Starts the target again if it has ended; if that fails, `dead` says why. `ends`: how often it had
        ended before, so that several cases that saw one end start it again once.
        """
        with self._reviving:
            if self.dead or len(self._ends) != ends or (not is_frozen and self._instances.main.alive()):
                return
            if not (end.words or is_frozen):
                end = end._replace(words=_last_words(self._instances.main))
            self._ends.append(end)
            how = str(end)
            if len(self._ends) > RESTARTS:
                self.dead = f"the target had gone {len(self._ends)} times, and is not started again"
                return
            try:
                self._instances.main.restart("kill")
            except Unsupported:
                self.dead = how
            except Exception as error:  # whatever it is, there is no target any more
                self.dead = f"{how}, and does not start again: {in_a_line(error)}"

    def _answers(self, instance: Instance) -> bool:
        """Whether a server still answers: if not, every later case would wait for its whole deadline."""
        setting = self._setting
        self._idling.begin(instance)
        session = session_of(setting.role, instance, setting.profile, deadline=setting.deadline)
        try:
            return session.is_answered()
        except (Blocked, CaseTimeout):
            return False
        finally:
            session.close()
            self._idling.end(instance)


def _last_words(instance: Instance) -> str:
    """How a server ended that takes no connections any more, and what it wrote last."""
    try:
        instance.open().close("fin")
    except Blocked as error:
        return str(error)
    return ""


def _flaky(attempt: Attempt, why: str) -> Attempt:
    """An attempt whose failure does not come back."""
    result = attempt.result
    reason = f"{why}: {result.reason}" if result.reason else why
    flaky = msgspec.structs.replace(result, verdict=Verdict.FLAKY, reason=reason)
    return msgspec.structs.replace(attempt, result=flaky)


def _stands_alone(one: LoadedCase) -> bool:
    """Whether the case builds on no other: what the target is, and that it has lived through the run."""
    return one.chapter in (*FIRST, *LAST)
