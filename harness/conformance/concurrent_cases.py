"""Runs the cases that wait concurrently, so that they share one wait.

Where time is real, every case that waits for a lease starts at once, each in its own thread. Where time is
warped the waits are short and a busy machine spoils them, so only a few cases run at a time, and some more
once no others run beside them. Those with a server of their own come behind them: they wait for its starts.
Where time is virtual no case waits, and each runs in turn.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence

from harness.conformance.loading import LoadedCase
from harness.report.results import CaseResult
from harness.session import ClockKind

_PROCESSORS = os.cpu_count() or 1
WARPED_BESIDE = max(2, min(4, _PROCESSORS + 1))
WARPED_ALONE = WARPED_BESIDE + min(4, _PROCESSORS)
"""Of Apache's Brokers at x4, each keeps less than half a processor busy while its case waits."""
AT_FIRST = 0.05  # real seconds until the first check that the target is still there
PATIENCE = 3.0  # real seconds between later checks


def runs_beside(one: LoadedCase, kind: ClockKind) -> bool:
    """Whether the case runs beside others, out of turn."""
    if kind == "virtual":
        return False
    return one.case.clock or (kind == "warped" and one.case.own_server)


class ConcurrentCases:
    """Runs cases in the background; `result` waits for one of them.

    `hopeless` gives the result of a case whose target has gone, so that waiting for it is pointless.
    """

    def __init__(
        self,
        cases: Sequence[LoadedCase],
        run: Callable[[LoadedCase], CaseResult],
        hopeless: Callable[[LoadedCase], CaseResult | None],
        kind: ClockKind,
    ) -> None:
        self._run = run
        self._hopeless = hopeless
        # The longest waits begin first: servers with settings start a few at a time.
        order = sorted(cases, key=lambda one: (not one.case.ends_leases, not one.case.clock))
        self._places = {one.name: place for place, one in enumerate(order if kind != "virtual" else ())}
        real = len(self._places), len(self._places)
        self._beside, self._alone = real if kind == "real" else (WARPED_BESIDE, WARPED_ALONE)
        """How many run at a time."""
        self._threads = 0
        self._waiting: queue.SimpleQueue[LoadedCase] = queue.SimpleQueue()
        for one in order:
            self._waiting.put(one)
        self._results: dict[str, CaseResult] = {}
        self._news = threading.Condition()

    def __contains__(self, one: LoadedCase) -> bool:
        return one.name in self._places

    def place(self, one: LoadedCase) -> int:
        """Where the case comes among these. Results that are asked for in this order come as soon as they are
        there, unless an earlier case takes longer.
        """
        return self._places[one.name]

    def start(self) -> None:
        """Starts them, beside others that run meanwhile. One call is enough."""
        self._widen(self._beside)

    def are_alone(self) -> None:
        """No others run beside them from now on. One call is enough."""
        self._widen(self._alone)

    def _widen(self, width: int) -> None:
        for number in range(self._threads, min(width, len(self._places))):
            threading.Thread(target=self._work, name=f"concurrent-{number}", daemon=True).start()
            self._threads += 1

    def result(self, one: LoadedCase) -> CaseResult:
        """Waits for the result of a case. The user can interrupt the wait."""
        self.start()
        result = self._wait(one, AT_FIRST)
        while result is None:
            # The thread keeps waiting; its result is dropped.
            result = self._hopeless(one) or self._wait(one, PATIENCE)
        return result

    def _wait(self, one: LoadedCase, seconds: float) -> CaseResult | None:
        with self._news:
            self._news.wait_for(lambda: one.name in self._results, seconds)
            return self._results.get(one.name)

    def _work(self) -> None:
        while True:
            try:
                one = self._waiting.get_nowait()
            except queue.Empty:
                return
            result = self._run(one)
            with self._news:
                self._results[one.name] = result
                self._news.notify_all()
