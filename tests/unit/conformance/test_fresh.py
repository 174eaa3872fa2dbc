"""A failure is tried again on a fresh server: if it does not come back there, another case is to blame."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any

import pytest
from test_owners import Body, loaded, put, statement

from harness.catalogue import Catalogue, Profile
from harness.conformance import Reply
from harness.conformance.case_run import Setting
from harness.conformance.idling import Idling
from harness.conformance.running import Runner
from harness.conformance.spares import KEPT, OFTEN, STARTS, Spares
from harness.conformance.stopping import Stopping
from harness.report.results import CaseResult, Verdict
from harness.session import DEFAULT_SETUP, NameServerSession, Setup, Unsupported
from harness.targets import parse
from harness.wire import ResponseCode

SUCCESS, NOT_FOUND = ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND


class Run:
    """Cases on a server of which another can be started as often as wanted; `starts` counts them."""

    def __init__(self, start: Callable[[Setup], Any] | None = None) -> None:
        self.starts = 0
        self._target = parse("builtin:5.3")
        self._start = start or self._target.another
        names = [f"ns.kv.{letter}" for letter in "abcdefgh"]
        profile = Profile(name="5.3", title="t", reference="5.3.3", text="x")
        catalogue = Catalogue(tuple(map(statement, names)), (profile,), "d")
        setting = Setting(catalogue, "5.3", "builtin:5.3", fresh=True)
        self.runner = Runner(setting, self._target.start(), self._another)
        self._names = iter(names)

    def _another(self, setup: Setup) -> Any:
        self.starts += 1
        return self._start(setup)

    def case(self, body: Body) -> CaseResult:
        return self.runner.run(loaded(next(self._names), body))


def victim(ns: NameServerSession) -> None:
    ns.get_kv("N", "k") >> Reply(NOT_FOUND)


def wrong(ns: NameServerSession) -> None:
    ns.topics() >> Reply(NOT_FOUND)


def test_a_case_that_another_has_poisoned_is_flaky_and_later_ones_run_on_the_fresh_server() -> None:
    run = Run()
    assert run.case(victim).verdict is Verdict.PASS
    assert run.case(put).verdict is Verdict.PASS
    poisoned = run.case(victim)
    assert poisoned.verdict is Verdict.FLAKY
    assert "holds on a fresh one: one of them has changed the server" in poisoned.reason
    assert poisoned.failure is not None
    assert run.case(victim).verdict is Verdict.PASS
    assert run.starts == 1


def test_a_failure_that_comes_back_stands_and_one_server_confirms_all_that_are_alike() -> None:
    run = Run()
    assert [run.case(wrong).verdict for _ in range(4)] == [Verdict.FAIL] * 4
    assert run.starts == 1


def test_a_failure_of_another_kind_is_tried_where_no_case_has_failed() -> None:
    run = Run()
    run.case(wrong)
    run.case(put)
    # The first fails on the fresh server, too, and could have changed it.
    assert run.case(lambda ns: ns.get_kv("N", "k") >> Reply(NOT_FOUND)).verdict is Verdict.FLAKY
    assert run.starts == 2


def test_where_no_other_server_can_be_started_a_failure_stands() -> None:
    def refuse(_: Setup) -> Any:
        raise Unsupported("not ours")

    run = Run(refuse)
    assert run.case(wrong).verdict is Verdict.FAIL
    run.case(put)
    assert run.case(victim).verdict is Verdict.FAIL


class Started:
    def __init__(self) -> None:
        self.runs = True

    def alive(self) -> bool:
        return self.runs

    def stop(self) -> None:
        self.runs = False


def test_spares_stop_when_they_are_left_and_are_not_started_without_end() -> None:
    made: list[Started] = []

    def start(_: Setup) -> Any:
        made.append(Started())
        return made[-1]

    spares = Spares(start, Stopping(at_once=True), Idling(), looks_ahead=False)
    for number in range(STARTS + 3):
        with spares.one(DEFAULT_SETUP, clean=True) as spare:
            assert spare.instance.alive()
            spare.is_clean = False
            assert len(made) == min(number + 1, STARTS)
    assert [one.runs for one in made] == [False] * (STARTS - 1) + [True]
    spares.close()
    assert not made[-1].runs


def test_of_spares_that_are_not_in_use_those_that_were_used_last_run_on() -> None:
    made: list[Started] = []

    def start(_: Setup) -> Any:
        made.append(Started())
        return made[-1]

    spares = Spares(start, Stopping(at_once=True), Idling(), looks_ahead=False)
    first, *others = [(("key", str(number)),) for number in range(KEPT + 2)]
    for setup in (first, others[0], first, *others[1:]):
        with spares.one(setup, clean=True):
            pass
    assert [one.runs for one in made] == [True, False] + [True] * KEPT
    with spares.one(others[0], clean=True) as spare:
        assert spare.instance is made[-1]
        assert [one.runs for one in made] == [False, False] + [True] * (KEPT + 1)


@pytest.mark.parametrize("ends", [False, True])
def test_a_spare_that_is_in_use_runs_on(ends: bool) -> None:
    made: list[Started] = []

    def start(_: Setup) -> Any:
        made.append(Started())
        return made[-1]

    spares = Spares(start, Stopping(at_once=True), Idling(), looks_ahead=False)
    with spares.one(DEFAULT_SETUP, clean=True) as spare:
        spare.is_clean = False
        with spares.one(DEFAULT_SETUP, clean=ends):
            assert len(made) == 1 + ends
            assert made[0].runs
    assert made[0].runs is not ends


def test_where_cases_go_on_to_fail_the_next_spare_starts_before_it_is_asked_for() -> None:
    made: queue.Queue[Started] = queue.Queue()

    def start(_: Setup) -> Any:
        one = Started()
        made.put(one)
        return one

    spares = Spares(start, Stopping(at_once=True), Idling(), looks_ahead=True)
    for _ in range(OFTEN):
        with spares.one(DEFAULT_SETUP, clean=True) as spare:
            assert made.get(timeout=10) is spare.instance
            spare.is_clean = False
    ahead = made.get(timeout=10)
    with spares.one(DEFAULT_SETUP, clean=False) as spare:
        assert spare.instance is not ahead
    with spares.one(DEFAULT_SETUP, clean=True) as spare:
        assert spare.instance is ahead
        spare.is_clean = False
    unused = made.get(timeout=10)
    spares.close()
    assert made.empty()
    assert not (ahead.runs or unused.runs)


def test_a_spare_that_does_not_start_ahead_is_no_spare_where_it_is_asked_for() -> None:
    made = 0

    def start(_: Setup) -> Any:
        nonlocal made
        made += 1
        if made > OFTEN:
            raise Unsupported("no more")
        return Started()

    spares = Spares(start, Stopping(at_once=True), Idling(), looks_ahead=True)
    for _ in range(OFTEN):
        with spares.one(DEFAULT_SETUP, clean=True) as spare:
            spare.is_clean = False
    with pytest.raises(Unsupported, match="no more"), spares.one(DEFAULT_SETUP, clean=True):
        pass
    spares.close()
