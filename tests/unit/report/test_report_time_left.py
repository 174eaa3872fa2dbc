"""How much longer a run takes."""

from __future__ import annotations

from typing import Literal

import msgspec
import pytest
from unit.report import report_samples as samples

from harness.report.results import CaseResult, PlannedCase, RunHeader
from harness.report.text import duration
from harness.report.time_left import TimeLeft


def header(
    clock: Literal["virtual", "warped", "real"], acting: int, waiting: int, workers: int = 1
) -> RunHeader:
    kinds = [("act", False, 1.0)] * acting + [("wait", True, 130.0)] * waiting
    cases = tuple(
        PlannedCase(
            name=f"{name}-{number}",
            chapter="c",
            level="MUST",
            statements=("s",),
            waits=waits,
            expected=seconds,
        )
        for number, (name, waits, seconds) in enumerate(kinds)
    )
    return msgspec.structs.replace(samples.header(), cases=cases, clock=clock, workers=workers)


def ended(name: str, seconds: float) -> CaseResult:
    return msgspec.structs.replace(samples.results()[0], case=name, seconds=seconds)


def test_in_real_time_those_that_wait_do_so_together_and_beside_the_others() -> None:
    left = TimeLeft(header("real", acting=20, waiting=9))
    assert left.at(0) == 130
    assert left.at(100) == 30
    assert TimeLeft(header("real", acting=200, waiting=9)).at(0) == 200
    assert TimeLeft(header("real", acting=200, waiting=0, workers=4)).at(0) == 50


def test_where_time_is_warped_each_case_that_waits_takes_its_share_beside_the_others() -> None:
    left = TimeLeft(header("warped", acting=10, waiting=2))
    assert left.at(0) == 260
    assert left.at(100) == 160
    assert TimeLeft(header("warped", acting=300, waiting=2)).at(0) == 300


def test_where_time_is_virtual_no_case_waits() -> None:
    assert TimeLeft(header("virtual", acting=10, waiting=2)).at(0) == 270


def test_slow_cases_that_act_do_not_make_waits_longer() -> None:
    left = TimeLeft(header("warped", acting=10, waiting=2))
    for number in range(10):
        left.add(ended(f"act-{number}", 6.0))
    assert left.at(60) == 200


def test_what_cases_took_so_far_says_how_long_the_others_take() -> None:
    left = TimeLeft(header("real", acting=20, waiting=0))
    for number in range(10):
        left.add(ended(f"act-{number}", 3.0))
    assert left.at(30) == 30


def test_what_waited_in_vain_at_the_start_does_not_say_how_long_the_others_take() -> None:
    left = TimeLeft(header("real", acting=110, waiting=0))
    for number in range(9):
        left.add(ended(f"act-{number}", 1.0))
    left.add(ended("act-9", 600.0))
    assert left.at(609) == pytest.approx(290)


def test_a_run_that_is_overdue_says_nothing() -> None:
    left = TimeLeft(header("real", acting=0, waiting=1))
    assert left.at(500) == 0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (59, "59 s"), (62, "1 min"), (140, "2 min 20 s"), (3900, "1 h 5 min")],
)
def test_a_duration_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words
