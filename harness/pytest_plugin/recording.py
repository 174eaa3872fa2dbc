"""The side that the user sees: takes results from reports, keeps the record, sets the exit status."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import pytest

from harness.conformance.layout import key_of_node
from harness.conformance.record import CheckRecord
from harness.pytest_plugin.measuring import PROPERTY
from harness.report.results import CaseResult, Verdict

STOPPING = (Verdict.FAIL, Verdict.XPASS, Verdict.ERROR)
"""Verdicts at which a run stops that is to stop at the first failure."""


class Recording:
    """Turns reports into results of a record, and results into events."""

    def __init__(self, config: pytest.Config, record: CheckRecord) -> None:
        self._hooks = config.hook
        self._record = record
        self._names = {one.key: one.name for one in record.plan.selection.cases}
        self._own_failed = False
        self._stopped = False
        self._session: pytest.Session | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """(xdist) Sends a worker the options, and where the target is."""
        node.workerinput["rmq_options"] = msgspec.json.encode(self._record.plan.options).decode()
        node.workerinput["rmq_shared"] = self._record.instance.shared()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if not session.config.pluginmanager.has_plugin("dsession"):
            self._begin([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        self._begin(ids)

    def _begin(self, nodes: Iterable[str]) -> None:
        if self._record.run is None:
            keys = map(key_of_node, nodes)
            header = self._record.begin([self._names[key] for key in keys if key in self._names])
            self._hooks.pytest_rmq_start(header=header)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = [value for name, value in report.user_properties if name == PROPERTY]
        if found:
            self._add(msgspec.json.decode(str(found[0]), type=CaseResult))
        elif report.failed and (name := self._names.get(key_of_node(report.nodeid))):
            self._add(self._record.crashed(name, report.duration, report.longreprtext))
        elif report.failed:
            self._own_failed = True

    def _add(self, result: CaseResult) -> None:
        if self._record.add(result):
            self._hooks.pytest_rmq_case(result=result)
            if self._record.plan.options.stop_at_failure and result.verdict in STOPPING:
                self._stop()

    def _stop(self) -> None:
        """Ends the run after this case. Workers (xdist) are asked by their own plug-in."""
        assert self._session is not None
        self._stopped = True
        workers: Any = self._session.config.pluginmanager.getplugin("dsession")
        (self._session if workers is None else workers).shouldstop = "a case failed"

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        interrupted = int(exitstatus) == pytest.ExitCode.INTERRUPTED and not self._stopped
        internal = int(exitstatus) == pytest.ExitCode.INTERNAL_ERROR
        trouble = "pytest failed inside; its message is above" if internal else ""
        self._begin(())
        run = self._record.finish(interrupted=interrupted, stopped=self._stopped, trouble=trouble)
        self._hooks.pytest_rmq_finish(run=run)
        assert run.end is not None
        session.exitstatus = run.end.exit_status or int(self._own_failed)
        self._record.instance.stop()
