"""Several recorded runs side by side: which statements differ, and which release of Apache's changed them.

Everything is counted in statements, each with the gravest verdict of its cases. Columns are targets: releases
of Apache's server in order, then the others as they were given. A quirk that comes and goes counts on every
release that has it as soon as one of them shows it, so that chance alone makes no releases differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TypeVar

import msgspec

from harness.catalogue import CLASSES, release_line, release_of
from harness.catalogue.versions import numbers
from harness.report.results import CaseResult, Failure, Run, StatementSummary, Verdict
from harness.report.verdicts import gravest, summarize

Cell = TypeVar("Cell")

NOT_RUN = "not run"
HELD = frozenset({Verdict.PASS, Verdict.DEVIATES, Verdict.OBSERVED})
BROKEN = frozenset({Verdict.FAIL, Verdict.XFAIL, Verdict.XPASS, Verdict.QUIRK})
FAILED = BROKEN - {Verdict.QUIRK}


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A target that was measured."""

    name: str
    target: str
    run: Run
    group: str = ""
    """The line of Apache's releases that it belongs to; empty for any other server."""
    release: str = ""
    why: str = ""
    """Why it was not measured wholly."""

    @property
    def headline(self) -> str:
        """The conclusion of its check."""
        return summarize(self.run).headline


class Absent(msgspec.Struct, frozen=True):
    """A target that was not measured at all."""

    name: str
    why: str


class Tally(msgspec.Struct, frozen=True):
    """What became of some statements on one target."""

    held: int = 0
    failed: int = 0
    quirks: int = 0
    later: int = 0
    """Not in this release; not part of ``of``."""
    unknown: int = 0

    @property
    def of(self) -> int:
        """The statements that the target is judged by."""
        return self.held + self.failed + self.quirks + self.unknown

    @property
    def tone(self) -> str:
        """The verdict that stands for all of them; empty where there is nothing to judge."""
        if not self.of:
            return "later" if self.later else ""
        return "fail" if self.failed else "quirk" if self.quirks else "blocked" if self.unknown else "pass"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What a release of Apache's did to a statement, beside the measured release before it."""

    release: str
    before: str
    does: str
    """``mends``, ``breaks`` or ``brings``."""
    statement: str
    holds: bool = True
    """Whether the release keeps the statement that it brings."""
    reports: tuple[str, ...] = ()
    """What was mended was reported as this."""
    fixed: str = ""
    """The release that mended it by the catalogue, where that is not the one that was measured."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A statement and what each column made of it."""

    statement: StatementSummary
    states: tuple[str, ...]
    """A verdict for each column, ``not run``, or nothing where it does not apply or was not asked."""
    failures: tuple[Failure | None, ...]
    changes: tuple[Change, ...] = ()

    @property
    def measured(self) -> frozenset[str]:
        """The verdicts of the columns that it applies to."""
        return frozenset(state for state in self.states if state)

    @property
    def differs(self) -> bool:
        """Whether the columns that it applies to do not agree."""
        return len(self.measured) > 1


class Group(msgspec.Struct, frozen=True):
    """Rows under one heading: a class or a chapter, with the tally of each column."""

    name: str
    tallies: tuple[Tally, ...]
    total: int


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    classes: tuple[Group, ...]
    chapters: tuple[Group, ...]
    totals: tuple[Tally, ...]
    absent: tuple[Absent, ...]
    contradictions: tuple[str, ...]
    """A sentence for each fix of the catalogue that the measurements contradict."""

    @property
    def differing(self) -> tuple[Row, ...]:
        """The statements that the targets do not agree on."""
        return tuple(row for row in self.rows if row.differs)

    @property
    def alike(self) -> tuple[Row, ...]:
        """The statements that hold on no target that they apply to, and are the same on all."""
        return tuple(row for row in self.rows if len(row.measured) == 1 and row.measured - set(HELD))

    @property
    def changes(self) -> tuple[Change, ...]:
        """What the releases changed, in their order."""
        found = [change for row in self.rows for change in row.changes]
        return tuple(sorted(found, key=lambda one: numbers(one.release)))


def column(name: str, run: Run, why: str = "") -> Column:
    """A column from the record of a run. A release of Apache's is named by its number."""
    release = release_of(run.header.server)
    return Column(
        name=name or release or run.header.target,
        target=run.header.target,
        run=run,
        group=f"Apache, line {release_line(release).name}" if release else "",
        release=release,
        why=why,
    )


def matrix(columns: Iterable[Column], absent: Iterable[Absent] = ()) -> Matrix:
    """The comparison of these columns."""
    ordered = sorted(columns, key=lambda one: (not one.release, numbers(one.release)))
    states = _with_chance_quirks(ordered, [_states(one.run) for one in ordered])
    contradictions: list[str] = []
    rows = []
    for statement in _statements(ordered):
        cells = [found.get(statement.id, ("", None)) for found in states]
        if not any(state for state, _ in cells):
            continue
        row = Row(
            statement=statement,
            states=tuple(state for state, _ in cells),
            failures=tuple(failure for _, failure in cells),
        )
        changes = _changes(row, ordered, contradictions)
        rows.append(msgspec.structs.replace(row, changes=changes))
    classes = {row.statement.id: row.statement.class_ for row in rows}
    by_class = _groups(rows, lambda row: classes[row.statement.id])
    return Matrix(
        columns=tuple(ordered),
        rows=tuple(rows),
        classes=tuple(one for name in CLASSES for one in by_class if one.name == name),
        chapters=_groups(rows, lambda row: row.statement.chapter),
        totals=tuple(_tally(rows, number) for number in range(len(ordered))),
        absent=tuple(absent),
        contradictions=tuple(contradictions),
    )


def _statements(columns: Iterable[Column]) -> list[StatementSummary]:
    """All statements that some column knows: chapters and statements in the order of the widest catalogue."""
    runs = sorted((one.run for one in columns), key=lambda run: -len(run.header.statements))
    found = {one.id: one for run in runs for one in run.header.statements}
    chapters = {
        name: number for number, name in enumerate(dict.fromkeys(one.chapter for one in found.values()))
    }
    return sorted(found.values(), key=lambda one: chapters[one.chapter])


def _states(run: Run) -> dict[str, tuple[str, Failure | None]]:
    """By statement: what its planned cases came to, and the failure that shows it."""
    results: dict[str, list[CaseResult]] = {}
    for result in run.results:
        for statement in result.statements:
            results.setdefault(statement, []).append(result)
    planned = {statement for case in run.header.cases for statement in case.statements}
    return {one.id: _state(results.get(one.id, [])) for one in run.header.statements if one.id in planned}


def _state(results: Sequence[CaseResult]) -> tuple[str, Failure | None]:
    verdict = gravest(result.verdict for result in results)
    if verdict is None:
        return NOT_RUN, None
    return verdict, next((one.failure for one in results if one.verdict is verdict), None)


def _with_chance_quirks(
    columns: Sequence[Column], states: Sequence[dict[str, tuple[str, Failure | None]]]
) -> list[dict[str, tuple[str, Failure | None]]]:
    """The states with each intermittent quirk on all releases that have it, where one of them shows it."""
    seen = [_intermittent(one.run) for one in columns]
    shown = {
        (statement, quirk)
        for found, quirks in zip(states, seen, strict=True)
        for statement, (state, _) in found.items()
        if state == Verdict.QUIRK
        for quirk in quirks.get(statement, ())
    }
    return [
        {
            statement: (Verdict.QUIRK, None)
            if state in HELD and any((statement, quirk) in shown for quirk in quirks.get(statement, ()))
            else (state, failure)
            for statement, (state, failure) in found.items()
        }
        for found, quirks in zip(states, seen, strict=True)
    ]


def _intermittent(run: Run) -> dict[str, list[str]]:
    """By statement: the quirks of this server that its cases meet on some runs only."""
    found: dict[str, list[str]] = {}
    for quirk in run.header.quirks:
        if quirk.intermittent is None:
            continue
        for case in run.header.cases:
            if case.name in quirk.cases:
                for statement in case.statements:
                    found.setdefault(statement, []).append(quirk.id)
    return found


def _groups(rows: Sequence[Row], key: Callable[[Row], str]) -> tuple[Group, ...]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return tuple(
        Group(name, tuple(_tally(some, number) for number in range(len(some[0].states))), len(some))
        for name, some in found.items()
    )


def _tally(rows: Sequence[Row], number: int) -> Tally:
    states = [row.states[number] for row in rows if row.states[number]]

    def count(some: Iterable[str]) -> int:
        return sum(state in some for state in states)

    held, failed, quirks = count(HELD), count(FAILED), count({Verdict.QUIRK})
    later = count({Verdict.LATER})
    return Tally(held, failed, quirks, later, len(states) - held - failed - quirks - later)


# -- releases in order ---------------------------------------------------------------------------------------


def _changes(row: Row, columns: Sequence[Column], contradictions: list[str]) -> tuple[Change, ...]:
    """What each release changed.

    The first release of a major version branched off before the last ones of the version before: what is
    broken in it is its own doing only if no release before it was broken.
    """
    past = [
        (one.release, state, failure)
        for one, state, failure in zip(columns, row.states, row.failures, strict=True)
        if one.release and state in HELD | BROKEN | {Verdict.LATER}
    ]
    found = []
    for number in range(1, len(past)):
        (before, old, failure), (release, new, _) = past[number - 1], past[number]
        branches = numbers(before)[:1] != numbers(release)[:1]
        was_broken = any(state in BROKEN for _, state, _ in past[:number])
        if (old in FAILED and new in HELD) or (old == Verdict.QUIRK and new == Verdict.PASS):
            does = "mends"
        elif old == Verdict.PASS and new in BROKEN and not (branches and was_broken):
            does = "breaks"
        elif old == Verdict.LATER and new != Verdict.LATER:
            does = "brings"
        else:
            continue
        holds = does != "brings" or new in HELD
        change = Change(release=release, before=before, does=does, statement=row.statement.id, holds=holds)
        if does == "mends" and failure is not None and failure.statement == row.statement.id:
            change = _with_fix(change, failure, contradictions)
        found.append(change)
    return tuple(found)


def _with_fix(change: Change, failure: Failure, contradictions: list[str]) -> Change:
    """The change with what the catalogue knows of it, where that agrees with what was measured."""
    reports: list[str] = []
    release = ""
    for fix in failure.fixes:
        if numbers(change.before) < numbers(fix.release) <= numbers(change.release):
            reports += fix.reports
            release = fix.release
        elif numbers(fix.release)[:1] == numbers(change.release)[:1]:
            contradictions.append(
                f"{change.statement}: the catalogue says that {fix} mends it; it fails on {change.before} "
                f"and holds on {change.release}"
            )
    return msgspec.structs.replace(
        change, reports=tuple(reports), fixed=release if release != change.release else ""
    )


# -- columns that behave alike -------------------------------------------------------------------------------


def merged(found: Matrix) -> Matrix:
    """The same with one column for neighbouring releases of a line that agree on every statement."""
    numbered = list(enumerate(found.columns))
    seen = [tuple(row.states[number] for row in found.rows) for number, _ in numbered]

    def key(item: tuple[int, Column]) -> tuple[object, ...]:
        number, one = item
        return (number,) if not one.release else (one.release.split(".")[0], seen[number])

    kept, names = [], []
    for _, together in groupby(numbered, key):
        some = list(together)
        kept.append(some[0][0])
        first, last = some[0][1].name, some[-1][1].name
        names.append(first if len(some) == 1 else f"{first} – {last}")

    columns = [
        msgspec.structs.replace(found.columns[number], name=name)
        for number, name in zip(kept, names, strict=True)
    ]
    return msgspec.structs.replace(_picked(found, kept), columns=tuple(columns))


def newest_first(found: Matrix) -> Matrix:
    """The same with the newest release in the first column; other servers stay behind all releases."""
    releases = [number for number, one in enumerate(found.columns) if one.release]
    others = [number for number, one in enumerate(found.columns) if not one.release]
    return _picked(found, [*reversed(releases), *others])


def _picked(found: Matrix, kept: Sequence[int]) -> Matrix:
    """The same with these columns, in this order."""

    def pick(items: Sequence[Cell]) -> tuple[Cell, ...]:
        return tuple(items[number] for number in kept)

    return msgspec.structs.replace(
        found,
        columns=pick(found.columns),
        rows=tuple(
            msgspec.structs.replace(row, states=pick(row.states), failures=pick(row.failures))
            for row in found.rows
        ),
        classes=tuple(Group(one.name, pick(one.tallies), one.total) for one in found.classes),
        chapters=tuple(Group(one.name, pick(one.tallies), one.total) for one in found.chapters),
        totals=pick(found.totals),
    )
