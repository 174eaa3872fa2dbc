"""Failures in running time are tried again, and cases that change settings take turns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from running_samples import (
    loaded,
    met,
    runner,
    unmet,
)

from harness.conformance import Reply
from harness.report.results import CaseResult, Verdict
from harness.session import (
    Blocked,
    NameServerSession,
    RunningClock,
    TooLate,
)
from harness.targets import parse
from harness.wire import ResponseCode


class InRunningTime:
    """The built-in target, in time that runs by itself."""

    def __init__(self, warp: float = 1.0) -> None:
        self._instance = parse("builtin:5.3").start()
        self.clock = RunningClock(warp)
        self.description = "running"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._instance, name)


class Busy:
    """Two cases that begin together. One fails, or is too late, at first; the other ends once that was tried
    three times, or after ``patience`` seconds.
    """

    def __init__(self, patience: float, *, late: bool = False) -> None:
        self.beside: dict[str, list[frozenset[str]]] = {"failing": [], "long": []}
        self._now: set[str] = set()
        self._patience = patience
        self._late = late
        self._both = threading.Barrier(2, timeout=10)
        self._tried = threading.Event()

    def run(self, warp: float) -> list[CaseResult]:
        instance: Any = InRunningTime(warp)
        running = runner(instance=instance)
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(running.run, [loaded(self._failing), loaded(self._long)]))

    def _failing(self, ns: NameServerSession) -> None:
        with self._going_on("failing") as tries:
            if tries == 3:
                self._tried.set()
            if tries > 1:
                met(ns)
            elif self._late:
                raise TooLate("the machine is too slow")
            else:
                unmet(ns)

    def _long(self, ns: NameServerSession) -> None:
        with self._going_on("long"):
            self._tried.wait(self._patience)
            met(ns)

    @contextmanager
    def _going_on(self, name: str) -> Generator[int]:
        seen = self.beside[name]
        self._now.add(name)
        if not seen:
            self._both.wait()
        seen.append(frozenset(self._now - {name}))
        if len(seen) == 1:
            self._both.wait()
        try:
            yield len(seen)
        finally:
            self._now.discard(name)


@pytest.mark.parametrize("late", [False, True])
def test_in_warped_time_a_case_is_tried_again_while_nothing_else_goes_on(late: bool) -> None:
    busy = Busy(patience=0.3, late=late)
    results = busy.run(warp=60)
    assert [one.verdict for one in results] == [Verdict.PASS if late else Verdict.FLAKY, Verdict.PASS]
    first, *again = busy.beside["failing"]
    assert first == {"long"}
    assert again == ([frozenset()] if late else [frozenset(), frozenset()])


def test_in_real_time_it_is_tried_again_beside_those_that_wait() -> None:
    busy = Busy(patience=10)
    busy.run(warp=1)
    assert busy.beside["failing"] == [{"long"}, {"long"}, {"long"}]


@pytest.mark.parametrize("clock", [False, True])
def test_in_warped_time_a_case_that_lets_no_time_pass_is_tried_again_beside_others(clock: bool) -> None:
    both, tried = threading.Barrier(2, timeout=10), threading.Event()
    going_on: list[str] = []
    beside: list[list[str]] = []

    def failing(ns: NameServerSession) -> None:
        beside.append(list(going_on))
        if len(beside) == 1:
            both.wait()
            beside[0] = list(going_on)
        else:
            tried.set()
        unmet(ns)

    def working(ns: NameServerSession) -> None:
        going_on.append("working")
        both.wait()
        tried.wait(0.3 if clock else 10)
        going_on.clear()
        met(ns)

    instance: Any = InRunningTime(60)
    running = runner(instance=instance, fresh=True)
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(running.run, [loaded(failing, clock=clock), loaded(working)]))
    assert [one.verdict for one in results] == [Verdict.FAIL, Verdict.PASS]
    assert beside == [["working"], [] if clock else ["working"]]


@pytest.mark.parametrize("differs", [False, True])
def test_a_failure_that_comes_back_as_another_one_is_tried_once_more(differs: bool) -> None:
    tries = 0

    def failing(ns: NameServerSession) -> None:
        nonlocal tries
        tries += 1
        if tries == 2 and differs:
            ns.get_kv("N", "k") >> Reply(ResponseCode.SUCCESS)
        unmet(ns)

    instance: Any = InRunningTime(60)
    assert runner(instance=instance, fresh=True).run(loaded(failing)).verdict is Verdict.FAIL
    assert tries == (3 if differs else 2)


def failing_in(*tries: int) -> tuple[Callable[[NameServerSession], None], list[int]]:
    made: list[int] = []

    def case(ns: NameServerSession) -> None:
        made.append(len(made) + 1)
        (unmet if made[-1] in tries else met)(ns)

    return case, made


@pytest.mark.parametrize(
    ("tries", "verdict", "runs"),
    [
        ((1, 2, 3), Verdict.FAIL, 2),
        ((1,), Verdict.FLAKY, 3),
        ((1, 3), Verdict.FLAKY, 3),
        ((2,), Verdict.PASS, 1),
    ],
)
def test_a_failure_in_running_time_must_happen_twice(
    tries: tuple[int, ...], verdict: Verdict, runs: int
) -> None:
    instance: Any = InRunningTime()
    case, made = failing_in(*tries)
    result = runner(instance=instance).run(loaded(case))
    assert (result.verdict, len(made)) == (verdict, runs)
    assert (f"failed in {len(tries)} of 3 tries" in result.reason) == (verdict is Verdict.FLAKY)


@pytest.mark.parametrize(
    ("tries", "verdict"),
    [
        (("fails", "blocked", "blocked"), Verdict.FAIL),
        (("fails", "blocked", "fails"), Verdict.FAIL),
        (("fails", "blocked", "holds"), Verdict.FLAKY),
        (("fails", "holds", "blocked"), Verdict.FLAKY),
    ],
)
def test_a_failure_stays_one_where_it_cannot_be_measured_again(
    tries: tuple[str, ...], verdict: Verdict
) -> None:
    instance: Any = InRunningTime()
    left = list(tries)

    def case(ns: NameServerSession) -> None:
        match left.pop(0):
            case "fails":
                unmet(ns)
            case "holds":
                met(ns)
            case _:
                raise Blocked("somebody else is there")

    assert runner(instance=instance).run(loaded(case)).verdict is verdict
    assert left == []


def test_cases_that_change_settings_take_turns() -> None:
    """A thread of a waiting case may try an owner while the main one runs another case on the same server."""
    meeting, met_there = threading.Barrier(2), list[bool]()

    def body(ns: NameServerSession) -> None:
        try:
            meeting.wait(0.2)
            met_there.append(True)
        except threading.BrokenBarrierError:
            met_there.append(False)
        met(ns)

    running = runner()
    one = loaded(body, apart=True)
    with ThreadPoolExecutor(2) as threads:
        verdicts = [result.verdict for result in threads.map(running.run, [one, one])]
    running.close()
    assert (verdicts, met_there) == ([Verdict.PASS, Verdict.PASS], [False, False])
