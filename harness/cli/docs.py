"""`docs`: the catalogue, rendered to read as a protocol document."""

from __future__ import annotations

import argparse

from harness.catalogue import catalogue, specs_directory
from harness.cli.output import complain, say
from harness.cli.parser import Usage
from harness.cli.status import FAILED, OK
from harness.pytest_plugin import loaded_cases
from harness.report.docs import ProvingCase, render, stale, write
from harness.report.docs_quirks import server_pages


def run(options: argparse.Namespace) -> int:
    """Runs the command; 1 where `--check` finds pages that are not up to date."""
    cases: dict[str, list[ProvingCase]] = {}
    for one in loaded_cases(unfinished=False):
        proving = ProvingCase(one.name, one.case.title, one.case.kills)
        for identifier in one.case.statements:
            cases.setdefault(identifier, []).append(proving)
    pages = {**render(catalogue(), cases), **server_pages(catalogue())}
    directory = specs_directory() / "rendered"
    if options.check:
        differences = stale(pages, directory)
        for difference in differences:
            complain(difference)
        if differences:
            complain(f"{directory} is not what the catalogue says; run: rmq-harness docs")
        return FAILED if differences else OK
    try:
        changed = write(pages, directory)
    except OSError as error:
        raise Usage(f"rmq-harness docs: {directory}: {error.strerror}; the pages go there") from None
    say(f"{len(changed)} of {len(pages)} pages changed in {directory}")
    return OK
