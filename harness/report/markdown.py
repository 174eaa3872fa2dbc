"""The result of a run in Markdown, for a pull request or the summary of a CI job: read in ten seconds.

Invariants:

1. The verdict with its denominators comes first, then causes, then all that is wrong, then what is known.
2. Text from a target stands in code, where neither Markdown nor HTML is interpreted.
3. It stays far below GitHub's limit of a megabyte: after a number of failures the rest is counted.
"""

from __future__ import annotations

from html import escape

import msgspec

from harness.report.cause_words import Explained, deed_lines, deed_text, explained, sent_lines, sent_text
from harness.report.results import CaseResult, Run, Verdict
from harness.report.templating import filled
from harness.report.text import class_line, clock_words, fixed, source_line, tally, visible
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
    *(Verdict.QUIRK, Verdict.XFAIL, Verdict.DEVIATES, Verdict.OBSERVED, Verdict.UNSUPPORTED, Verdict.LATER),
)
"""What is wrong, then what is known."""
_SHOWN = 25
_CAUSES = 15
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
    found = explained(run)
    unfolded = (Verdict.XPASS,) if found.causes else (Verdict.FAIL, Verdict.XPASS)
    sections = [
        _Section(verdict, results, verdict in unfolded)
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
            found=found,
            causes_shown=_CAUSES,
            sections=sections,
            shown=_SHOWN,
            name=_name,
            facts=_facts,
            cause=_cause,
        )
    )


def _name(result: CaseResult) -> str:
    return result.quirk or (result.failure.statement if result.failure is not None else result.case)


def _facts(result: CaseResult) -> str:
    failure = result.failure
    facts = [("why", result.reason)]
    if failure is not None:
        facts += [
            ("statement", f"{failure.statement}: {failure.text}"),
            ("done", deed_text(failure)),
            ("sent", sent_text(failure)),
            ("expected", failure.expected),
            ("actual", failure.actual),
            ("frame", failure.where or "none: nothing was received"),
            ("fixed", fixed(failure)),
            ("source", source_line(failure)),
        ]
    facts += [
        ("your log", "\n".join(result.log)),
        ("case", result.case),
        ("replay", failure.replay if failure is not None else ""),
    ]
    return _preformatted(facts)


def _cause(one: Explained) -> str:
    return _preformatted(
        [
            ("done", "\n".join(_cut(line) for line in deed_lines(one))),
            ("sent", "\n".join(_cut(line) for line in sent_lines(one))),
            ("expected", one.expected),
            ("actual", one.actual),
            ("frame", one.where),
            ("because", f"{one.because} ({one.statement})"),
            ("your log", "\n".join(one.log)),
            ("again", one.again),
        ]
    )


def _preformatted(facts: list[tuple[str, str]]) -> str:
    """Text in HTML, because no text can end it."""
    lines = [
        f"{name:<11}{_cut(visible(value, keep_lines=True))}".replace("\n", "\n" + " " * 11)
        for name, value in facts
        if value
    ]
    return escape("\n".join(lines), quote=False)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({_LONGEST} of {len(text)} characters)"
