"""Carries out a plan on a running target: sanity first, then owners and the rest, waiting cases concurrently.

A process measures all cases of a plan, or its share of them. Each process tries the sanity cases before its
first other case, and blocks every case if they fail.
"""

from __future__ import annotations

from harness.catalogue import catalogue, release_of
from harness.conformance.case_run import Setting
from harness.conformance.concurrent_cases import ConcurrentCases, runs_beside
from harness.conformance.instances import Waiting
from harness.conformance.loading import FIRST, LAST, LoadedCase
from harness.conformance.plan import Plan
from harness.conformance.running import Runner
from harness.program.chance import chance
from harness.report.results import CaseResult
from harness.session import Instance


class Measuring:
    """Measures the cases of a plan, in the order in which the caller asks for them."""

    def __init__(self, plan: Plan, instance: Instance, *, shares: bool = False) -> None:
        """`shares`: other processes measure a part of the cases, and one of them the concurrent ones."""
        options, cases = plan.options, plan.selection.cases
        kind = instance.clock.kind
        self._cases = cases
        order = list(cases)
        if options.shuffle is not None:
            chance("order", options.shuffle).shuffle(order)
        self._order = {one.name: number for number, one in enumerate(order)}
        """Where each case comes among those of its stage."""
        self._owners = frozenset[str]()
        if options.shuffle is None:
            self._owners = frozenset(owner.case.name for owner in plan.owners.values())
        self._shares = shares
        self._starts_take_time = kind != "virtual"
        apart = plan.target.waits_alone and kind != "virtual"
        setting = Setting(
            catalogue().of(options.role),
            plan.selection.profile,
            options.target,
            role=options.role,
            strict=options.strict,
            quirks=plan.quirks,
            release=release_of(plan.server),
            baseline=options.baseline,
            deadline=options.deadline,
            waiting=Waiting.APART if apart else Waiting.AMONG_OTHERS,
            out=options.directory,
            fresh=True,
        )
        planned = () if shares else cases
        self._runner = Runner(setting, instance, plan.target.another, planned, plan.owners, plan.together)
        beside = [one for one in order if runs_beside(one, kind)]
        self._concurrent = ConcurrentCases(beside, self._runner.run, self._runner.hopeless, kind)
        self._is_sanity_tried = False

    def close(self) -> None:
        """Stops what was started for single cases."""
        self._runner.close()

    def is_concurrent(self, one: LoadedCase) -> bool:
        """Whether the case runs beside others that wait. One process must measure all of these."""
        return one in self._concurrent

    def place(self, one: LoadedCase) -> tuple[int, int]:
        """Where in the order the case runs: first what decides whether anything can be measured, then whether
        a request works at all; those that wait just before the last chapter.
        """
        if one.chapter in FIRST:
            stage = 0
        elif one.chapter in LAST:
            stage = 4
        elif one in self._concurrent:
            return (3, self._concurrent.place(one))
        else:
            stage = 1 if one.name in self._owners else 2
        return (stage, self._order[one.name])

    def measure(self, one: LoadedCase) -> CaseResult:
        """The result of a case."""
        if one.chapter in FIRST:
            self._is_sanity_tried = True
            return self._runner.run(one)
        self._try_sanity()
        if not self._shares:
            self._concurrent.start()
            if self._starts_take_time:
                self._runner.look_ahead()
        if one not in self._concurrent:
            return self._runner.run(one)
        self._runner.only_waiting_cases_are_left()
        self._concurrent.are_alone()
        return self._concurrent.result(one)

    def _try_sanity(self) -> None:
        if not self._is_sanity_tried:
            self._is_sanity_tried = True
            for one in self._cases:
                if one.chapter in FIRST:
                    self._runner.run(one)
