"""The report on a terminal, written while the run goes on.

Invariants:

1. It is given the stream and no option: colour and progress on a terminal, plain lines elsewhere.
   ``NO_COLOR`` or a dumb terminal leaves no escape code of style.
2. At most 120 columns: longer text wraps under its own column. A fact of more than a thousand characters is
   cut, and says of how many.
3. Chapters appear in the order of the catalogue, each as soon as it and all before it are finished.
4. Failures come last, just above the line with the verdict: no scrolling up.
5. Text that a target chose is escaped, so that it cannot steer the terminal.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TextIO

from rich.cells import cell_len
from rich.console import Console as RichConsole
from rich.text import Text

from harness.report.results import CaseResult, Failure, FieldLine, Run, RunEnd, RunHeader, Verdict
from harness.report.text import class_line, clock_words, counted, seconds, source_line, tally, visible
from harness.report.verdicts import Conclusion, Summary, count, summarize

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

WIDTH = 120
_LABEL = 11
_REPEATED = (Verdict.FAIL, Verdict.XPASS, Verdict.FLAKY, Verdict.ERROR)
_IN_FULL = 25
_SHOWN_NAMES = 8
_LONGEST = 1000
_VALUE = 60
_FRAMING = ("length", "serialize type", "header length", "serializeTypeCurrentRPC")

_ASCII = str.maketrans(
    {"✔": "+", "✘": "x", "·": "|", "←": "<-", "→": "->", "–": "-", "…": "...", "×": "x", "≠": "/"}
)

_STYLES = {
    Conclusion.CONFORMANT: "bold green",
    Conclusion.EXCEPT_KNOWN: "bold yellow",
    Conclusion.PARTIAL: "bold",
    Conclusion.NOT_CONFORMANT: "bold red",
    Conclusion.INCONCLUSIVE: "bold yellow",
    Conclusion.ERROR: "bold red",
    Conclusion.INTERRUPTED: "bold yellow",
}
_VERDICT_STYLES = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.XPASS: "bold red",
    Verdict.ERROR: "bold red",
    Verdict.QUIRK: "yellow",
    Verdict.BLOCKED: "yellow",
    Verdict.FLAKY: "yellow",
}


class _Encodable:
    """A stream that never fails on a character that its encoding lacks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._encoding = getattr(stream, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        try:
            text.encode(self._encoding)
        except UnicodeEncodeError:
            text = text.translate(_ASCII).encode(self._encoding, "backslashreplace").decode(self._encoding)
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()


class Console:
    """Prints one run: :meth:`start`, :meth:`case` for each result as it comes, :meth:`finish`."""

    def __init__(
        self, stream: TextIO, *, environ: Mapping[str, str] = os.environ, width: int | None = None
    ) -> None:
        terminal = stream.isatty() and environ.get("TERM", "") != "dumb"
        colour = terminal and not environ.get("NO_COLOR")
        self._console = RichConsole(
            file=_Encodable(stream),  # type: ignore[arg-type]  # has all that rich asks of a stream
            force_terminal=terminal,
            color_system="auto" if colour else None,
            width=width if terminal or width else WIDTH,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            _environ={
                name: value for name, value in environ.items() if name not in ("COLUMNS", "FORCE_COLOR")
            },
        )
        self._width = min(self._console.width, WIDTH)
        self._animated = terminal
        self._results: list[CaseResult] = []
        self._pending: list[str] = []
        self._progress: Progress | None = None
        self._task: TaskID | None = None

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
            clock_words(header),
        ]
        self._wrapped(" · ".join(facts))
        self._line("")
        if self._animated and header.cases:
            self._begin_progress(len(header.cases))

    def case(self, result: CaseResult) -> None:
        """Count one finished case; print its chapter if that completes it."""
        self._results.append(result)
        while self._pending and len(self._of_chapter(self._pending[0])) >= self._totals[self._pending[0]]:
            self._chapter(self._pending.pop(0))
        if self._progress is not None and self._task is not None:
            failed = sum(one.verdict in (Verdict.FAIL, Verdict.XPASS, Verdict.ERROR) for one in self._results)
            waiting = self._pending[0] if self._pending else "finishing"
            words = f"{waiting} · {failed} failed" if failed else waiting
            self._progress.update(self._task, advance=1, description=words)

    def finish(self, end: RunEnd | None, reports: Iterable[str] = ()) -> Summary:
        """Print the rest: unfinished chapters, what is wrong, and the verdict.

        ``end`` is None for a record that was cut short. ``reports`` are paths of reports that were written.
        """
        self.close()
        for chapter in self._pending:
            self._chapter(chapter)
        self._pending = []
        summary = summarize(Run(header=self._header, results=tuple(self._results), end=end))
        self._quirks()
        self._unseen(summary)
        self._wrong()
        self._remarks()
        self._stale(summary)
        self._verdict(summary, list(reports))
        return summary

    def close(self) -> None:
        """Take the progress line off the terminal. Safe at any time, also twice."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _begin_progress(self, cases: int) -> None:
        # Here: its import is not needed off a terminal.
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:.0f} of {task.total:.0f} cases"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task(self._pending[0], total=cases)
        self._progress.start()

    # one chapter --------------------------------------------------------------------------------

    def _of_chapter(self, chapter: str) -> list[CaseResult]:
        return [result for result in self._results if result.chapter == chapter]

    def _chapter(self, chapter: str) -> None:
        counts = count(self._of_chapter(chapter), self._totals[chapter])
        name_width = max(12, *(cell_len(name) for name in self._totals)) + 2
        line = Text(chapter.ljust(name_width))
        line.append(f"{counts[Verdict.PASS]:>4} ✔", _VERDICT_STYLES[Verdict.PASS])
        failed = counts[Verdict.FAIL]
        line.append(f"{failed:>4} ✘" if failed else " " * 6, _VERDICT_STYLES[Verdict.FAIL])
        others = [
            Text(counted(number, verdict), _VERDICT_STYLES.get(verdict, ""))
            for verdict, number in counts.verdicts.items()
            if verdict not in (Verdict.PASS, Verdict.FAIL)
        ]
        if counts.not_run:
            others.append(Text(f"{counts.not_run} not run", "yellow"))
        for other in others:
            line.append("   ").append_text(other)
        self._ends(line, f"of {counts.total:>3}  {seconds(counts.seconds) if counts.done else '–':>9}", at=84)

    # what is known --------------------------------------------------------------------------------

    def _quirks(self) -> None:
        """Each quirk that was seen: what the server does instead, and the frame that shows it."""
        seen = [result for result in self._results if result.verdict is Verdict.QUIRK]
        if not seen:
            return
        names = list(dict.fromkeys(result.quirk for result in seen))
        self._line("")
        self._line(
            f"{counted(len(seen), Verdict.QUIRK)} of {visible(self._header.server)}, "
            f"of {len(self._header.cases)} cases",
            _VERDICT_STYLES[Verdict.QUIRK],
        )
        seen.sort(key=lambda result: names.index(result.quirk))
        shown = ""
        for result in seen:
            if result.quirk != shown:
                self._ends(Text(f"≠ {result.quirk}", _VERDICT_STYLES[Verdict.QUIRK]), result.level)
                self._wrapped(visible(result.reason), indent="  ")
                shown = result.quirk
            if result.failure is not None:
                self._fact("statement", result.failure.statement)
                self._fact("actual", result.failure.actual)
                self._fact("frame", result.failure.where or "none: nothing was received")
            self._fact("case", result.case)

    def _stale(self, summary: Summary) -> None:
        if summary.stale:
            self._line("")
            count = "1 stale entry" if len(summary.stale) == 1 else f"{len(summary.stale)} stale entries"
            self._line(f"{count} of the baseline {visible(self._header.baseline)}", "bold red")
        for line in summary.stale:
            self._wrapped(visible(line), indent="    ", first="✘ ")

    def _unseen(self, summary: Summary) -> None:
        if summary.unseen:
            self._line("")
            known = len(self._header.quirks)
            self._line(f"{len(summary.unseen)} not seen, where one of {known} quirks was to be seen", "bold")
        for line in summary.unseen:
            self._wrapped(visible(line), indent="    ", first="  ")

    # what is wrong --------------------------------------------------------------------------------

    def _wrong(self) -> None:
        wrong = [result for result in self._results if result.verdict in _REPEATED]
        for result in wrong[:_IN_FULL]:
            if result.failure is not None:
                self._failure(result, result.failure)
            else:
                self._oddity(result)
        if len(wrong) > _IN_FULL:
            self._line("")
            self._line(
                f"{_IN_FULL} of {len(wrong)} shown above, every one in the report; the others in short:",
                "bold",
            )
            for result in wrong[_IN_FULL:]:
                what = result.failure.actual if result.failure is not None else result.reason
                self._wrapped(f"✘ {result.case}: {visible(what)}", indent="    ", first="  ")

    def _failure(self, result: CaseResult, failure: Failure) -> None:
        self._line("")
        profiles = next((s.profiles for s in self._header.statements if s.id == failure.statement), ())
        right = " · ".join(part for part in (result.level, ", ".join(profiles)) if part)
        mark = "✘ " if result.verdict is Verdict.FAIL else f"✘ {result.verdict}: "
        self._ends(Text(mark + failure.statement, "bold red"), right)
        self._wrapped(visible(failure.text), indent="  ")
        if result.reason:
            self._fact("why", result.reason)
        self._fact("expected", failure.expected)
        self._fact("actual", failure.actual)
        self._fact("frame", failure.where or "none: nothing was received")
        self._decoded(failure.fields)
        self._fact("source", source_line(failure))
        self._fact("case", result.case)
        self._fact("replay", failure.replay, continued=" \\")

    def _decoded(self, fields: tuple[FieldLine, ...]) -> None:
        """The header in one line, with the bytes of what decided; the body is in the report."""
        parts = []
        for field in fields:
            span = f"bytes {field.start}–{field.end}"
            if field.name == "body" and len(field.value) > _VALUE:
                parts.append(f"body {span}")
            elif field.decisive:
                parts.append(f"{field.name} {_cut(field.value)} ({span})")
            elif field.name not in _FRAMING:
                parts.append(f"{field.name} {_cut(field.value)}")
        self._fact("", " · ".join(parts))

    def _oddity(self, result: CaseResult) -> None:
        self._line("")
        self._ends(Text(f"✘ {result.verdict}: {result.case}", "bold red"), result.level)
        self._wrapped(visible(result.title), indent="  ")
        self._fact("why", result.reason)
        if result.detail:
            self._fact("", result.detail.strip().splitlines()[-1])
            self._fact(
                "", "The stack trace is in the report: please file it, this is no fault of the target."
            )

    def _remarks(self) -> None:
        """Verdicts that do not fail a run, together where they share a reason."""
        remarkable = (
            Verdict.DEVIATES,
            Verdict.OBSERVED,
            Verdict.XFAIL,
            Verdict.UNSUPPORTED,
            Verdict.BLOCKED,
        )
        for verdict in remarkable:
            groups: dict[str, list[str]] = {}
            for result in self._results:
                if result.verdict is verdict:
                    reason = result.reason or (result.failure.actual if result.failure else "")
                    groups.setdefault(reason, []).append(result.case)
            if not groups:
                continue
            self._line("")
            total = sum(map(len, groups.values()))
            style = _VERDICT_STYLES.get(verdict, "bold")
            self._line(f"{counted(total, verdict)}, of {len(self._header.cases)} cases", style)
            for reason, names in groups.items():
                shown = ", ".join(names[:_SHOWN_NAMES])
                more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
                self._wrapped(f"{shown}{more}{': ' if reason else ''}{visible(reason)}", indent="  ")

    def _verdict(self, summary: Summary, reports: list[str]) -> None:
        self._line("")
        style = _STYLES[summary.conclusion]
        if summary.exit_status not in (0, 1):
            self._wrapped(visible(summary.why), style=style)
        self._wrapped(class_line(summary))
        if len(reports) > 1:
            self._wrapped(f"written: {' · '.join(reports)}")
        left = Text(tally(summary))
        right = f"{summary.headline}, exit {summary.exit_status}"
        right += "".join(f" · {path}" for path in reports[:1])
        if left.cell_len + 2 + cell_len(right) <= self._width:
            left.append(" " * (self._width - left.cell_len - cell_len(right))).append(right, style)
            self._print(left)
        else:
            self._wrapped(left.plain)
            self._wrapped(right, style=style)

    # lines --------------------------------------------------------------------------------

    def _ends(self, left: Text, right: str, at: int = WIDTH) -> None:
        """A line with one text at its left and one that ends at column ``at`` (or on a line below)."""
        at = min(at, self._width)
        room = at - left.cell_len - cell_len(right)
        if room < 2 and left.cell_len + 2 + cell_len(right) <= self._width:
            room = 2
        if room < 2:
            self._wrapped(left.plain, style=str(left.style))
            self._print(Text(" " * max(0, at - cell_len(right)) + right))
            return
        self._print(Text.assemble(left, " " * room, right))

    def _fact(self, label: str, value: str, continued: str = "") -> None:
        """A label and its value. ``continued`` ends each line that goes on: a command can then be copied."""
        if len(value) > _LONGEST:
            value = f"{value[:_LONGEST]}… ({_LONGEST} of {len(value)} characters; the report has all)"
        for line in visible(value, keep_lines=True).splitlines():
            self._wrapped(line, indent=" " * (2 + _LABEL), first=f"  {label:<{_LABEL}}", continued=continued)
            label = ""

    def _wrapped(
        self, text: str, *, indent: str = "", first: str | None = None, style: str = "", continued: str = ""
    ) -> None:
        lines = textwrap.wrap(
            text,
            width=max(24, self._width - len(continued)),
            initial_indent=indent if first is None else first,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )
        for line in lines[:-1]:
            self._line(line + continued, style)
        self._line(lines[-1] if lines else "", style)

    def _line(self, text: str, style: str = "") -> None:
        self._print(Text(text, style))

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)


def _cut(value: str) -> str:
    return value if len(value) <= _VALUE else value[: _VALUE - 1] + "…"


def _of(part: int, whole: int) -> str:
    return str(whole) if part == whole else f"{part} of {whole}"
