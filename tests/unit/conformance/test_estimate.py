"""How long cases are expected to take."""

from __future__ import annotations

import msgspec
from unit.report import report_samples as samples

from harness.conformance.concurrent_cases import WARPED_ALONE
from harness.conformance.estimate import durations, expected_seconds
from harness.conformance.loading import cases
from harness.report.results import Run
from harness.session import RunningClock

WAITING = next(one for one in cases() if one.case.ends_leases)
QUICK = next(one for one in cases() if not (one.case.clock or one.case.own_server))
REAL, WARPED = RunningClock(), RunningClock(60)


def test_a_wait_takes_as_long_as_its_clock_needs() -> None:
    real, warped = (expected_seconds(WAITING, clock, "soon", {}) for clock in (REAL, WARPED))
    assert 130 < real < 145
    assert abs(warped - real / 60 / WARPED_ALONE) < 0.1
    assert expected_seconds(QUICK, REAL, "soon", {}) < 1


def test_what_a_case_took_before_is_what_it_takes() -> None:
    assert expected_seconds(QUICK, REAL, "soon", {QUICK.name: 7.0}) == 7.0


def test_only_a_run_whose_time_passed_alike_says_how_long_a_case_takes() -> None:
    run = Run(header=msgspec.structs.replace(samples.header(), clock="real"), results=samples.results())
    assert durations(run, REAL) == {one.case: one.seconds for one in run.results}
    assert durations(run, WARPED) == {}
    assert durations(None, REAL) == {}
