"""The events of a run: hooks that a pytest plug-in may implement to follow it."""

from __future__ import annotations

import pytest

from harness.report.results import CaseResult, Run, RunHeader


class Hooks:
    """Events of a run."""

    @pytest.hookspec
    def pytest_rmq_start(self, header: RunHeader) -> None:
        """The run begins; the header says what is planned."""

    @pytest.hookspec
    def pytest_rmq_case(self, result: CaseResult) -> None:
        """A case has come to its verdict."""

    @pytest.hookspec
    def pytest_rmq_finish(self, run: Run) -> None:
        """The run is over; `run.end` is set."""
