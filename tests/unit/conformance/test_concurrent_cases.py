"""Cases that wait run beside each other: all in real time, a few in warped time, none in virtual time."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from test_conformance_running import Gone, loaded, met, run, runner

from harness.conformance.concurrent_cases import WARPED_ALONE, ConcurrentCases, runs_beside
from harness.conformance.loading import LoadedCase
from harness.report.results import CaseResult, Verdict
from harness.session import ClockKind


def still_there(_: LoadedCase) -> None:
    return None


def test_no_case_waits_for_a_target_that_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.conformance.concurrent_cases.PATIENCE", 0.01)
    gone: Any = Gone(alive=False)
    running, release = runner(instance=gone), threading.Event()

    def wait(one: LoadedCase) -> CaseResult:
        release.wait(30)
        return running.run(one)

    waiting = [loaded(met)]
    result = ConcurrentCases(waiting, wait, running.hopeless, "real").result(waiting[0])
    release.set()
    assert (result.verdict, result.reason) == (Verdict.BLOCKED, "the target had gone: connection refused")


def test_a_case_with_its_own_server_outlives_the_shared_one() -> None:
    gone: Any = Gone(alive=False)
    running = runner(instance=gone)
    running.run(loaded(met))
    assert running.hopeless(loaded(met, own_server=True)) is None
    assert running.run(loaded(met, own_server=True)).verdict is Verdict.PASS


def test_in_real_time_all_that_wait_start_before_any_is_asked_for() -> None:
    both = threading.Barrier(3, timeout=20)
    waiting = [loaded(met, name) for name in ("kv", "lease", "routes")]

    def wait(one: LoadedCase) -> CaseResult:
        both.wait()
        return run(met)

    concurrent = ConcurrentCases(waiting, wait, still_there, "real")
    assert all(one in concurrent for one in waiting)
    assert [concurrent.result(one).verdict for one in waiting] == [Verdict.PASS] * 3


def test_in_virtual_time_no_case_waits_for_others() -> None:
    waiting = [loaded(met)]
    assert waiting[0] not in ConcurrentCases(waiting, lambda _: run(met), still_there, "virtual")


def test_in_warped_time_only_a_few_run_at_once() -> None:
    waiting = [loaded(met, f"chapter{number}") for number in range(12)]
    lock, running, most = threading.Lock(), 0, 0
    result = run(met)

    def wait(one: LoadedCase) -> CaseResult:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.01)
        with lock:
            running -= 1
        return result

    concurrent = ConcurrentCases(waiting, wait, still_there, "warped")
    for one in waiting:
        concurrent.result(one)
    assert 1 < most <= 4


def test_in_warped_time_more_run_once_no_others_run_beside_them() -> None:
    both = threading.Barrier(WARPED_ALONE, timeout=20)
    waiting = [loaded(met, f"chapter{number}") for number in range(WARPED_ALONE)]

    def wait(one: LoadedCase) -> CaseResult:
        both.wait()
        return run(met)

    concurrent = ConcurrentCases(waiting, wait, still_there, "warped")
    concurrent.start()
    concurrent.are_alone()
    assert [concurrent.result(one).verdict for one in waiting] == [Verdict.PASS] * WARPED_ALONE


@pytest.mark.parametrize(("kind", "beside"), [("virtual", ""), ("real", "waits"), ("warped", "waits own")])
def test_what_waits_runs_beside_others_and_in_warped_time_what_has_a_server_of_its_own(
    kind: ClockKind, beside: str
) -> None:
    ways: dict[str, dict[str, bool]] = {"plain": {}, "waits": {"clock": True}, "own": {"own_server": True}}
    found = [name for name, way in ways.items() if runs_beside(loaded(met, **way), kind)]
    assert found == beside.split()


def test_those_that_let_leases_end_begin_first_and_those_that_wait_for_no_time_last() -> None:
    ways: list[dict[str, bool]] = [{"own_server": True}, {"clock": True}, {"ends_leases": True}]
    begun: list[str] = []
    cases = [loaded(met, f"chapter{number}", **way) for number, way in enumerate(ways)]

    def run_one(one: LoadedCase) -> CaseResult:
        begun.append(one.chapter)
        return run(met)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.conformance.concurrent_cases.WARPED_BESIDE", 1)
        concurrent = ConcurrentCases(cases, run_one, still_there, "warped")
        for one in cases:
            concurrent.result(one)
    assert begun == ["chapter2", "chapter1", "chapter0"]


def test_results_are_asked_for_in_the_order_in_which_cases_begin() -> None:
    begun: list[LoadedCase] = []
    cases = [loaded(met, f"chapter{number}", clock=number in (1, 3)) for number in range(4)]

    def run_one(one: LoadedCase) -> CaseResult:
        begun.append(one)
        return run(met)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.conformance.concurrent_cases.WARPED_BESIDE", 1)
        concurrent = ConcurrentCases(cases, run_one, still_there, "warped")
        asked = sorted(cases, key=concurrent.place)
        for one in asked:
            concurrent.result(one)
    assert asked == begun != cases
