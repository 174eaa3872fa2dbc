"""How far a run is: a bar on a terminal, elsewhere a line where nothing else was printed for a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import Console as RichConsole

from harness.report.results import CaseResult, RunHeader, Verdict
from harness.report.text import duration
from harness.report.time_left import TimeLeft

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_QUIET = 15.0
"""Real seconds without a line after which a log gets one."""
_STARTING = 3.0
"""Real seconds after which a target that is still being started is worth a line."""
_WORTH_SAYING = 5.0
"""Real seconds of a run that are announced."""
_FAILED = (Verdict.FAIL, Verdict.XPASS, Verdict.ERROR)


class Standing:
    """The progress of one run. ``say`` prints a line; ``printed`` is to be called for each other line."""

    def __init__(self, console: RichConsole, say: Callable[[str], None], *, animated: bool) -> None:
        self._console = console
        self._say = say
        self._animated = animated
        self._left: TimeLeft | None = None
        self._whole = 0.0
        self._cases = self._done = self._failed = 0
        self._quiet_since = 0.0
        self._has_printed = False
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def estimate(self, header: RunHeader) -> str:
        """How long the run will take, in words; nothing where that is not worth saying."""
        self._left, self._cases = TimeLeft(header), len(header.cases)
        self._whole = self._left.at(0.0)
        return f" (about {duration(self._whole)})" if self._whole >= _WORTH_SAYING else ""

    def begin(self) -> None:
        """The run begins, and its head has been printed."""
        if self._animated and self._cases:
            self._draw()

    def case(self, result: CaseResult) -> None:
        """A case has ended."""
        self._done += 1
        self._failed += result.verdict in _FAILED
        if self._left is not None:
            self._left.add(result)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=1, description=result.chapter)

    def printed(self) -> None:
        """Something else was printed."""
        self._has_printed = True

    def passed(self, elapsed: float, starting: str) -> None:
        """``elapsed`` real seconds have passed since the run, or the start of ``starting``, began."""
        if self._has_printed:
            self._has_printed, self._quiet_since = False, elapsed
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, failed=self._failures(), left=self._time_left(elapsed))
            return
        patience = _STARTING if starting and not self._quiet_since else _QUIET
        if elapsed - self._quiet_since < patience or not (starting or self._cases):
            return
        self._say(f"starting {starting}, {duration(elapsed)} so far" if starting else self._words(elapsed))
        self._has_printed, self._quiet_since = False, elapsed

    def close(self) -> None:
        """Takes the bar off the terminal. Safe at any time, also twice."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _words(self, elapsed: float) -> str:
        done = f"{self._done} of {self._cases} cases after {duration(elapsed)}"
        return " · ".join(part for part in (done, self._failures(), self._time_left(elapsed)) if part)

    def _failures(self) -> str:
        return f"{self._failed} failed" if self._failed else ""

    def _time_left(self, elapsed: float) -> str:
        left = self._left.at(elapsed) if self._left is not None else 0.0
        if left:
            return f"about {duration(left)} left"
        return "longer than expected" if elapsed > self._whole >= _WORTH_SAYING else ""

    def _draw(self) -> None:
        # Here: its import is not needed off a terminal.
        from rich.progress import BarColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:.0f} of {task.total:.0f} cases"),
            TextColumn("{task.fields[failed]}"),
            TextColumn("{task.fields[left]}"),
            console=self._console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("", total=self._cases, failed="", left="")
        self._bar.start()
