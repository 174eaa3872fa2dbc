"""What the record of the run before says to the next one: which cases still fail, and how long each takes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from harness.catalogue import Role
from harness.conformance.loading import FIRST, LAST, cases
from harness.report.results import FILE_NAME, RecordError, Run, Verdict, read_run

FAILING = (Verdict.FAIL, Verdict.XPASS, Verdict.BLOCKED, Verdict.FLAKY, Verdict.ERROR)
"""Verdicts after which a case is tried again."""


def last_record(directory: Path) -> Run | None:
    """The record in a directory; None where there is none that can be read."""
    try:
        return read_run(directory / FILE_NAME)
    except RecordError:
        return None


def failed_before(before: Run | None, target: str, role: Role, profile: str) -> tuple[str, ...]:
    """The failures of the record that another one of the same target replaces."""
    if before is None:
        return ()
    header = before.header
    if (header.target, header.role, header.profile) != (target, role, profile):
        return ()
    known = {one.name for one in cases(role=role)}
    return tuple(name for name in still_failing(before) if name in known)


def not_failing(run: Run) -> dict[Verdict, int]:
    """How many cases of a record, and of those before it, do not fail, by what they came to.

    Cases that every run has are not counted.
    """
    failing = set(still_failing(run))
    found = Counter(run.header.not_tried_again)
    found.update(
        result.verdict
        for result in run.results
        if result.case not in failing and result.chapter not in (*FIRST, *LAST)
    )
    return {verdict: found[verdict] for verdict in Verdict if found[verdict]}


def still_failing(run: Run) -> tuple[str, ...]:
    """The cases that failed in a record, or in those before it and have no result since, in their order."""
    done = {result.case for result in run.results}
    failed = {result.case for result in run.results if result.verdict in FAILING}
    failed |= set(run.header.failed_before) - done
    planned = [case.name for case in run.header.cases]
    return (
        *(name for name in planned if name in failed),
        *(name for name in run.header.failed_before if name in failed and name not in planned),
    )
