"""Writes reports from a record: the formats that can be made again at any time, from recorded events alone.

Allure is not among them: allure-pytest writes its results while the cases run (:mod:`harness.report.allure`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from harness.report import html, json_report, junit
from harness.report.results import Run
from harness.trace import Trace, TraceError, read_trace

__all__ = ["FORMATS", "load_traces", "write_reports"]

Traces = Mapping[str, Trace]

FORMATS: dict[str, tuple[str, Callable[[Run, Traces], str]]] = {
    "html": ("report.html", html.render),
    "json": ("result.json", lambda run, _: json_report.render(run)),
    "junit": ("junit.xml", lambda run, _: junit.render(run)),
}
"""Name of a format -> name of its file, and what renders it."""


def write_reports(run: Run, formats: Iterable[str], directory: Path) -> list[Path]:
    """Write these formats beside the record of the run; the paths, in the order of ``formats``.

    Raises:
        KeyError: a format that is none of :data:`FORMATS`.
        OSError: the directory cannot be written.
    """
    traces = load_traces(run, directory)
    written = []
    for name in formats:
        file, render = FORMATS[name]
        path = directory / file
        path.write_text(render(run, traces), encoding="utf-8")
        written.append(path)
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
