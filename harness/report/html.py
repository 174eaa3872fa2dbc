"""The result of a run as one HTML page that needs nothing but itself.

Invariants:

1. The page loads nothing, from disk or network, and its own policy (``Content-Security-Policy``) forbids that
   and every script but the one whose digest it names.
2. No number without the number that it is a part of.
3. Headings in order, tables with headers, verdicts in words as well as colours: it can be read aloud and
   printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec
from markupsafe import Markup

from harness.report.cause_words import explained
from harness.report.diagram import sequence_diagram
from harness.report.hexdump import Dump, hexdump
from harness.report.results import CaseResult, Failure, Run, RunHeader, StatementSummary, Verdict
from harness.report.templating import filled
from harness.report.text import VERDICT_HELP, clock_words, counted, seconds
from harness.report.verdicts import Conclusion, Counts, gravest, summarize
from harness.trace import Trace

_TONES = {
    Conclusion.CONFORMANT: "pass",
    Conclusion.EXCEPT_KNOWN: "xfail",
    Conclusion.PARTIAL: "observed",
    Conclusion.NOT_CONFORMANT: "fail",
    Conclusion.INCONCLUSIVE: "blocked",
    Conclusion.ERROR: "error",
    Conclusion.INTERRUPTED: "blocked",
}
_DECIDE = (Verdict.FAIL, Verdict.XPASS, Verdict.ERROR, Verdict.BLOCKED, Verdict.FLAKY)
"""Verdicts that keep a run from being conformant."""
_ORDER = (
    *_DECIDE,
    Verdict.XFAIL,
    Verdict.QUIRK,
    Verdict.DEVIATES,
    Verdict.OBSERVED,
    Verdict.UNSUPPORTED,
    Verdict.LATER,
)
"""Sections, those that decide the exit status first."""


class _Section(msgspec.Struct, frozen=True):
    """The cases with one verdict."""

    verdict: Verdict
    alone: list[CaseResult]
    """Those with something of their own to show."""
    together: dict[str, list[CaseResult]]
    """The others, by their reason."""
    total: int

    @property
    def decides(self) -> bool:
        """Whether they keep the run from being conformant."""
        return self.verdict in _DECIDE


class _Coverage(msgspec.Struct, frozen=True):
    """What became of a statement."""

    statement: StatementSummary
    verdict: Verdict | None
    run: int
    planned: int


def render(run: Run, traces: Mapping[str, Trace] | None = None) -> str:
    """The page. ``traces`` holds recorded traces by the path that results name; a missing one is noted."""
    summary, header = summarize(run), run.header
    done = {result.case: result for result in run.results}
    recorded = traces or {}

    def drawing(result: CaseResult) -> Markup | str:
        failure = result.failure
        trace = recorded.get((failure.trace if failure is not None else result.trace) or "")
        decisive = failure.frame_no if failure is not None else None
        return "" if trace is None else sequence_diagram(trace.events, decisive, style=False)

    return filled(
        "report/templates/run.html.j2",
        run=run,
        summary=summary,
        found=explained(run),
        tone=_TONES[summary.conclusion],
        about=_present(header.target, header.description, header.rules, clock_words(header)),
        origin=_origin(run),
        counts=_counts(summary.cases),
        held=summary.cases.holding == summary.cases.total,
        sections=[one for verdict in _ORDER if (one := _section(run, verdict)).total],
        missing=[case.name for case in header.cases if case.name not in done],
        done=done,
        coverage=_coverage(run),
        help=VERDICT_HELP,
        verdicts=list(Verdict),
        dump=_dump,
        drawing=drawing,
    )


def _counts(cases: Counts) -> list[tuple[int, str, str]]:
    """How many cases came to what, in words, with the class of each."""
    shown = [one for one in Verdict if cases[one] or one in (Verdict.PASS, Verdict.FAIL)]
    counts = [(cases[one], counted(cases[one], one).partition(" ")[2], one.value) for one in shown]
    return [*counts, *([(cases.not_run, "not run", "not-run")] if cases.not_run else [])]


def _section(run: Run, verdict: Verdict) -> _Section:
    results = [result for result in run.results if result.verdict is verdict]
    together: dict[str, list[CaseResult]] = {}
    alone: list[CaseResult] = []
    for result in results:
        if result.blocked_by or not _shows_something(result):
            together.setdefault(result.reason, []).append(result)
        else:
            alone.append(result)
    return _Section(verdict, alone, together, len(results))


def _shows_something(result: CaseResult) -> bool:
    return bool(result.failure is not None or result.detail or result.log)


def _coverage(run: Run) -> list[_Coverage]:
    results: dict[str, list[Verdict]] = {}
    for result in run.results:
        for statement in result.statements:
            results.setdefault(statement, []).append(result.verdict)
    planned = Counter(statement for case in run.header.cases for statement in case.statements)
    return [
        _Coverage(one, gravest(results.get(one.id, ())), len(results.get(one.id, ())), planned[one.id])
        for one in run.header.statements
    ]


def _dump(failure: Failure) -> Dump:
    return hexdump(bytes.fromhex(failure.frame_hex), failure.start, failure.end)


def _origin(run: Run) -> list[str]:
    header, end = run.header, run.end
    return _present(
        f"rmq-harness {header.suite}",
        f"catalogue {header.catalogue}" if header.catalogue else "",
        f"started {header.started}",
        f"took {seconds(end.seconds)}" if end is not None else "the record was cut short",
        f"seed {header.seed}" if header.seed is not None else "",
        _selection(header),
    )


def _selection(header: RunHeader) -> str:
    chosen = [f"--select {one}" for one in header.select] + [f"--exclude {one}" for one in header.exclude]
    flags = (
        ("--failed", header.only_failed),
        (f"--fast (without {header.waiting_left_out})", header.waiting_left_out),
        ("--strict", header.strict),
    )
    return " ".join([*chosen, *(flag for flag, is_set in flags if is_set)])


def _present(*parts: str) -> list[str]:
    return [part for part in parts if part]
