"""How much longer a run will take, from what was expected of its cases and what they took so far."""

from __future__ import annotations

from harness.report.results import CaseResult, RunHeader

_ENOUGH = 8
"""Cases after which their own speed counts."""
_LEAST, _MOST = 0.25, 20.0
"""How far the speed of this run may be from the expected one, and how many times its time a case counts with
at most: what waits in vain at the start, for each thing that a server lacks, is not what the others take.
"""


class TimeLeft:
    """The estimate of one run, from the results so far and the time that has passed."""

    def __init__(self, header: RunHeader) -> None:
        self._clock = header.clock
        self._workers = header.workers
        self._cases = {case.name: case for case in header.cases}
        self._done: set[str] = set()
        self._took = self._foreseen = 0.0

    def add(self, result: CaseResult) -> None:
        """A case has ended."""
        self._done.add(result.case)
        case = self._cases[result.case]
        if not (case.waits and self._clock == "real"):
            self._took += min(result.seconds, case.expected * _MOST)
            self._foreseen += case.expected

    def at(self, elapsed: float) -> float:
        """Real seconds that are left after ``elapsed``; 0 where the end is overdue."""
        left = [case for name, case in self._cases.items() if name not in self._done]
        apart = [case for case in left if case.waits and self._clock == "real"]
        acting = sum(case.expected for case in left if not (case.waits and self._clock == "real"))
        acting *= self._pace / self._workers
        waiting = max((case.expected - elapsed for case in apart), default=0.0)
        return max(acting, waiting) if waiting > 0 or not apart else 0.0

    @property
    def _pace(self) -> float:
        """How many times as long as expected a case takes."""
        if len(self._done) < _ENOUGH or not self._foreseen:
            return 1.0
        return max(_LEAST, self._took / self._foreseen)
