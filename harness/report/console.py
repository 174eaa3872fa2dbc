"""The report on a terminal, written while the run goes on.

Invariants:

1. It is given the stream and no option: colour and progress on a terminal, plain lines elsewhere.
   What a line may be is the invariant of :mod:`harness.report.console_lines`.
2. A chapter appears as soon as it is finished. While none is, a terminal has a bar, and a log gets a line now
   and then; both say how much time is left.
3. What is wrong comes last, above the line with the verdict: causes before failures.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from typing import TextIO

from rich.cells import cell_len
from rich.text import Text

from harness.report.console_lines import Lines
from harness.report.console_wrong import VERDICT_STYLES, first_of, print_remarks, print_wrong
from harness.report.progress import Standing
from harness.report.results import CaseResult, Run, RunEnd, RunHeader, Verdict
from harness.report.text import class_line, clock_words, counted, not_again, plural, seconds, tally, visible
from harness.report.verdicts import Conclusion, Summary, count, summarize

_STYLES = {
    Conclusion.CONFORMANT: "bold green",
    Conclusion.EXCEPT_KNOWN: "bold yellow",
    Conclusion.PARTIAL: "bold",
    Conclusion.NOT_CONFORMANT: "bold red",
    Conclusion.INCONCLUSIVE: "bold yellow",
    Conclusion.ERROR: "bold red",
    Conclusion.INTERRUPTED: "bold yellow",
}


class Console:
    """Prints one run: :meth:`start`, :meth:`case` for each result as it comes, :meth:`finish`.

    :meth:`passed`, called every second or so, keeps the time; another thread may call it.
    """

    def __init__(
        self, stream: TextIO, *, environ: Mapping[str, str] = os.environ, width: int | None = None
    ) -> None:
        self._lines = Lines(stream, environ=environ, width=width)
        self._standing = Standing(self._lines.rich, self._lines.wrapped, animated=self._lines.animated)
        self._lines.printed = self._standing.printed
        self._results: list[CaseResult] = []
        self._pending: list[str] = []
        self._lock = threading.RLock()

    def start(self, header: RunHeader) -> None:
        """Print what is about to be measured, against what."""
        self._header = header
        self._totals: dict[str, int] = {}
        for case in header.cases:
            self._totals[case.chapter] = self._totals.get(case.chapter, 0) + 1
        self._pending = list(self._totals)
        proven = {statement for case in header.cases for statement in case.statements}
        applicable = len(header.statements)
        selected = sum(statement.id in proven for statement in header.statements)
        facts = [
            f"rmq-harness {header.suite}",
            header.rules,
            f"{_of(selected, applicable)} statements, {_of(len(header.cases), header.cases_available)} cases",
            f"target {visible(header.target)}",
            *([visible(header.description)] if header.description else []),
            f"{clock_words(header)}{self._standing.estimate(header)}",
            *([f"{header.waiting_left_out} that wait left out (--fast)"] if header.waiting_left_out else []),
        ]
        self._lines.wrapped(" · ".join(facts))
        self._lines.line("")
        self._standing.begin()

    def case(self, result: CaseResult) -> None:
        """Count one finished case; print its chapter if that completes it."""
        with self._lock:
            self._results.append(result)
            self._standing.case(result)
            chapter = result.chapter
            if chapter in self._pending and len(self._of_chapter(chapter)) >= self._totals[chapter]:
                self._pending.remove(chapter)
                self._chapter(chapter)

    def passed(self, elapsed: float, starting: str = "") -> None:
        """``elapsed`` real seconds have passed since the run, or the start of ``starting``, began."""
        with self._lock:
            self._standing.passed(elapsed, visible(starting))

    def finish(self, end: RunEnd | None, reports: Iterable[str] = ()) -> Summary:
        """Print the rest: unfinished chapters, what is wrong, and the verdict.

        ``end`` is None for a record that was cut short. ``reports`` are paths of reports that were written.
        """
        self.close()
        for chapter in self._pending:
            if self._of_chapter(chapter):
                self._chapter(chapter)
        self._untouched([one for one in self._pending if not self._of_chapter(one)])
        self._pending = []
        run = Run(header=self._header, results=tuple(self._results), end=end)
        summary = summarize(run)
        self._quirks()
        self._unseen(summary)
        print_wrong(self._lines, run)
        print_remarks(self._lines, run)
        self._stale(summary)
        if end is not None and end.stopped:
            self._lines.line("")
            self._lines.line(
                f"stopped at the first failure (-x), {summary.cases.not_run} of {summary.cases.total} not run"
            )
        if begin := first_of(run):
            self._lines.line("")
            self._lines.wrapped(visible(begin), style="bold")
        self._verdict(summary, list(reports))
        return summary

    def close(self) -> None:
        """Take the progress line off the terminal. Safe at any time, also twice."""
        with self._lock:
            self._standing.close()

    # one chapter --------------------------------------------------------------------------------

    def _of_chapter(self, chapter: str) -> list[CaseResult]:
        return [result for result in self._results if result.chapter == chapter]

    def _chapter(self, chapter: str) -> None:
        counts = count(self._of_chapter(chapter), self._totals[chapter])
        name_width = max(12, *(cell_len(name) for name in self._totals)) + 2
        line = Text(chapter.ljust(name_width))
        line.append(f"{counts[Verdict.PASS]:>4} ✔", VERDICT_STYLES[Verdict.PASS])
        failed = counts[Verdict.FAIL]
        line.append(f"{failed:>4} ✘" if failed else " " * 6, VERDICT_STYLES[Verdict.FAIL])
        others = [
            Text(counted(number, verdict), VERDICT_STYLES.get(verdict, ""))
            for verdict, number in counts.verdicts.items()
            if verdict not in (Verdict.PASS, Verdict.FAIL)
        ]
        if counts.not_run:
            others.append(Text(f"{counts.not_run} not run", "yellow"))
        for other in others:
            line.append("   ").append_text(other)
        self._lines.ends(
            line, f"of {counts.total:>3}  {seconds(counts.seconds) if counts.done else '–':>9}", at=84
        )

    def _untouched(self, chapters: list[str]) -> None:
        """One line for chapters of which no case ran."""
        if chapters:
            number = sum(self._totals[one] for one in chapters)
            self._lines.line(
                f"{plural(number, 'case')} of {plural(len(chapters), 'chapter')} not run", "yellow"
            )

    # what is known --------------------------------------------------------------------------------

    def _quirks(self) -> None:
        """Each quirk that was seen: what the server does instead, and the frame that shows it."""
        seen = [result for result in self._results if result.verdict is Verdict.QUIRK]
        if not seen:
            return
        names = list(dict.fromkeys(result.quirk for result in seen))
        self._lines.line("")
        self._lines.line(
            f"{counted(len(seen), Verdict.QUIRK)} of {visible(self._header.server)}, "
            f"of {plural(len(self._header.cases), 'case')}",
            VERDICT_STYLES[Verdict.QUIRK],
        )
        seen.sort(key=lambda result: names.index(result.quirk))
        shown = ""
        for result in seen:
            if result.quirk != shown:
                self._lines.ends(Text(f"≠ {result.quirk}", VERDICT_STYLES[Verdict.QUIRK]), result.level)
                self._lines.wrapped(visible(result.reason), indent="  ")
                shown = result.quirk
            if result.failure is not None:
                self._lines.fact("statement", result.failure.statement)
                self._lines.fact("actual", result.failure.actual)
                self._lines.fact("frame", result.failure.where or "none: nothing was received")
            self._lines.fact("case", result.case)

    def _stale(self, summary: Summary) -> None:
        if summary.stale:
            self._lines.line("")
            count = plural(len(summary.stale), "stale entry", "stale entries")
            self._lines.line(f"{count} of the baseline {visible(self._header.baseline)}", "bold red")
        for line in summary.stale:
            self._lines.wrapped(visible(line), indent="    ", first="✘ ")

    def _unseen(self, summary: Summary) -> None:
        if summary.unseen:
            self._lines.line("")
            known = len(self._header.quirks)
            self._lines.line(
                f"{len(summary.unseen)} not seen, where one of {known} quirks was to be seen", "bold"
            )
        for line in summary.unseen:
            self._lines.wrapped(visible(line), indent="    ", first="  ")

    def _verdict(self, summary: Summary, reports: list[str]) -> None:
        self._lines.line("")
        style = _STYLES[summary.conclusion]
        if summary.exit_status not in (0, 1):
            self._lines.wrapped(visible(summary.why), style=style)
        self._lines.wrapped(class_line(summary))
        if len(reports) > 1:
            self._lines.wrapped(f"written: {' · '.join(reports)}")
        if untried := not_again(self._header):
            self._lines.wrapped(untried)
        left = Text(tally(summary))
        right = f"{summary.headline}, exit {summary.exit_status}"
        right += "".join(f" · {path}" for path in reports[:1])
        if left.cell_len + 2 + cell_len(right) <= self._lines.width:
            left.append(" " * (self._lines.width - left.cell_len - cell_len(right))).append(right, style)
            self._lines.print(left)
        else:
            self._lines.wrapped(left.plain)
            self._lines.wrapped(right, style=style)


def _of(part: int, whole: int) -> str:
    return str(whole) if part == whole else f"{part} of {whole}"
