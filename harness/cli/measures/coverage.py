"""`selftest --coverage`: which statements of the servers' protocol code no case runs.

Any such statement that a person has not explained (`--explained`) is a missing case, or code that the
reference does not need. Remoting and the codec serve both roles, so the cases of both are run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table

from harness.catalogue import ROLES
from harness.cli.measures.answer import written
from harness.cli.measures.covering import lines_run
from harness.cli.measures.explained import explanations
from harness.cli.measures.scope import SHARED, all_cases, check_possible, files_of, sources_of
from harness.cli.measures.trying import Lines, begin
from harness.cli.output import say_json
from harness.cli.status import FAILED, OK
from harness.cli.workers import worker_processes
from harness.session import RunningClock
from reference_impl.mutants.generated import Statement, statements_of

OWED = "no case yet"
KINDS = ("unreachable", "not visible", "free", "tested", OWED)
"""Why no case runs a statement: it guards against what the rest of the server never does · no peer can cause
or see it · the catalogue leaves it to the server · another test, which the reason names, runs it · a case is
owed.
"""


class FileCoverage(msgspec.Struct, frozen=True):
    """How much of a file the cases run."""

    file: str
    statements: int
    not_run: tuple[Statement, ...]


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    stopwatch = RunningClock()
    people = sys.stderr if options.json else sys.stdout
    check_possible("--coverage")
    explained = explanations(options.explained, KINDS)
    files = coverage_of(_measured(options, people))
    answer = _answer(files, explained, stopwatch.waiting())
    path = written(options.out / "coverage.json", answer)
    _print(Console(file=people, highlight=False, markup=False, soft_wrap=True), answer, path)
    if options.json:
        say_json(answer)
    return int(answer["exit_status"])


def coverage_of(lines: Sequence[Lines]) -> list[FileCoverage]:
    """Each file of the servers' protocol code, and what none of the runs has run of it."""
    files = dict.fromkeys(file for role in ROLES for file in files_of(role))
    return [
        _file_coverage(file, source, {number for some in lines for number in some.get(file, ())})
        for file, source in sources_of(files).items()
    ]


def _file_coverage(file: str, source: str, run: set[int]) -> FileCoverage:
    number = 0
    not_run: list[Statement] = []
    for _, found in statements_of(file, source):
        missing = [one for one in found if run.isdisjoint(range(one.line, one.end + 1))]
        if file.startswith(SHARED) and len(missing) == len(found):
            continue
        number += len(found)
        not_run += missing
    return FileCoverage(file, number, tuple(sorted(not_run, key=lambda one: one.line)))


def _measured(options: argparse.Namespace, people: TextIO) -> list[Lines]:
    """Which lines each run of the catalogue has run."""
    works = [work for role in ROLES for work in all_cases(role, options.profile)]
    with worker_processes(options.workers, begin) as pool:
        return [ran.lines for ran in lines_run(pool, works, options.out, people)]


def _answer(files: Sequence[FileCoverage], explained: Mapping[str, str], seconds: float) -> dict[str, Any]:
    not_run = [one for file in files for one in file.not_run]
    missed = [one for one in not_run if one.name not in explained]
    vain = sorted(explained.keys() - {one.name for one in not_run})
    number = sum(one.statements for one in files)
    owed = sum(explained.get(one.name, "").startswith(OWED) for one in not_run)
    conclusion = (
        f"{len(missed)} STATEMENTS THAT NO CASE RUNS" if missed else "EVERY STATEMENT RUN OR EXPLAINED"
    )
    return {
        "conclusion": "EXPLANATIONS IN VAIN" if vain and not missed else conclusion,
        "exit_status": FAILED if missed or vain else OK,
        "seconds": round(seconds, 1),
        "statements": number,
        "run": number - len(not_run),
        "explained": len(not_run) - len(missed) - owed,
        "owed": owed,
        "missed": len(missed),
        "explained_in_vain": vain,
        "files": [
            {
                "file": one.file,
                "statements": one.statements,
                "run": one.statements - len(one.not_run),
                "not_run": [
                    {"line": each.line, "name": each.name, "explained": explained.get(each.name, "")}
                    for each in one.not_run
                ],
            }
            for one in files
        ],
    }


def _print(console: Console, answer: Mapping[str, Any], path: Path) -> None:
    console.print(_table(answer["files"]))
    for file in answer["files"]:
        for line in _missed(file):
            console.print(line)
    for name in answer["explained_in_vain"]:
        console.print(f"\n✘ explained, and run or gone all the same: take it out of the file\n  {name}")
    console.print(
        f"\n{answer['statements']} statements: {answer['run']} run by cases, "
        f"{answer['explained']} explained, {answer['owed']} owed a case, "
        f"{answer['missed']} neither, {answer['seconds']} s\n"
        f"{answer['conclusion']}, exit {answer['exit_status']} · {path}"
    )


def _table(files: Sequence[Mapping[str, Any]]) -> Table:
    """The packages, each with its share of statements that cases run."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("package")
    for heading in ("statements", "run", "explained", "owed", "neither"):
        table.add_column(heading, justify="right")
    packages: dict[str, list[Mapping[str, Any]]] = {}
    for one in files:
        packages.setdefault(one["file"].rpartition("/")[0], []).append(one)
    for package, some in packages.items():
        not_run = [each for one in some for each in one["not_run"]]
        owed = sum(each["explained"].startswith(OWED) for each in not_run)
        explained = sum(bool(each["explained"]) for each in not_run) - owed
        number = sum(one["statements"] for one in some)
        counts = (number, number - len(not_run), explained, owed, len(not_run) - explained - owed)
        table.add_row(package, *map(str, counts))
    return table


def _missed(file: Mapping[str, Any]) -> Iterator[str]:
    missed = [one for one in file["not_run"] if not one["explained"]]
    if missed:
        yield f"\n✘ {file['file']}: no case runs {len(missed)} of {file['statements']} statements"
        for one in missed:
            yield f"  {one['line']:4}  {one['name'].removeprefix(file['file'] + '::')}"
