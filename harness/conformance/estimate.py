"""How long cases will take: as long as in the run before, else as long as such cases usually take."""

from __future__ import annotations

from collections.abc import Mapping

from harness.conformance.concurrent_cases import WARPED_ALONE, runs_beside
from harness.conformance.loading import LoadedCase
from harness.report.results import Run
from harness.session import Clock
from harness.targets.capabilities import Starts

_PLAIN = 0.05
_WAIT = 138.0
"""Protocol seconds of a case that lets time pass: most wait for a lease of 120, and until the next scan."""
_START: Mapping[Starts, float] = {"at once": 0.0, "soon": 1.0, "slowly": 5.0, "never": 0.0}


def expected_seconds(one: LoadedCase, clock: Clock, starts: Starts, before: Mapping[str, float]) -> float:
    """Real seconds that a case will take; in warped time, where several wait at once, its share of them."""
    if one.name in before:
        seconds = before[one.name]
    elif clock.kind == "virtual":
        seconds = _PLAIN / 10
    else:
        seconds = _PLAIN + (_START[starts] if one.case.own_server else 0.0)
        seconds += _WAIT / clock.warp if one.case.clock else 0.0
    return seconds / WARPED_ALONE if clock.kind == "warped" and runs_beside(one, "warped") else seconds


def durations(before: Run | None, clock: Clock) -> dict[str, float]:
    """Real seconds that each case took in the run before, if its time passed as it does now."""
    if before is None or (before.header.clock, before.header.warp) != (clock.kind, clock.warp or 1.0):
        return {}
    return {result.case: result.seconds for result in before.results}
