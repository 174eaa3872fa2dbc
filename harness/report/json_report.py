"""The result of a run as one JSON object. Its form is ``specs/schema/result.schema.json``.

Invariants:

1. Every number stands beside the number it is a part of.
2. Every verdict has its count, also those that did not occur.
3. Members are added, never renamed; ``schema`` is raised when an old reader would misunderstand.
"""

from __future__ import annotations

from typing import Any

import msgspec

from harness.report.cause_words import explained
from harness.report.results import SCHEMA, CaseResult, QuirkSummary, Run, StatementSummary, Verdict
from harness.report.verdicts import Counts, gravest, summarize


def render(run: Run) -> str:
    """The object as indented JSON with a line break at its end."""
    return msgspec.json.format(msgspec.json.encode(result_object(run)), indent=2).decode() + "\n"


def result_object(run: Run) -> dict[str, Any]:
    """The object that ``--json`` prints and ``result.json`` holds, as plain values."""
    header, end, summary, found = run.header, run.end, summarize(run), explained(run)
    done = {result.case for result in run.results}
    by_statement: dict[str, list[CaseResult]] = {}
    for result in run.results:
        for statement in result.statements:
            by_statement.setdefault(statement, []).append(result)
    planned: dict[str, list[str]] = {}
    for case in header.cases:
        for statement in case.statements:
            planned.setdefault(statement, []).append(case.name)
    return {
        "schema": SCHEMA,
        "suite": header.suite,
        "conclusion": summary.conclusion,
        "headline": summary.headline,
        "exit_status": summary.exit_status,
        "why": summary.why,
        "causes": {"sentence": found.sentence, "list": [_plain(one) for one in found.causes]},
        "complete": end is not None and not run.truncated and not summary.cases.not_run,
        "target": {"uri": header.target, "description": header.description},
        "role": header.role,
        "profile": header.profile,
        "clock": {"kind": header.clock, "warp": header.warp},
        "strict": header.strict,
        "seed": header.seed,
        "catalogue": header.catalogue,
        "select": list(header.select),
        "exclude": list(header.exclude),
        "only_failed": header.only_failed,
        "not_tried_again": {verdict.value: header.not_tried_again.get(verdict, 0) for verdict in Verdict},
        "waiting_left_out": header.waiting_left_out,
        "server": header.server or None,
        "quirks": [_quirk(one, run.results) for one in header.quirks],
        "quirks_not_seen": list(summary.unseen),
        "baseline": {"file": header.baseline or None, "stale": list(summary.stale)},
        "command": list(header.command),
        "started": header.started,
        "seconds": end.seconds if end is not None else None,
        "cases": {"available": header.cases_available, **_counts(summary.cases)},
        "chapters": [{"name": name, **_counts(counts)} for name, counts in summary.chapters.items()],
        "levels": [{"name": name, **_counts(counts)} for name, counts in summary.levels.items()],
        "classes": [{"name": name, **_counts(counts)} for name, counts in summary.classes.items()],
        "statements": {
            "total": summary.statements_total,
            "selected": summary.statements_selected,
            "measured": summary.statements_measured,
            "untestable": summary.statements_untestable,
            "list": [
                _statement(one, planned.get(one.id, []), by_statement.get(one.id, []))
                for one in header.statements
            ],
        },
        "results": [_result(result) for result in run.results],
        "not_run": [case.name for case in header.cases if case.name not in done],
    }


def _counts(counts: Counts) -> dict[str, Any]:
    return {
        "total": counts.total,
        "measured": counts.measured,
        "not_run": counts.not_run,
        "hold": counts.holding,
        "verdicts": {verdict.value: counts[verdict] for verdict in Verdict},
        "seconds": round(counts.seconds, 6),
    }


def _statement(statement: StatementSummary, cases: list[str], results: list[CaseResult]) -> dict[str, Any]:
    return {
        "id": statement.id,
        "chapter": statement.chapter,
        "level": statement.level,
        "class": statement.class_,
        "text": statement.text,
        "verdict": gravest(result.verdict for result in results),
        "cases": cases,
        "untestable": statement.untestable,
    }


def _quirk(quirk: QuirkSummary, results: tuple[CaseResult, ...]) -> dict[str, Any]:
    members = {name: getattr(quirk, name) for name in quirk.__struct_fields__}
    return {**members, "seen_in": [result.case for result in results if result.quirk == quirk.id]}


def _result(result: CaseResult) -> dict[str, Any]:
    return {
        "case": result.case,
        "title": result.title,
        "statements": list(result.statements),
        "chapter": result.chapter,
        "level": result.level,
        "class": result.class_,
        "verdict": result.verdict,
        "begun": round(result.begun, 6),
        "seconds": round(result.seconds, 6),
        "reason": result.reason,
        "detail": result.detail,
        "trace": result.trace,
        "log": list(result.log),
        "quirk": result.quirk or None,
        "blocked_by": result.blocked_by or None,
        "failure": None if result.failure is None else _failure(result),
    }


def _failure(result: CaseResult) -> dict[str, Any]:
    failure = result.failure
    assert failure is not None
    found: dict[str, Any] = _plain(failure)
    return found


def _plain(value: Any) -> Any:
    """Structs as mappings, members that have their default included."""
    if isinstance(value, msgspec.Struct):
        names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
        return {written: _plain(getattr(value, name)) for written, name in names}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
