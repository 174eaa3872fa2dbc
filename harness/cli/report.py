"""`report`: any report again, from the recorded events alone."""

from __future__ import annotations

import argparse
import sys

from harness.cli.output import complain, say
from harness.cli.parser import Usage
from harness.report import json_report
from harness.report.console import Console
from harness.report.results import Run, read_run
from harness.report.verdicts import summarize
from harness.report.write import write_reports


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status of the recorded run."""
    recorded = read_run(options.run_dir)
    directory = options.run_dir if options.run_dir.is_dir() else options.run_dir.parent
    try:
        written = write_reports(recorded, [name for name in options.format if name != "console"], directory)
    except OSError as error:
        raise Usage(f"rmq-harness report: {directory}: {error.strerror}; the reports go there") from None
    paths = [str(path) for path in written.paths]
    if "console" in options.format:
        _show(recorded, Console(sys.stderr if options.json else sys.stdout), paths)
    elif paths and not options.json:
        say("\n".join(paths))
    for refusal in written.refused:
        complain(f"rmq-harness report: {refusal}")
    if options.json:
        sys.stdout.write(json_report.render(recorded))
    return summarize(recorded).exit_status


def _show(recorded: Run, console: Console, paths: list[str]) -> None:
    console.start(recorded.header)
    for result in recorded.results:
        console.case(result)
    console.finish(recorded.end, paths)
