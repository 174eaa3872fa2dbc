"""How much longer a run will take, from what was expected of its cases and what they took so far."""

from __future__ import annotations

from harness.report.results import CaseResult, PlannedCase, RunHeader

_ENOUGH = 8
"""Cases that act after which their own speed counts."""
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
        waits = [case.expected for case in header.cases if self._is_beside(case)]
        self._waiting = max(waits, default=0.0) if header.clock == "real" else sum(waits)
        """Where time is real they wait together, otherwise each takes its share."""
        self._took = self._foreseen = 0.0
        self._acting = 0

    def add(self, result: CaseResult) -> None:
        """A case has ended."""
        self._done.add(result.case)
        case = self._cases[result.case]
        if not self._is_beside(case):
            self._acting += 1
            self._took += min(result.seconds, case.expected * _MOST)
            self._foreseen += case.expected

    def at(self, elapsed: float) -> float:
        """Real seconds that are left after ``elapsed``; 0 where the end is overdue."""
        left = [case for name, case in self._cases.items() if name not in self._done]
        acting = sum(case.expected for case in left if not self._is_beside(case))
        acting *= self._pace / self._workers
        if not any(map(self._is_beside, left)):
            return acting
        waiting = self._waiting - elapsed
        return max(acting, waiting) if waiting > 0 else 0.0

    def _is_beside(self, case: PlannedCase) -> bool:
        """Whether it waits from the beginning of the run, beside the cases that act."""
        return case.waits and self._clock != "virtual"

    @property
    def _pace(self) -> float:
        """How many times as long as expected a case takes."""
        if self._acting < _ENOUGH or not self._foreseen:
            return 1.0
        return max(_LEAST, self._took / self._foreseen)
