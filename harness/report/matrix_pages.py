"""The comparison of targets as a page, as Markdown and as JSON (``specs/schema/matrix.schema.json``)."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from harness.report.matrix import NOT_RUN, Change, Column, Matrix, Row, Tally, merged, newest_first
from harness.report.results import ROLE_NAMES, Verdict
from harness.report.templating import filled, filled_markdown
from harness.report.text import SIGNS, VERDICT_HELP, cut, verdict_words, visible

FILES = {"html": "matrix.html", "markdown": "matrix.md", "json": "matrix.json"}
SCHEMA = 1
_MARKS: dict[str, str] = {**SIGNS, NOT_RUN: SIGNS["not-run"], "": ""}
_LONGEST = 160


class Release(msgspec.Struct, frozen=True):
    """What one release of Apache's changed, beside the measured one before it."""

    name: str
    before: str
    mends: list[Change]
    breaks: list[Change]
    brings: list[Change]


def write_pages(found: Matrix, directory: Path, command: Sequence[str] = ()) -> list[Path]:
    """Writes all three into the directory; returns their paths. Raises ``OSError``."""
    texts = {
        "html": render_html(found, command),
        "markdown": render_markdown(found, command),
        "json": render_json(found),
    }
    paths = []
    for kind, text in texts.items():
        path = directory / FILES[kind]
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def render_html(found: Matrix, command: Sequence[str] = ()) -> str:
    """The page."""
    return filled(
        "report/templates/matrix.html.j2",
        **_shared(found, command),
        matrix=found,
        spans=[
            (name, len(list(some)))
            for name, some in groupby(found.columns, lambda one: one.group or "others")
        ],
        said=lambda some: _grouped(found.columns, map(_parts, some)),
        answers=lambda row: _grouped(found.columns, (_answer(row, at) for at in range(len(row.states)))),
        marks=_MARKS,
    )


def render_markdown(found: Matrix, command: Sequence[str] = ()) -> str:
    """The document. Neighbouring releases that agree on every statement share a column."""
    return filled_markdown(
        "report/templates/matrix.md.j2",
        **_shared(found, command),
        matrix=newest_first(merged(found)),
        every=found.columns,
        differing={row.statement.chapter for row in found.differing},
        mark=lambda state: _MARKS[state],
    )


def _shared(found: Matrix, command: Sequence[str]) -> dict[str, object]:
    runs = [one.run for one in found.columns]
    return {
        "role": ROLE_NAMES[runs[0].header.role],
        "suites": sorted({run.header.suite for run in runs}),
        "catalogues": sorted({run.header.catalogue for run in runs}),
        "days": sorted({run.header.started[:10] for run in runs}),
        "command": shlex.join(command),
        "releases": _releases(found),
        "cell": _cell,
        "story": lambda row: "; ".join(map(told, row.changes)),
        "legend": [
            (_MARKS[one], verdict_words(one), VERDICT_HELP[one]) for one in Verdict if _occurs(found, one)
        ],
    }


def _occurs(found: Matrix, verdict: Verdict) -> bool:
    return any(verdict in row.measured for row in found.rows)


def _releases(found: Matrix) -> list[Release]:
    named: dict[str, list[Change]] = {}
    for change in found.changes:
        named.setdefault(change.release, []).append(change)
    return [
        Release(
            name,
            some[0].before,
            *([one for one in some if one.does == does] for does in ("mends", "breaks", "brings")),
        )
        for name, some in named.items()
    ]


def told(change: Change) -> str:
    """``mended by 4.9.4 (apache/rocketmq#4263)``, ``mended by 5.1.4 (in 5.1.2, CVE-2023-37582)``."""
    words = {"mends": "mended by", "breaks": "broken by", "brings": "came with"}[change.does]
    broken = "" if change.holds else ", broken"
    known = ", ".join([*([f"in {change.fixed}"] if change.fixed else []), *change.reports])
    return f"{words} {change.release}{broken}{known and f' ({known})'}"


def _cell(tally: Tally) -> str:
    """``38``, ``36/38``: how many hold, of how many, where not all do."""
    if not tally.of:
        return ""
    return str(tally.of) if tally.held == tally.of else f"{tally.held}/{tally.of}"


def _parts(tally: Tally) -> str:
    """``38 of 41 hold, 1 failed, 2 with a quirk``; empty where nothing applies."""
    words = [f"{tally.held} of {tally.of} hold"] if tally.of else []
    for number, name in (
        (tally.failed, "failed"),
        (tally.quirks, "with a quirk"),
        (tally.unknown, "not measured"),
        (tally.later, "not in this release"),
    ):
        if number:
            words.append(f"{number} {name}")
    return ", ".join(words)


def _answer(row: Row, number: int) -> str:
    """What a target made of a statement, and what it did where that was wrong; empty where not asked."""
    state, failure = row.states[number], row.failures[number]
    words = verdict_words(state) if state and state != NOT_RUN else state
    return words if failure is None else f"{words}: {cut(visible(failure.actual), _LONGEST)}"


def _grouped(columns: Sequence[Column], said: Iterable[str]) -> list[tuple[str, list[str]]]:
    """What is said of columns, each once, with the names of those that it is true of."""
    names: dict[str, list[str]] = {}
    for column, words in zip(columns, said, strict=True):
        if words:
            names.setdefault(words, []).append(column.name)
    return list(names.items())


# -- JSON ----------------------------------------------------------------------------------------------------


def render_json(found: Matrix) -> str:
    """The object as indented JSON with a line break at its end."""
    return msgspec.json.format(msgspec.json.encode(as_object(found)), indent=2).decode() + "\n"


def as_object(found: Matrix) -> dict[str, Any]:
    """The object that ``matrix.json`` holds, as plain values."""
    names = [one.name for one in found.columns]
    return {
        "schema": SCHEMA,
        "targets": [_target(one, tally) for one, tally in zip(found.columns, found.totals, strict=True)],
        "classes": [_group(one.name, one.total, names, one.tallies) for one in found.classes],
        "chapters": [_group(one.name, one.total, names, one.tallies) for one in found.chapters],
        "statements": [
            {
                "id": row.statement.id,
                "chapter": row.statement.chapter,
                "class": row.statement.class_,
                "level": row.statement.level,
                "text": row.statement.text,
                "differs": row.differs,
                "verdicts": {name: state for name, state in zip(names, row.states, strict=True) if state},
                "changes": [msgspec.to_builtins(change) for change in row.changes],
            }
            for row in found.rows
        ],
        "absent": [msgspec.to_builtins(one) for one in found.absent],
        "contradictions": list(found.contradictions),
    }


def _target(one: Column, tally: Tally) -> dict[str, Any]:
    run = one.run
    return {
        "name": one.name,
        "uri": one.target,
        "group": one.group or None,
        "release": one.release or None,
        "description": run.header.description,
        "profile": run.header.profile,
        "catalogue": run.header.catalogue,
        "started": run.header.started,
        "headline": one.headline,
        "why": one.why,
        "statements": _numbers(tally),
    }


def _group(name: str, total: int, names: list[str], tallies: Sequence[Tally]) -> dict[str, Any]:
    return {
        "name": name,
        "total": total,
        "targets": {column: _numbers(tally) for column, tally in zip(names, tallies, strict=True)},
    }


def _numbers(tally: Tally) -> dict[str, int]:
    return {"of": tally.of, **msgspec.structs.asdict(tally)}
