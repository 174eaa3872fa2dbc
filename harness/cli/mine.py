"""`mine`: what very many runs have in common: what fails, how often, and why; as tables and a page."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from harness.catalogue import catalogue
from harness.cli.bar import Line
from harness.cli.output import say_json
from harness.cli.parser import Usage
from harness.cli.status import FAILED, INCONCLUSIVE, OK
from harness.mining import dictionary
from harness.mining.mine import Mined, mine, nothing
from harness.mining.page.report import About, headline, often, render
from harness.mining.page.tables import Folder, write_tables
from harness.mining.spark import check_memory, session, stop
from harness.report.text import plural, visible
from harness.session import RunningClock
from harness.version import version

_SHOWN = 10


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    for option, place in (("DIR", options.root), ("--against", options.against)):
        if place is not None and "://" not in place and not Path(place).is_dir():
            raise Usage(
                f"rmq-harness mine: {option} {place}: no such directory; expected the --out of a campaign"
            )
    check_memory(options.memory)  # even if Spark turns out not to be needed
    people = sys.stderr if options.json else sys.stdout
    console = Console(file=people, highlight=False, markup=False, soft_wrap=True)
    stopwatch = RunningClock()
    folder = Folder(options.out)  # before the long work: fail early if it cannot be written
    compared = f", against {options.against}" if options.against is not None else ""
    console.print(f"rmq-harness mine · {options.root}{compared}")
    mined = nothing(options.root)
    if mined is None:
        columns = (TextColumn("questions"), BarColumn(), MofNCompleteColumn())
        with Line(console, *columns, said="starting Spark") as line:
            spark = session("rmq-harness mine", master=options.master, memory=options.memory)
            try:
                mined = mine(
                    spark,
                    options.root,
                    role=options.role,
                    against=options.against,
                    heard=partial(_shown, line),
                )
            finally:
                stop(spark)
    rows = {name: table.to_pylist() for name, table in mined.tables.items()}
    about = About(
        root=options.root,
        against=options.against,
        suite=version(),
        command=options.command_line,
        troubles=[(trouble.path, trouble.message) for trouble in mined.troubles],
    )
    statements = {one.id: one for one in catalogue().statements}
    write_tables(mined.tables, folder)
    folder.write("tables/README.md", lambda stream: stream.write(dictionary.page().encode()))
    folder.write("report.html", lambda out: out.write(render(rows, statements, about).encode()))
    answer = _answer(options, mined, rows, stopwatch.waiting())
    _print(console, answer, rows)
    if options.json:
        say_json(answer)
    return int(answer["exit_status"])


def _shown(line: Line, done: int, of: int, said: str) -> None:
    """Shows how many questions are answered, and which was the last."""
    line.show(said, done, of)
    line.log(f"  {done} of {of} questions · {said}")


# --- the answer ---------------------------------------------------------------------------------------------


def _answer(
    options: argparse.Namespace, mined: Mined, rows: dict[str, list[dict[str, Any]]], seconds: float
) -> dict[str, Any]:
    worse = sum(row["verdict"] == "worse" for row in rows["regressions"])
    status, why = _status(options, mined, len(rows["findings"]), worse)
    return {
        "conclusion": headline(rows)[0],
        "exit_status": status,
        "why": why,
        "root": options.root,
        "role": next((row["role"] for row in rows["populations"]), options.role),
        "against": options.against,
        "runs": mined.runs,
        "steps": mined.steps,
        "worse": worse,
        "findings": rows["findings"],
        "goals_never_reached": sorted({row["goal"] for row in rows["goals"] if not row["reached"]}),
        "tables": {name: len(table) for name, table in rows.items()},
        "troubles": mined.troubles,
        "seconds": round(seconds, 1),
        "out": options.out,
        "report": f"{options.out.rstrip('/')}/report.html",
    }


def _status(options: argparse.Namespace, mined: Mined, findings: int, worse: int) -> tuple[int, str]:
    if not mined.runs:
        return INCONCLUSIVE, "nothing to mine"
    if "findings" in options.fail_on and findings:
        return FAILED, f"{plural(findings, 'finding')} (--fail-on findings)"
    if "worse" in options.fail_on and worse:
        return FAILED, f"{plural(worse, 'comparison')} worse (--fail-on worse)"
    if mined.troubles:
        return INCONCLUSIVE, f"{plural(len(mined.troubles), 'path')} could not be read; the rest was mined"
    return OK, ""


def _print(console: Console, answer: dict[str, Any], rows: dict[str, list[dict[str, Any]]]) -> None:
    for trouble in answer["troubles"]:
        console.print(f"  not read: {visible(trouble.path)}: {trouble.message}")
    runs: dict[str, int] = {}
    for row in rows["populations"]:
        runs[row["target"]] = runs.get(row["target"], 0) + row["runs"]
    for row in rows["findings"][:_SHOWN]:
        said = often(row, runs.get(row["target"], 0))
        console.print(f"\n✘ {visible(row['statement'])} · {visible(row['target'])} · {said}")
        console.print(f"  {visible(row['rules'])}")
        if row["replay"]:
            console.print(f"  {visible(row['replay'])}")
    if len(rows["findings"]) > _SHOWN:
        console.print(f"\n… and {plural(len(rows['findings']) - _SHOWN, 'other finding')}")
    if answer["why"]:
        console.print(f"\n{answer['why']}")
    console.print(
        f"\n{plural(answer['runs'], 'run')}, {plural(answer['steps'], 'step')}, {answer['seconds']:.0f} s · "
        f"{answer['report']}          {answer['conclusion'].upper()}, exit {answer['exit_status']}"
    )
