"""Gives allure-pytest what it writes about each case. Only this module imports Allure, and only if it is
asked for.

Invariants:

1. One Allure result for each case, because one pytest item is one case: only allure-pytest writes files.
2. :func:`decorate` is called from inside the running item, in its thread, before the item ends.
3. Level, chapter, statement, profile and verdict are labels; what a person needs to judge the case is
   attached.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from harness.report.diagram import sequence_diagram
from harness.report.frames import as_text
from harness.report.hexdump import plain_hexdump
from harness.report.results import CaseResult, Failure
from harness.report.text import issue_link, source_line
from harness.trace import TraceError, read_trace

_SEVERITY = {"MUST": "critical", "SHOULD": "normal", "MAY": "minor"}


class AllureMissingError(RuntimeError):
    """Allure was asked for and is not installed; the message says how to install it."""

    def __init__(self) -> None:
        super().__init__(
            "--report allure needs allure-pytest, which is not installed; "
            "install it with: pip install 'rmq-harness[allure]'"
        )


def pytest_arguments(directory: Path) -> list[str]:
    """What pytest must be called with so that results go to ``directory``, which is emptied first.

    Raises:
        AllureMissingError: allure-pytest is not installed.
    """
    _allure()
    return [f"--alluredir={directory}", "--clean-alluredir"]


def decorate(result: CaseResult, *, profile: str, judged: str, directory: Path | None = None) -> None:
    """Label the pytest item that is running with what its case came to, and attach the evidence.

    ``judged`` is what kind of server was, in words; ``directory`` is where the run is recorded: traces are
    looked up in it.

    Raises:
        AllureMissingError: allure-pytest is not installed.
    """
    allure = _allure()
    dynamic = allure.dynamic
    dynamic.title(result.title or result.case)
    dynamic.severity(_SEVERITY[result.level])
    dynamic.label("level", result.level)
    dynamic.label("class", result.class_)
    dynamic.label("chapter", result.chapter)
    dynamic.label("statement", *result.statements)
    dynamic.label("profile", profile)
    dynamic.label("verdict", result.verdict.value)
    if result.quirk:
        dynamic.label("quirk", result.quirk)
    if result.blocked_by:
        dynamic.label("blocked by", result.blocked_by)
    dynamic.parent_suite(f"RocketMQ {judged}, profile {profile}")
    dynamic.suite(result.chapter)
    dynamic.description(_description(result))
    if result.failure is not None:
        for issue in result.failure.issues:
            dynamic.issue(issue_link(issue), issue)
        _attach_frame(allure, result.failure)
    _attach_trace(allure, result, directory)


def _allure() -> ModuleType:
    try:
        import allure
        import allure_pytest  # noqa: F401 - the plugin is what writes the files
    except ImportError:
        raise AllureMissingError from None
    return allure


def _description(result: CaseResult) -> str:
    failure = result.failure
    lines = [f"{result.verdict}: {result.reason}" if result.reason else result.verdict.value]
    if failure is not None:
        facts = {
            "statement": f"{failure.statement}: {failure.text}",
            "expected": failure.expected,
            "actual": failure.actual,
            "frame": failure.where,
            "source": source_line(failure),
            "your log": "\n".join(result.log),
            "replay": failure.replay,
        }
        lines += [f"{name}: {value}" for name, value in facts.items() if value]
    # Markdown would read the facts as markup: indented, they are text.
    return "\n".join(f"    {line}" for text in lines for line in text.splitlines())


def _attach_frame(allure: ModuleType, failure: Failure) -> None:
    if failure.frame_hex:
        text = plain_hexdump(bytes.fromhex(failure.frame_hex), failure.start, failure.end)
        name = "decisive frame" if failure.frame_no is None else f"decisive frame #{failure.frame_no}"
        allure.attach(text, name=name, attachment_type=allure.attachment_type.TEXT)


def _attach_trace(allure: ModuleType, result: CaseResult, directory: Path | None) -> None:
    path = result.trace if result.failure is None else result.failure.trace or result.trace
    if path is None or directory is None:
        return
    try:
        trace = read_trace(directory / path)
    except (OSError, TraceError) as error:
        allure.attach(
            f"{path} could not be read: {error}", name="trace", attachment_type=allure.attachment_type.TEXT
        )
        return
    decisive = result.failure.frame_no if result.failure is not None else None
    allure.attach(as_text(trace.events, decisive), name="trace", attachment_type=allure.attachment_type.TEXT)
    allure.attach(
        sequence_diagram(trace.events, decisive),
        name="sequence diagram",
        attachment_type=allure.attachment_type.SVG,
    )
