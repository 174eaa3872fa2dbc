"""The record of a run of `check`: the plan, the result of each case, how the run ended."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from harness.catalogue import catalogue
from harness.conformance.estimate import durations, expected_seconds
from harness.conformance.last_record import failed_before
from harness.conformance.plan import Plan
from harness.conformance.selection import quirk_summaries
from harness.report.results import FILE_NAME, CaseResult, ResultsWriter, Run, RunHeader, Verdict
from harness.report.verdicts import ending
from harness.session import RunningClock
from harness.targets import Shareable
from harness.version import version


class CheckRecord:
    """The results of a plan on a running target, kept in memory and, with `--out`, in a file."""

    def __init__(
        self, plan: Plan, instance: Shareable, before: Run | None = None, *, workers: int = 1
    ) -> None:
        """`before` is the record that was in the directory; `workers` processes run the cases."""
        self.plan = plan
        self._before = before
        self._workers = workers
        self.instance = instance
        self.run: Run | None = None
        self._stopwatch = RunningClock()
        self._writer: ResultsWriter | None = None
        self._results: dict[str, CaseResult] = {}

    def begin(self, names: Iterable[str]) -> RunHeader:
        """Writes the header. `names`: the planned cases that were really collected."""
        header = self._header(set(names))
        self.run = Run(header=header)
        directory = self.plan.options.directory
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
            self._writer = ResultsWriter(directory / FILE_NAME)
            self._writer.write(header)
        return header

    def add(self, result: CaseResult) -> bool:
        """Records the result of a case, unless it has one already. Returns whether the result is new."""
        if result.case in self._results:
            return False
        self._results[result.case] = result
        if self._writer is not None:
            self._writer.write(result)
        return True

    def crashed(self, name: str, seconds: float, detail: str) -> CaseResult:
        """The result of a case whose process died."""
        planned = next(one for one in self.plan.selection.planned if one.name == name)
        return CaseResult(
            case=name,
            statements=planned.statements,
            chapter=planned.chapter,
            level=planned.level,
            class_=planned.class_,
            verdict=Verdict.ERROR,
            begun=0.0,
            seconds=seconds,
            title=planned.title,
            reason="the process that ran the case did not get to its end",
            detail=detail,
        )

    def finish(self, *, interrupted: bool = False, stopped: bool = False, trouble: str = "") -> Run:
        """Ends the record, which must have begun."""
        assert self.run is not None
        run = msgspec.structs.replace(self.run, results=tuple(self._results.values()))
        end = ending(
            run,
            seconds=self._stopwatch.waiting(),
            interrupted=interrupted,
            stopped=stopped,
            trouble=trouble,
        )
        self.run = msgspec.structs.replace(run, end=end)
        if self._writer is not None:
            self._writer.write(end)
            self._writer.close()
        return self.run

    def _header(self, collected: set[str]) -> RunHeader:
        options, selection, clock = self.plan.options, self.plan.selection, self.instance.clock
        starts, before = self.plan.target.capabilities.starts, durations(self._before, clock)
        foreseen = {one.name: expected_seconds(one, clock, starts, before) for one in selection.cases}
        planned = tuple(
            msgspec.structs.replace(one, expected=round(foreseen[one.name], 3))
            for one in selection.planned
            if one.name in collected
        )
        return RunHeader(
            suite=version(),
            target=options.target,
            role=options.role,
            profile=selection.profile,
            clock=clock.kind,
            warp=clock.warp or 1.0,
            started=datetime.now().astimezone().isoformat(timespec="seconds"),
            description=self.instance.description,
            cases=planned,
            statements=selection.statements,
            cases_available=selection.available,
            catalogue=catalogue().digest,
            command=options.command,
            seed=options.shuffle,
            strict=options.strict,
            select=options.select,
            exclude=options.exclude,
            only_failed=options.names is not None,
            not_tried_again=options.not_tried_again,
            waiting_left_out=selection.waiting,
            failed_before=failed_before(self._before, options.target, options.role, selection.profile),
            workers=self._workers,
            classes=options.classes,
            baseline=options.baseline.file,
            stale=options.baseline.stale,
            server=self.plan.server,
            quirks=quirk_summaries(self.plan.quirks, planned),
        )
