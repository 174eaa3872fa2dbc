"""Writes reports from a record: the formats that can be made again at any time, from recorded events alone.

Allure is not among them: allure-pytest writes its results while the cases run (:mod:`harness.report.allure`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from harness.report import annotating, badge, html, json_report, junit, markdown
from harness.report.results import Run
from harness.trace import Trace, TraceError, read_trace

Traces = Mapping[str, Trace]

FORMATS: dict[str, tuple[str, Callable[[Run, Traces], str]]] = {
    "html": ("report.html", html.render),
    "json": ("result.json", lambda run, _: json_report.render(run)),
    "junit": ("junit.xml", lambda run, _: junit.render(run)),
    "markdown": ("summary.md", lambda run, _: markdown.render(run)),
    "badge": ("badge.svg", lambda run, _: badge.render(run)),
    "annotations": ("annotations.txt", lambda run, _: annotating.render(run)),
}
"""Name of a format -> name of its file, and what renders it."""


class Written(msgspec.Struct, frozen=True):
    """The reports that were written, in the order in which they were asked for, and why others were not."""

    paths: list[Path]
    refused: list[str]


def write_reports(run: Run, formats: Iterable[str], directory: Path) -> Written:
    """Write these formats beside the record of the run.

    A badge is not drawn from a run that settles nothing. One of an earlier run is left as it is, and said to
    be: it is the user's to keep or to take away.

    Raises:
        KeyError: a format that is none of :data:`FORMATS`.
        OSError: the directory cannot be written.
    """
    traces = load_traces(run, directory)
    written = Written([], [])
    for name in formats:
        file, render = FORMATS[name]
        path = directory / file
        try:
            text = render(run, traces)
        except badge.BadgeRefusedError as refusal:
            stands = f"; {path} is that of an earlier run" if path.exists() else ""
            written.refused.append(f"no badge is drawn, because {refusal}{stands}")
            continue
        path.write_text(text, encoding="utf-8")
        written.paths.append(path)
    return written


def load_traces(run: Run, directory: Path) -> dict[str, Trace]:
    """The traces that the results name, by the path that they name. One that cannot be read is left out."""
    named = {result.trace for result in run.results}
    named |= {result.failure.trace for result in run.results if result.failure is not None}
    traces = {}
    for path in named - {None}:
        assert path is not None
        try:
            traces[path] = read_trace(directory / path)
        except (OSError, TraceError):
            continue
    return traces
