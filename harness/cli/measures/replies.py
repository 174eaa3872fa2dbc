"""`selftest --replies`: the server leaves out or changes one member of what it sends, and a case must notice.

A lie that no case notices, and that a person has not explained (`--explained`), is about a member that no
case judges.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO, TypeVar

import msgspec
from rich.console import Console
from rich.progress import BarColumn

from harness.cli.bar import Line
from harness.cli.measures.answer import written
from harness.cli.measures.explained import explanations
from harness.cli.measures.lying import Said, noticed, shown
from harness.cli.measures.members import Lie
from harness.cli.measures.scope import all_cases, check_possible
from harness.cli.measures.trying import Outcome, Work, begin
from harness.cli.output import say_json
from harness.cli.status import FAILED, OK
from harness.cli.workers import worker_processes
from harness.session import RunningClock
from harness.wire.code_names import request_words

KINDS = ("not visible", "free")
"""Why no case notices: no client can tell it from the truth · the catalogue leaves it to the server."""
LOGGED = 50
"""Lies between two lines of a log."""

A = TypeVar("A")
B = TypeVar("B")


class Told(msgspec.Struct, frozen=True):
    """A lie and what became of it."""

    said: Said
    lie: Lie
    cases: int
    """That heard it, over all profiles."""
    outcome: Outcome
    explained: str = ""

    @property
    def frame(self) -> str:
        """Which frame lies."""
        code, is_answer = self.said
        return f"{'answer to' if is_answer else 'sent'} {request_words(code)}"

    @property
    def name(self) -> str:
        place, what = self.lie
        return f"{self.frame}: {place} {what}"

    @property
    def is_noticed(self) -> bool:
        return self.outcome.how == "failure"


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    stopwatch = RunningClock()
    people = sys.stderr if options.json else sys.stdout
    check_possible("--replies")
    explained = explanations(options.explained, KINDS)
    answer = _answer(options.role, _told(options, explained, people), explained, stopwatch.waiting())
    path = written(options.out / f"replies-{options.role}.json", answer)
    _print(Console(file=people, highlight=False, markup=False, soft_wrap=True), answer, path)
    if options.json:
        say_json(answer)
    return int(answer["exit_status"])


def _told(options: argparse.Namespace, explained: Mapping[str, str], people: TextIO) -> list[Told]:
    """Every lie that a case could hear, and what became of it."""
    works = all_cases(options.role, options.profile)
    plan: dict[tuple[Said, Lie], list[Work]] = {}
    with worker_processes(options.workers, begin) as pool:
        seen = _all(pool, shown, [(work,) for work in works], "catalogues run", people)
        for work, some in zip(works, seen, strict=True):
            for one in some:
                if one.cases:
                    part = msgspec.structs.replace(work, cases=one.cases)
                    plan.setdefault((one.said, one.lie), []).append(part)
        lies = sorted(plan)
        outcomes = _all(pool, noticed, [(*lie, plan[lie]) for lie in lies], "lies told", people)
    told = [
        Told(said, lie, sum(len(work.cases) for work in plan[said, lie]), outcome)
        for (said, lie), outcome in zip(lies, outcomes, strict=True)
    ]
    return [msgspec.structs.replace(one, explained=explained.get(one.name, "")) for one in told]


def _all(
    pool: Executor,
    act: Callable[..., B],
    calls: Sequence[tuple[Any, ...]],
    done: str,
    people: TextIO,
) -> list[B]:
    """What `act` returns for each call, in their order; says how far it is."""
    with Line(Console(file=people, highlight=False), BarColumn()) as line:
        running = [pool.submit(act, *call) for call in calls]
        for number, _ in enumerate(as_completed(running), 1):
            said = f"{number} of {len(calls)} {done}"
            line.show(said, number, len(calls))
            if number % LOGGED == 0 or number == len(calls):
                line.log(said)
        return [one.result() for one in running]


def _answer(role: str, told: Sequence[Told], explained: Mapping[str, str], seconds: float) -> dict[str, Any]:
    survivors = [one for one in told if not one.is_noticed]
    missed = [one for one in survivors if not one.explained]
    vain = sorted(explained.keys() - {one.name for one in survivors})
    conclusion = f"{len(missed)} LIES UNNOTICED" if missed else "EVERY LIE NOTICED OR EXPLAINED"
    return {
        "conclusion": "EXPLANATIONS IN VAIN" if vain and not missed else conclusion,
        "exit_status": FAILED if missed or vain else OK,
        "seconds": round(seconds, 1),
        "role": role,
        "lies": len(told),
        "noticed": len(told) - len(survivors),
        "explained": len(survivors) - len(missed),
        "missed": len(missed),
        "explained_in_vain": vain,
        "all": [
            {
                "name": one.name,
                "frame": one.frame,
                "lie": " ".join(one.lie),
                "cases": one.cases,
                "explained": one.explained,
                **msgspec.to_builtins(one.outcome),
            }
            for one in told
        ],
    }


def _print(console: Console, answer: Mapping[str, Any], path: Path) -> None:
    missed = [one for one in answer["all"] if one["how"] != "failure" and not one["explained"]]
    for frame, some in groupby(missed, key=lambda one: str(one["frame"])):
        console.print(f"\n✘ {frame}: no case notices")
        for one in some:
            blocked = f", {one['case']} is blocked: {one['why']}" if one["how"] != "unseen" else ""
            console.print(f"  {one['lie']} ({one['cases']} cases hear it{blocked})")
    for name in answer["explained_in_vain"]:
        console.print(f"\n✘ explained, and noticed or gone all the same: take it out of the file\n  {name}")
    console.print(
        f"\n{answer['lies']} lies: {answer['noticed']} noticed, {answer['explained']} explained, "
        f"{answer['missed']} neither, {answer['seconds']} s\n"
        f"{answer['conclusion']}, exit {answer['exit_status']} · {path}"
    )
