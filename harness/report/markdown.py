"""The result of a run in Markdown, for a pull request or the summary of a CI job: read in ten seconds.

Rules of this module:

1. The verdict with its denominators comes first, then what is wrong, then what is known; lists unfold.
2. What a target sent is shown as text: it stands in code, where neither Markdown nor HTML is read.
3. It stays far below the megabyte that GitHub allows: after a number of failures the rest is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from harness.report.results import CaseResult, Run, Verdict
from harness.report.text import clock_words, counted, seconds, source_line, tally, visible
from harness.report.verdicts import Conclusion, Summary, summarize

__all__ = ["render"]

_SIGNS = {
    Conclusion.CONFORMANT: "✅",
    Conclusion.NOT_CONFORMANT: "❌",
    Conclusion.INCONCLUSIVE: "⚠️",
    Conclusion.ERROR: "💥",
    Conclusion.INTERRUPTED: "⚠️",
}
_WRONG = (Verdict.FAIL, Verdict.XPASS, Verdict.ERROR, Verdict.FLAKY, Verdict.BLOCKED)
_KNOWN = (Verdict.QUIRK, Verdict.XFAIL, Verdict.DEVIATES, Verdict.OBSERVED, Verdict.UNSUPPORTED)
_SHOWN = 25
_LONGEST = 600


def render(run: Run) -> str:
    """The document, with a line break at its end."""
    summary, header = summarize(run), run.header
    about = [header.target, header.description, header.rules, clock_words(header)]
    lines = [
        f"## {_SIGNS[summary.conclusion]} {summary.conclusion} · RocketMQ {header.judged}",
        "",
        f"{tally(summary)} cases; {summary.statements_measured} of {summary.statements_total} statements "
        f"measured. Exit {summary.exit_status}: {_code(summary.why)}",
        "",
        _code(" · ".join(part for part in about if part)),
        "",
        *_notes(run, summary),
    ]
    for verdict in _WRONG:
        lines += _section(run, summary, verdict, open_=verdict in (Verdict.FAIL, Verdict.XPASS))
    for verdict in _KNOWN:
        lines += _section(run, summary, verdict, open_=False)
    lines += _chapters(summary)
    return "\n".join(lines).rstrip("\n") + "\n"


def _notes(run: Run, summary: Summary) -> list[str]:
    """What is no case and has to be seen all the same."""
    notes = [
        *(f"- stale entry of the baseline: {_code(line)}" for line in summary.stale),
        *(f"- quirk not seen: {_code(line)}" for line in summary.unseen),
    ]
    if summary.cases.not_run:
        notes.append(f"- {summary.cases.not_run} of {summary.cases.total} cases did not run")
    if summary.cases.total < summary.cases_available:
        notes.append(f"- {summary.cases.total} of {summary.cases_available} cases were selected")
    return [*notes, ""] if notes else []


def _section(run: Run, summary: Summary, verdict: Verdict, *, open_: bool) -> list[str]:
    results = [result for result in run.results if result.verdict is verdict]
    if not results:
        return []
    heading = f"{counted(len(results), verdict)}, of {summary.cases.total} cases"
    lines = [f"<details{' open' if open_ else ''}><summary><b>{heading}</b></summary>", ""]
    for result in results[:_SHOWN]:
        lines += _result(result)
    if len(results) > _SHOWN:
        lines += [f"{_SHOWN} of {len(results)} shown; every one is in the report.", ""]
    return [*lines, "</details>", ""]


def _result(result: CaseResult) -> list[str]:
    failure = result.failure
    name = result.quirk or (failure.statement if failure is not None else result.case)
    facts = [("why", result.reason)]
    if failure is not None:
        facts += [
            ("statement", f"{failure.statement}: {failure.text}"),
            ("expected", failure.expected),
            ("actual", failure.actual),
            ("frame", failure.where or "none: nothing came"),
            ("source", source_line(failure)),
        ]
    facts += [("case", result.case), ("replay", failure.replay if failure is not None else "")]
    return [f"**{_code(name)}** {result.level}", "", *_block(facts), ""]


def _block(facts: Iterable[tuple[str, str]]) -> list[str]:
    """The facts as preformatted text: HTML, because no text can end it before its time."""
    shown = [
        f"{name:<11}{_cut(visible(value, keep_lines=True))}".replace("\n", "\n" + " " * 11)
        for name, value in facts
        if value
    ]
    return ["<pre>" + escape("\n".join(shown), quote=False) + "</pre>"]


def _chapters(summary: Summary) -> list[str]:
    rows = [
        f"| {name} | {counts[Verdict.PASS]} of {counts.total} | {_others(counts.verdicts)} | "
        f"{seconds(counts.seconds) if counts.done else '–'} |"
        for name, counts in summary.chapters.items()
    ]
    return [
        f"<details><summary>{len(summary.chapters)} chapters</summary>",
        "",
        "| chapter | passed | otherwise | time |",
        "|---|---:|---|---:|",
        *rows,
        "",
        "</details>",
    ]


def _others(verdicts: dict[Verdict, int]) -> str:
    return ", ".join(counted(number, one) for one, number in verdicts.items() if one is not Verdict.PASS)


def _code(text: str) -> str:
    """Text as a code span, whatever it holds: its marks are longer than any run of them inside."""
    shown = visible(text) or " "
    runs = [len(run) for run in re.findall("`+", shown)]
    marks = "`" * (max(runs, default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{marks}{pad}{shown}{pad}{marks}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({_LONGEST} of {len(text)} characters)"
