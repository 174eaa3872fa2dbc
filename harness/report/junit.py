"""The result of a run as JUnit XML, in the dialect that Jenkins, GitLab and GitHub's actions all read.

Invariants:

1. One ``testsuite`` for each chapter, one ``testcase`` for each planned case, run or not.
2. ``fail`` and ``xpass`` are a ``failure``; ``error`` and ``flaky`` an ``error``; ``blocked``,
   ``unsupported``, ``later``, ``xfail``, ``quirk`` and what never ran are ``skipped`` with their reason; the
   rest passes. ``skipped`` is what pytest writes for an expected failure, and what every reader shows without
   failing: a green tick at a statement that does not hold would be a lie.
3. What fails a run without failing a case (a stale entry of the baseline, in a strict run a quirk not seen)
   is one more test case, which fails.
4. Readers of this format know no "inconclusive": a run that exits neither 0 nor 1 gets one more test case,
   which is an ``error``, so that none of them shows green where nothing was measured.
5. No character that XML forbids, whatever a target sent.
"""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

from harness.report.cause_words import deed_text, sent_text
from harness.report.results import CaseResult, PlannedCase, Run, RunHeader, Verdict
from harness.report.text import difference, fixed, source_line, visible
from harness.report.verdicts import Counts, Summary, count, summarize

_ELEMENTS = {
    Verdict.FAIL: "failure",
    Verdict.XPASS: "failure",
    Verdict.ERROR: "error",
    Verdict.FLAKY: "error",
    Verdict.BLOCKED: "skipped",
    Verdict.UNSUPPORTED: "skipped",
    Verdict.LATER: "skipped",
    Verdict.XFAIL: "skipped",
    Verdict.QUIRK: "skipped",
}


def render(run: Run) -> str:
    """The document, with its XML declaration."""
    summary = summarize(run)
    root = ElementTree.Element("testsuites", {"name": "rmq-harness"})
    done = {result.case: result for result in run.results}
    for chapter, counts in summary.chapters.items():
        planned = [case for case in run.header.cases if case.chapter == chapter]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            {"name": chapter, "time": _time(counts.seconds), "timestamp": run.header.started},
        )
        _properties(suite, [*_about(run.header, summary.unseen), *_classes(summary)])
        for case in planned:
            _case(suite, case, done.get(case.name), run.header)
    stale = [*summary.stale, *(summary.unseen if run.header.strict else ())]
    if stale or summary.exit_status not in (0, 1):
        _conclusion(root, run, summary, stale)
    for suite in root:
        _total(suite, suite.findall("testcase"))
    _total(root, root.findall("testsuite/testcase"))
    root.set("time", _time(count(run.results, summary.cases.total).seconds))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _case(
    suite: ElementTree.Element, planned: PlannedCase, result: CaseResult | None, header: RunHeader
) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        {
            "classname": f"rmq-harness.{planned.chapter}",
            "name": planned.name,
            "time": _time(result.seconds if result is not None else 0.0),
        },
    )
    _properties(
        case,
        [
            *(("statement", statement) for statement in planned.statements),
            ("level", planned.level),
            ("class", planned.class_),
            ("profile", header.profile),
            ("verdict", result.verdict if result is not None else "not run"),
            *([("quirk", result.quirk)] if result is not None and result.quirk else []),
            *([("blocked by", result.blocked_by)] if result is not None and result.blocked_by else []),
            *([("trace", result.trace)] if result is not None and result.trace else []),
        ],
    )
    if result is None:
        ElementTree.SubElement(case, "skipped", {"type": "not run", "message": "the case did not run"})
        return
    element = _ELEMENTS.get(result.verdict)
    message, facts = _facts(result)
    if element is not None:
        outcome = ElementTree.SubElement(
            case, element, {"type": result.verdict, "message": visible(message) or result.verdict}
        )
        if element != "skipped":
            outcome.text = facts
            return
    if facts or message:
        ElementTree.SubElement(case, "system-out").text = facts or visible(message)


def _facts(result: CaseResult) -> tuple[str, str]:
    """One line, and the facts below it."""
    failure = result.failure
    if failure is None:
        return result.reason, visible(result.detail, keep_lines=True)
    lines = [
        ("statement", failure.statement),
        ("text", failure.text),
        ("done", deed_text(failure)),
        ("sent", sent_text(failure)),
        ("expected", failure.expected),
        ("actual", failure.actual),
        ("frame", failure.where),
        ("fixed", fixed(failure)),
        ("source", source_line(failure)),
        ("your log", "\n".join(result.log)),
        ("replay", failure.replay),
    ]
    facts = "\n".join(f"{name + ':':<11}{value}" for name, value in lines if value)
    return result.reason or difference(failure), visible(facts, keep_lines=True)


def _conclusion(root: ElementTree.Element, run: Run, summary: Summary, stale: list[str]) -> None:
    suite = ElementTree.SubElement(root, "testsuite", {"name": "conclusion", "time": _time(0.0)})
    suite.set("timestamp", run.header.started)
    if stale:
        lines = visible("\n".join(stale), keep_lines=True)
        case = _outside(suite, "what is known is still so")
        ElementTree.SubElement(case, "failure", {"type": "stale", "message": visible(stale[0])}).text = lines
    if summary.exit_status not in (0, 1):
        why = f"{summary.headline}, exit {summary.exit_status}: {summary.why}"
        case = _outside(suite, "the run is conclusive")
        ElementTree.SubElement(case, "error", {"type": summary.conclusion, "message": visible(why)})


def _outside(suite: ElementTree.Element, name: str) -> ElementTree.Element:
    """A test case that is no case of the catalogue."""
    attributes = {"classname": "rmq-harness", "name": name, "time": _time(0.0)}
    return ElementTree.SubElement(suite, "testcase", attributes)


def _about(header: RunHeader, missed: tuple[str, ...]) -> list[tuple[str, str]]:
    return [
        ("suite", header.suite),
        ("target", header.target),
        ("target description", header.description),
        ("role", header.role),
        ("profile", header.profile),
        ("clock", header.clock),
        ("catalogue", header.catalogue),
        ("strict", str(header.strict).lower()),
        *([("server", header.server)] if header.server else []),
        *(("quirk not seen", line) for line in missed),
        *([("seed", str(header.seed))] if header.seed is not None else []),
    ]


def _classes(summary: Summary) -> list[tuple[str, str]]:
    """How many cases of each class hold in the whole run."""
    counted: list[tuple[str, Counts]] = [("cases that hold", summary.cases), *summary.classes.items()]
    return [(name, f"{one.holding} of {one.total} {one.mark}") for name, one in counted]


def _properties(parent: ElementTree.Element, pairs: list[tuple[str, str]]) -> None:
    properties = ElementTree.SubElement(parent, "properties")
    for name, value in pairs:
        ElementTree.SubElement(properties, "property", {"name": name, "value": visible(value)})


def _total(element: ElementTree.Element, cases: list[ElementTree.Element]) -> None:
    outcomes = Counter(child.tag for case in cases for child in case)
    element.set("tests", str(len(cases)))
    element.set("failures", str(outcomes["failure"]))
    element.set("errors", str(outcomes["error"]))
    element.set("skipped", str(outcomes["skipped"]))


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
