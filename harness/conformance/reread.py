"""A recorded run, with what the catalogue says today about statements, releases and known defects.

What was measured stays. What only the catalogue knows (the class of a statement, the release that it came
with or that mends it, the quirk that a failure is) is taken from the catalogue of this installation, so that
a change of it needs no new measurement.
"""

from __future__ import annotations

import msgspec

from harness.catalogue import (
    Catalogue,
    Quirk,
    UnknownServer,
    catalogue,
    explanation,
    fixes,
    known_quirks,
    missing_from,
    release_of,
)
from harness.conformance.selection import quirk_summaries, summary
from harness.report.results import CaseResult, Run, Verdict

_BROKEN = (Verdict.FAIL, Verdict.DEVIATES, Verdict.OBSERVED)
_JUDGED = (*_BROKEN, Verdict.QUIRK, Verdict.UNSUPPORTED, Verdict.BLOCKED, Verdict.FLAKY)


def reread(run: Run) -> Run:
    """The run as today's catalogue reads it."""
    header = run.header
    known = catalogue().of(header.role)
    try:
        quirks = known_quirks(header.role, header.server)
    except UnknownServer:
        quirks = ()
    statements = tuple(
        summary(current) if (current := known.statement(one.id)) is not None else one
        for one in header.statements
    )
    header = msgspec.structs.replace(
        header, statements=statements, quirks=quirk_summaries(quirks, header.cases)
    )
    release = release_of(header.server)
    results = tuple(_judged(one, known, quirks, release) for one in run.results)
    return msgspec.structs.replace(run, header=header, results=results)


def _judged(result: CaseResult, known: Catalogue, quirks: tuple[Quirk, ...], release: str) -> CaseResult:
    if result.verdict not in _JUDGED:
        return result
    statements = [one for name in result.statements if (one := known.statement(name)) is not None]
    if late := missing_from(statements, release):
        return msgspec.structs.replace(
            result,
            verdict=Verdict.LATER,
            reason=f"not in this release: came with {late}",
            failure=None,
            quirk="",
        )
    failure = result.failure
    if failure is None:
        return result
    about = known.statement(failure.statement)
    found = fixes(about, known.reports, release) if about is not None else ()
    result = msgspec.structs.replace(result, failure=msgspec.structs.replace(failure, fixes=found))
    if result.verdict not in _BROKEN or failure.allowed:
        return result
    quirk = explanation(quirks, result.case, failure.expected, failure.actual)
    if quirk is None:
        return result
    return msgspec.structs.replace(result, verdict=Verdict.QUIRK, reason=quirk.instead, quirk=quirk.id)
