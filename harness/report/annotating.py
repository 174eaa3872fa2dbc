"""Lines that mark a log of GitHub's workflows, one for each cause: the errors that its page shows on top.

Source: https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from harness.report.cause_words import Explained, explained
from harness.report.results import Run
from harness.report.text import visible
from harness.report.verdicts import Summary, summarize

_MOST = 9
"""Causes that are marked: GitHub shows ten errors of a step, and one says what the run came to."""
_PLACES = (
    re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)'),
    re.compile(
        r"(?P<file>[\w./\\-]+\.(?:c|cc|cpp|cs|go|java|js|kt|php|py|rb|rs|scala|swift|ts)):(?P<line>\d+)"
    ),
)
"""How a server's log names a line of its source."""


def render(run: Run) -> str:
    """One command a line; nothing where nothing is wrong."""
    summary = summarize(run)
    if summary.exit_status == 0:
        return ""
    lines = [_conclusion(run, summary), *(_stale(summary.stale))]
    lines += [_cause(one) for one in explained(run).causes[:_MOST]]
    return "".join(f"{line}\n" for line in lines)


def _conclusion(run: Run, summary: Summary) -> str:
    message = f"{summary.why}; exit {summary.exit_status}"
    return _command(f"RocketMQ {run.header.judged}: {summary.conclusion}", message)


def _stale(entries: Iterable[str]) -> Iterator[str]:
    return (_command("Stale entry of the baseline", entry) for entry in entries)


def _cause(one: Explained) -> str:
    facts = (
        ("expected", one.expected),
        ("actual", one.actual),
        ("because", f"{one.because} ({one.statement})"),
        ("again", one.again),
    )
    message = "\n".join(f"{name}: {visible(text)}" for name, text in facts if text)
    return _command(visible(one.title), message, _place(one.log))


def _place(log: Iterable[str]) -> str:
    """`file=…,line=…` of the first line of source that the server's log names; empty where it names none."""
    for text in log:
        for form in _PLACES:
            if found := form.search(text):
                return f"file={_property(found['file'])},line={found['line']}"
    return ""


def _command(title: str, message: str, place: str = "") -> str:
    properties = ",".join(filter(None, [place, f"title={_property(title)}"]))
    return f"::error {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
