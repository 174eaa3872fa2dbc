"""The result of a run in Markdown, for a pull request or the summary of a CI job: read in ten seconds.

Invariants:

1. The verdict with its denominators comes first, then what is wrong, then what is known; lists unfold.
2. Text from a target stands in code, where neither Markdown nor HTML is interpreted.
3. It stays far below GitHub's limit of a megabyte: after a number of failures the rest is counted.
"""

from __future__ import annotations

from html import escape

import msgspec

from harness.report.results import CaseResult, Run, Verdict
from harness.report.templating import filled
from harness.report.text import class_line, clock_words, source_line, tally, visible
from harness.report.verdicts import Conclusion, summarize

_SIGNS = {
    Conclusion.CONFORMANT: "✅",
    Conclusion.EXCEPT_KNOWN: "☑️",
    Conclusion.PARTIAL: "☑️",
    Conclusion.NOT_CONFORMANT: "❌",
    Conclusion.INCONCLUSIVE: "⚠️",
    Conclusion.ERROR: "💥",
    Conclusion.INTERRUPTED: "⚠️",
}
_ORDER = (
    *(Verdict.FAIL, Verdict.XPASS, Verdict.ERROR, Verdict.FLAKY, Verdict.BLOCKED),
    *(Verdict.QUIRK, Verdict.XFAIL, Verdict.DEVIATES, Verdict.OBSERVED, Verdict.UNSUPPORTED),
)
"""What is wrong, then what is known."""
_SHOWN = 25
_LONGEST = 600


class _Section(msgspec.Struct, frozen=True):
    """The cases with one verdict."""

    verdict: Verdict
    results: list[CaseResult]
    open: bool


def render(run: Run) -> str:
    """The document, with a line break at its end."""
    summary, header = summarize(run), run.header
    about = [header.target, header.description, header.rules, clock_words(header)]
    sections = [
        _Section(verdict, results, verdict in (Verdict.FAIL, Verdict.XPASS))
        for verdict in _ORDER
        if (results := [result for result in run.results if result.verdict is verdict])
    ]
    return str(
        filled(
            "report/templates/summary.md.j2",
            summary=summary,
            header=header,
            sign=_SIGNS[summary.conclusion],
            classes=class_line(summary),
            tally=tally(summary),
            about=" · ".join(part for part in about if part),
            sections=sections,
            shown=_SHOWN,
            name=_name,
            facts=_facts,
        )
    )


def _name(result: CaseResult) -> str:
    return result.quirk or (result.failure.statement if result.failure is not None else result.case)


def _facts(result: CaseResult) -> str:
    """Preformatted text in HTML, because no text can end it."""
    failure = result.failure
    facts = [("why", result.reason)]
    if failure is not None:
        facts += [
            ("statement", f"{failure.statement}: {failure.text}"),
            ("expected", failure.expected),
            ("actual", failure.actual),
            ("frame", failure.where or "none: nothing was received"),
            ("source", source_line(failure)),
        ]
    facts += [("case", result.case), ("replay", failure.replay if failure is not None else "")]
    lines = [
        f"{name:<11}{_cut(visible(value, keep_lines=True))}".replace("\n", "\n" + " " * 11)
        for name, value in facts
        if value
    ]
    return escape("\n".join(lines), quote=False)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({_LONGEST} of {len(text)} characters)"
