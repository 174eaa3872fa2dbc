"""The result of a run as one HTML page that needs nothing but itself.

Rules of this module:

1. The page loads nothing, from disk or network, and its own policy (``Content-Security-Policy``) forbids that
   and every script but the one whose digest it names.
2. The first screen is the verdict with its denominators and one line for each chapter.
3. No number without the number that it is a part of.
4. Every text is escaped by :mod:`harness.report.markup`; nothing here writes markup from a value.
5. Headings in order, tables with headers, verdicts in words as well as colours: it can be read aloud and
   printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.report.diagram import STYLE as DIAGRAM_STYLE
from harness.report.diagram import sequence_diagram
from harness.report.hexdump import hexdump
from harness.report.html_assets import SCRIPT
from harness.report.markup import Child, Markup, element, join
from harness.report.page import document
from harness.report.results import CaseResult, Failure, FieldLine, Run, RunHeader, Verdict
from harness.report.text import VERDICT_HELP, clock_words, counted, seconds, source_line
from harness.report.verdicts import Conclusion, Counts, Summary, gravest, summarize
from harness.trace import Trace

__all__ = ["render"]

_SIGNS = {
    Verdict.PASS: "✔",
    Verdict.FAIL: "✘",
    Verdict.XFAIL: "⊘",
    Verdict.XPASS: "✘",
    Verdict.QUIRK: "≠",
    Verdict.DEVIATES: "≈",
    Verdict.OBSERVED: "○",
    Verdict.UNSUPPORTED: "–",
    Verdict.BLOCKED: "■",
    Verdict.FLAKY: "∿",
    Verdict.ERROR: "!",
}
_TONES = {
    Conclusion.CONFORMANT: "pass",
    Conclusion.NOT_CONFORMANT: "fail",
    Conclusion.INCONCLUSIVE: "blocked",
    Conclusion.ERROR: "error",
    Conclusion.INTERRUPTED: "blocked",
}
_ORDER = (
    Verdict.FAIL,
    Verdict.XPASS,
    Verdict.ERROR,
    Verdict.BLOCKED,
    Verdict.FLAKY,
    Verdict.XFAIL,
    Verdict.QUIRK,
    Verdict.DEVIATES,
    Verdict.OBSERVED,
    Verdict.UNSUPPORTED,
)
"""Sections of what is not plainly passed: first what decides the exit status."""
_NOT_RUN = "not run"
_OPEN_GROUP = 5


def render(run: Run, traces: Mapping[str, Trace] | None = None) -> str:
    """The page. ``traces`` holds recorded traces by the path that the results name; a missing one is said."""
    summary = summarize(run)
    title = f"{summary.conclusion} · {run.header.target} · rmq-harness"
    main = element(
        "main",
        _chapters(summary),
        _levels(summary),
        _wrong(run, summary, traces or {}),
        _cases(run, summary),
        _coverage(run, summary),
        _legend(),
    )
    return document(
        title, _first_screen(run, summary), main, _footer(run), style=DIAGRAM_STYLE, script=SCRIPT
    )


# the first screen ---------------------------------------------------------------------------------


def _first_screen(run: Run, summary: Summary) -> Markup:
    header, cases = run.header, summary.cases
    verdicts = [verdict for verdict in Verdict if cases[verdict] or verdict in (Verdict.PASS, Verdict.FAIL)]
    counts = [
        element("li", _strong(counted(cases[verdict], verdict)), class_=verdict.value) for verdict in verdicts
    ]
    if cases.not_run:
        counts.append(element("li", _strong(f"{cases.not_run} not run"), class_="not-run"))
    counts.append(element("li", f"of {_plural(cases.total, 'case')}", class_="quiet"))
    statements = (
        f"{summary.statements_measured} of {summary.statements_total} statements measured, "
        f"{summary.statements_selected} of {summary.statements_total} selected; "
        f"{cases.total} of {summary.cases_available} cases selected"
    )
    about = [header.target, header.description, header.rules, clock_words(header)]
    return element(
        "header",
        element(
            "h1",
            element("span", summary.conclusion, class_=_TONES[summary.conclusion]),
            " ",
            element("small", f"exit {summary.exit_status}"),
        ),
        element("p", summary.why, class_="why"),
        element("p", " · ".join(part for part in about if part), class_="about"),
        element("ul", *counts, class_="counts"),
        element("p", statements, class_="about"),
    )


def _strong(text: str) -> Markup:
    number, _, words = text.partition(" ")
    return join([element("b", number), f" {words}"])


def _chapters(summary: Summary) -> Markup:
    rows = [_count_row(name, counts, timed=True) for name, counts in summary.chapters.items()]
    return element(
        "section",
        element("h2", "Chapters ", element("small", f"{_plural(summary.cases.total, 'case')} in all")),
        _count_table("Chapter", rows, timed=True),
        aria_label="Chapters",
    )


def _levels(summary: Summary) -> Markup:
    rows = [_count_row(name, counts, timed=False) for name, counts in summary.levels.items() if counts.total]
    return element(
        "section",
        element("h2", "Levels ", element("small", f"{_plural(summary.cases.total, 'case')} in all")),
        _count_table("Level", rows, timed=False),
        aria_label="Levels",
    )


def _count_table(first: str, rows: list[Markup], *, timed: bool) -> Markup:
    heads = [(first, None), ("Result", None), ("Passed", "number"), ("Otherwise", None)]
    heads += [("Time", "number")] if timed else []
    return element(
        "table",
        element(
            "thead", element("tr", *(element("th", head, scope="col", class_=kind) for head, kind in heads))
        ),
        element("tbody", *rows),
        class_="chapters",
    )


def _count_row(name: str, counts: Counts, *, timed: bool) -> Markup:
    others = [
        element("span", counted(number, verdict), class_=verdict.value)
        for verdict, number in counts.verdicts.items()
        if verdict is not Verdict.PASS
    ]
    if counts.not_run:
        others.append(element("span", f"{counts.not_run} not run", class_="not-run"))
    time = seconds(counts.seconds) if counts.done else "–"
    return element(
        "tr",
        element("th", name, scope="row"),
        element("td", _bar(name, counts), class_="bars"),
        element("td", f"{counts[Verdict.PASS]} of {counts.total}", class_="number"),
        element("td", join(others, ", "), class_="rest"),
        element("td", time, class_="number time") if timed else None,
    )


def _bar(name: str, counts: Counts) -> Markup:
    parts = [
        element("i", class_=verdict.value, style=f"width:{100 * number / counts.total:.3f}%")
        for verdict, number in counts.verdicts.items()
    ]
    words = ", ".join(counted(number, verdict) for verdict, number in counts.verdicts.items()) or "none run"
    return element(
        "div", *parts, class_="bar", role="img", aria_label=f"{name}: {words}, of {counts.total} cases"
    )


# what is wrong ------------------------------------------------------------------------------------


def _wrong(run: Run, summary: Summary, traces: Mapping[str, Trace]) -> Markup:
    sections = []
    of = f"of {_plural(summary.cases.total, 'case')}"
    for verdict in _ORDER:
        results = [result for result in run.results if result.verdict is verdict]
        if not results:
            continue
        alone = [r for r in results if r.failure is not None or r.detail]
        together: dict[str, list[CaseResult]] = {}
        for result in results:
            if result not in alone:
                together.setdefault(result.reason, []).append(result)
        heading = counted(len(results), verdict)
        sections.append(
            element(
                "section",
                element("h2", f"{heading} ", element("small", f"{of}: {VERDICT_HELP[verdict]}")),
                *(_unfolding(result, traces, open_=len(results) == 1) for result in alone),
                *(_group(reason, group, len(results)) for reason, group in together.items()),
            )
        )
    if summary.stale:
        about = element("small", f"in {run.header.baseline}: each fails the run")
        lines = element("ul", *(element("li", line) for line in summary.stale))
        count = "1 stale entry" if len(summary.stale) == 1 else f"{len(summary.stale)} stale entries"
        sections.append(element("section", element("h2", f"{count} of the baseline ", about), lines))
    if summary.unseen:
        about = element(
            "small", f"of {_plural(len(run.header.quirks), 'quirk')} known of {run.header.server}"
        )
        lines = element("ul", *(element("li", line) for line in summary.unseen))
        heading = f"{len(summary.unseen)} quirks not seen "
        sections.append(element("section", element("h2", heading, about), lines))
    done = {result.case for result in run.results}
    missing = [case for case in run.header.cases if case.name not in done]
    if missing:
        names = element("p", ", ".join(case.name for case in missing), class_="mono")
        about = element("small", f"{of}: the run ended before")
        sections.append(element("section", element("h2", f"{len(missing)} not run ", about), names))
    return join(sections)


def _group(reason: str, results: list[CaseResult], total: int) -> Markup:
    """Cases that have nothing to show but one and the same reason."""
    items = [
        element(
            "li",
            element(
                "strong", f"{_SIGNS[result.verdict]} {result.case}", class_=f"mono {result.verdict.value}"
            ),
            f" {result.level} · {result.title}",
            id=_anchor(result.case),
        )
        for result in results
    ]
    return element(
        "details",
        element(
            "summary",
            element("span", f"{len(results)} of {total}", class_="level"),
            reason or "no reason was recorded",
        ),
        element("ul", *items, class_="inside"),
        open=len(results) <= _OPEN_GROUP,
    )


def _unfolding(result: CaseResult, traces: Mapping[str, Trace], *, open_: bool) -> Markup:
    failure = result.failure
    name = result.quirk or (failure.statement if failure is not None else result.case)
    line = failure.text if failure is not None else result.title
    line = result.reason if result.quirk else line
    inside = _six_facts(result, failure, traces) if failure is not None else _reason(result, traces)
    return element(
        "details",
        element(
            "summary",
            element("span", result.level, class_="level"),
            element("strong", f"{_SIGNS[result.verdict]} {name}", class_=f"mono {result.verdict.value}"),
            element("span", line, class_="line"),
        ),
        element("div", inside, class_="inside"),
        id=_anchor(result.case),
        open=open_,
    )


def _reason(result: CaseResult, traces: Mapping[str, Trace]) -> Markup:
    facts = [
        ("case", result.case),
        ("statements", "\n".join(result.statements)),
        ("why", result.reason or "no reason was recorded"),
    ]
    stack = element("pre", result.detail, tabindex=0) if result.detail else None
    return join([_facts(facts), stack, _story(result.trace, None, traces)])


def _six_facts(result: CaseResult, failure: Failure, traces: Mapping[str, Trace]) -> Markup:
    facts = [
        ("statement", f"{failure.text} ({failure.statement}, {result.level})"),
        ("quirk", result.quirk),
        ("why", result.reason),
        ("expected", failure.expected),
        ("actual", failure.actual),
        ("frame", failure.where or "none: nothing came"),
        ("source", source_line(failure)),
        ("replay", failure.replay),
        ("case", f"{result.case}, {seconds(result.seconds)}"),
    ]
    frame = _frame(failure) if failure.frame_hex else None
    return join([_facts(facts), frame, _story(failure.trace, failure.frame_no, traces)])


def _story(path: str | None, decisive: int | None, traces: Mapping[str, Trace]) -> Markup:
    trace = traces.get(path or "")
    if trace is None:
        why = f"The trace {path} was not there when this page was made." if path else "No trace was recorded."
        return element("p", why, class_="quiet")
    drawing = sequence_diagram(trace.events, decisive, style=False)
    scroll = element("div", drawing, class_="scroll", tabindex=0, role="group", aria_label="Sequence diagram")
    return join([element("h3", "What happened"), scroll])


def _facts(facts: Iterable[tuple[str, str]]) -> Markup:
    pairs = [
        join([element("dt", name), element("dd", value, class_="mono" if name not in _PROSE else None)])
        for name, value in facts
        if value
    ]
    return element("dl", *pairs, class_="facts")


_PROSE = ("statement", "why", "source")


def _frame(failure: Failure) -> Markup:
    way = {"sent": "to the target", "received": "from the target"}.get(failure.direction or "", "")
    number = f" #{failure.frame_no}" if failure.frame_no is not None else ""
    return join(
        [
            element("h3", f"Decisive frame{number} {way}".strip()),
            hexdump(bytes.fromhex(failure.frame_hex), failure.start, failure.end),
            _fields(failure.fields) if failure.fields else None,
        ]
    )


def _fields(fields: tuple[FieldLine, ...]) -> Markup:
    heads = element("tr", *(element("th", head, scope="col") for head in ("Bytes", "Field", "Value")))
    rows = [
        element(
            "tr",
            element("td", f"{field.start}–{field.end}", class_="mono"),
            element("th", field.name + (" (decisive)" if field.decisive else ""), scope="row"),
            element("td", field.value, class_="mono"),
            class_="decisive" if field.decisive else None,
        )
        for field in fields
    ]
    table = element("table", element("thead", heads), element("tbody", *rows))
    return element("div", table, class_="scroll", tabindex=0, role="group", aria_label="Decoded fields")


# lists --------------------------------------------------------------------------------------------


def _cases(run: Run, summary: Summary) -> Markup:
    done = {result.case: result for result in run.results}
    rows = []
    for case in run.header.cases:
        result = done.get(case.name)
        verdict = result.verdict if result is not None else _NOT_RUN
        told = result is not None and result.verdict is not Verdict.PASS
        name = element("a", case.name, href=f"#{_anchor(case.name)}") if told else case.name
        rows.append(
            element(
                "tr",
                element("td", _verdict(result.verdict if result is not None else None)),
                element("th", name, scope="row", class_="mono"),
                element("td", case.title),
                element("td", case.chapter, data_name="chapter"),
                element("td", case.level, data_name="level"),
                element("td", f"{result.seconds:.3f} s" if result is not None else "–", class_="number"),
                data_verdict=verdict,
            )
        )
    present = [*summary.cases.verdicts, *([_NOT_RUN] if summary.cases.not_run else [])]
    options = [element("option", "every verdict", value="")]
    options += [element("option", verdict, value=verdict) for verdict in present]
    total = _plural(len(rows), "case")
    return element(
        "section",
        element("h2", "All cases ", element("small", f"{total}, of {summary.cases_available} that apply")),
        element(
            "div",
            element(
                "input",
                id="words",
                type="search",
                placeholder="Filter by words",
                aria_label="Filter by words",
            ),
            element("select", *options, id="verdict", aria_label="Filter by verdict"),
            element("output", f"{len(rows)} of {total} shown", id="shown", aria_live="polite"),
            class_="filter",
        ),
        _list_table(["Verdict", "Case", "What it shows", "Chapter", "Level", "Time"], rows, "cases"),
    )


def _coverage(run: Run, summary: Summary) -> Markup:
    results: dict[str, list[CaseResult]] = {}
    for result in run.results:
        for statement in result.statements:
            results.setdefault(statement, []).append(result)
    planned: dict[str, int] = {}
    for case in run.header.cases:
        for statement in case.statements:
            planned[statement] = planned.get(statement, 0) + 1
    rows = []
    for one in run.header.statements:
        found = results.get(one.id, [])
        verdict = gravest(result.verdict for result in found)
        state: Child = _verdict(verdict) if found or planned.get(one.id) else "not selected"
        if one.untestable is not None:
            state = f"untestable: {one.untestable}"
        rows.append(
            element(
                "tr",
                element("td", state),
                element("th", one.id, scope="row", class_="mono"),
                element("td", one.text),
                element("td", one.level, data_name="level"),
                element(
                    "td", f"{len(found)} of {planned.get(one.id, 0)}", data_name="cases run", class_="number"
                ),
                element("td", source_line(one)),
            )
        )
    about = (
        f"{summary.statements_measured} of {summary.statements_total} statements measured, "
        f"{summary.statements_untestable} of {summary.statements_total} untestable"
    )
    heads = ["Verdict", "Statement", "Text", "Level", "Cases run", "Source"]
    return element(
        "section",
        element("h2", "The catalogue ", element("small", about)),
        element(
            "details",
            element(
                "summary", f"All {summary.statements_total} statements that apply under {run.header.profile}"
            ),
            element("div", _list_table(heads, rows, "statements"), class_="inside"),
        ),
    )


def _list_table(heads: list[str], rows: list[Markup], name: str) -> Markup:
    head = element("tr", *(element("th", text, scope="col") for text in heads))
    return element("table", element("thead", head), element("tbody", *rows), class_="list", id=name)


def _legend() -> Markup:
    pairs = [
        join([element("dt", _verdict(verdict)), element("dd", VERDICT_HELP[verdict])]) for verdict in Verdict
    ]
    return element("section", element("h2", "What the verdicts mean"), element("dl", *pairs, class_="facts"))


def _footer(run: Run) -> Markup:
    header, end = run.header, run.end
    facts = [
        f"rmq-harness {header.suite}",
        f"catalogue {header.catalogue}" if header.catalogue else "",
        f"started {header.started}",
        f"took {seconds(end.seconds)}" if end is not None else "the record was cut short",
        f"seed {header.seed}" if header.seed is not None else "",
        _selection(header),
    ]
    return element(
        "footer",
        element("p", " · ".join(fact for fact in facts if fact)),
        element("p", element("code", " ".join(header.command))) if header.command else None,
    )


def _selection(header: RunHeader) -> str:
    chosen = [f"--select {one}" for one in header.select] + [f"--exclude {one}" for one in header.exclude]
    return " ".join([*chosen, *(["--strict"] if header.strict else [])])


def _verdict(verdict: Verdict | None) -> Markup:
    if verdict is None:
        return element("span", f"… {_NOT_RUN}", class_="not-run")
    return element("span", f"{_SIGNS[verdict]} {verdict}", class_=verdict.value)


def _anchor(case: str) -> str:
    return f"case-{case}"


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
