"""Follows a run on the console: its events, and the time that passes between them."""

from __future__ import annotations

import threading
from types import TracebackType

import pytest

from harness.conformance.record import CheckRecord
from harness.pytest_plugin import RECORD
from harness.report.console import Console
from harness.report.results import CaseResult, RunHeader
from harness.session import RunningClock

_EVERY = 1.0  # real seconds between two looks at the time


class Ticking:
    """Tells the console how much time has passed, while a target is being started or a run goes on.

    A context manager: what ``starting`` names is being started, or, without it, a run has begun.
    """

    def __init__(self, console: Console, starting: str = "") -> None:
        self._console = console
        self._starting = starting
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="ticking", daemon=True)

    def __enter__(self) -> None:
        self._stopwatch = RunningClock()
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _tick(self) -> None:
        while not self._over.wait(_EVERY):
            self._console.passed(self._stopwatch.waiting(), self._starting)


class Follower:
    """Hands the record to the plug-in, and its events to the console."""

    def __init__(self, record: CheckRecord, console: Console) -> None:
        self._record = record
        self._console = console

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[RECORD] = self._record

    def pytest_rmq_start(self, header: RunHeader) -> None:
        self._console.start(header)

    def pytest_rmq_case(self, result: CaseResult) -> None:
        self._console.case(result)
