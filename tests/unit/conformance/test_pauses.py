"""A server that stops for a while costs the case in which it did so, and none that waited beside it."""

from __future__ import annotations

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from running_samples import QUERY, Body, loaded, met, runner
from test_tried_again import InRunningTime

from harness.conformance import Reply
from harness.conformance.pauses import Pauses, Wait
from harness.report.results import Verdict
from harness.session import NameServerSession, Unmet
from harness.session.outcome import Silent

FIRST, LATER = "kv.first", "kv.later"


@pytest.mark.parametrize(
    ("wait", "explained"),
    [
        (Wait(LATER, "server", 2.0, 6.0), True),  # type: ignore[arg-type]
        (Wait(LATER, "server", 0.5, 6.0), False),  # type: ignore[arg-type]
        (Wait(LATER, "server", 5.5, 9.0), False),  # type: ignore[arg-type]
        (Wait(LATER, "other", 2.0, 6.0), False),  # type: ignore[arg-type]
        (Wait(FIRST, "server", 2.0, 6.0), False),  # type: ignore[arg-type]
        (None, False),
    ],
)
def test_a_wait_is_explained_by_another_case_that_was_waiting_already(
    wait: Wait | None, explained: bool
) -> None:
    pauses = Pauses()
    pauses.note(Wait(FIRST, "server", 1.0, 5.0))  # type: ignore[arg-type]
    if wait is not None:
        pauses.note(wait)
    assert pauses.explain(wait) is explained


def verdicts(lost: dict[str, set[int]]) -> list[Verdict]:
    """Of two cases at the same time. `lost`: by case, the tries in which it gets no answer; the first case
    has waited longer.
    """
    tries = {FIRST: 0, LATER: 0}
    both = threading.Barrier(2, timeout=10)

    def body(name: str) -> Body:
        def case(ns: NameServerSession) -> None:
            tries[name] += 1
            if tries[name] == 1:
                both.wait()
            if tries[name] in lost[name]:
                waits_in_vain(ns, seconds=2000.0 if name == FIRST else 1000.0)
            met(ns)

        return case

    instance: Any = InRunningTime()
    running = runner(instance=instance)
    cases = [dataclasses.replace(loaded(body(name)), name=name) for name in (FIRST, LATER)]
    with ThreadPoolExecutor(2) as pool:
        return [result.verdict for result in pool.map(running.run, cases)]


def waits_in_vain(ns: NameServerSession, seconds: float) -> None:
    exchange = ns.call(QUERY)
    exchange >> Reply(0)
    silence = Silent(connection=1, waited=seconds)
    raise Unmet(expected="reply SUCCESS (0)", actual=str(silence), exchange=exchange, outcome=silence)


def test_the_case_in_which_it_stopped_is_flaky_and_the_one_beside_it_holds() -> None:
    assert verdicts({FIRST: {1}, LATER: {1}}) == [Verdict.FLAKY, Verdict.PASS]


def test_a_case_that_gets_no_answer_without_the_pause_either_has_no_excuse() -> None:
    assert verdicts({FIRST: {1}, LATER: {1, 3}}) == [Verdict.FLAKY, Verdict.FLAKY]


def test_a_pause_excuses_no_case_that_fails_at_once_again() -> None:
    assert verdicts({FIRST: {1}, LATER: {1, 2}}) == [Verdict.FLAKY, Verdict.FAIL]
