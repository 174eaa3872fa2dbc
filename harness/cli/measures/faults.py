"""`selftest --generated`: draws faults by a seed, tries them, and writes down which no case notices.

A survivor that a person has explained (`--explained`) is no miss, nor is one in a statement that no case
runs: `--coverage` wants a reason for each of those. Any other one is a missing case.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import msgspec
from rich.console import Console
from rich.progress import BarColumn

from harness.catalogue import Role
from harness.cli.bar import Line
from harness.cli.measures.answer import written
from harness.cli.measures.covering import lines_run
from harness.cli.measures.explained import explanations
from harness.cli.measures.meeting import trials_of
from harness.cli.measures.scope import SHARED, all_cases, check_possible, files_of, sources_of
from harness.cli.measures.trying import Lines, Outcome, Trial, begin, tried
from harness.cli.output import say_json
from harness.cli.status import FAILED, INTERRUPTED, OK
from harness.cli.workers import worker_processes
from harness.program.chance import chance
from harness.session import RunningClock
from reference_impl.mutants.generated import Fault, Site, fault_at, sites_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

KINDS = ("equivalent", "not visible", "free")
"""Why a fault survives: it changes nothing · no peer can see it · the catalogue leaves it to the server."""
NOTICED = ("failure", "crash", "hang")
LOGGED = 20
"""Faults between two lines of a log."""


class Tried(msgspec.Struct, frozen=True):
    """A fault and what became of it."""

    fault: Fault
    outcome: Outcome
    cases: int
    """That run its lines, over all profiles."""
    explained: str = ""

    @property
    def is_noticed(self) -> bool:
        return self.outcome.how in NOTICED


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    stopwatch = RunningClock()
    people = sys.stderr if options.json else sys.stdout
    check_possible("--generated")
    explained = explanations(options.explained, KINDS)
    done, is_whole = _measured(options, explained, people)
    answer = _answer(options, done, stopwatch.waiting(), is_whole=is_whole)
    path = written(options.out / f"generated-{options.role}.json", answer)
    _print(Console(file=people, highlight=False, markup=False, soft_wrap=True), answer, path)
    if options.json:
        say_json(answer)
    return int(answer["exit_status"])


def _measured(
    options: argparse.Namespace, explained: Mapping[str, str], people: TextIO
) -> tuple[list[Tried], bool]:
    """What became of the faults, and whether that is all of them: an interrupt leaves out the rest."""
    done: dict[Fault, Outcome] = {}
    plan: dict[Fault, tuple[Trial, ...]] = {}
    with worker_processes(options.workers, begin) as pool, contextlib.suppress(KeyboardInterrupt):
        whole = all_cases(options.role, options.profile)
        ran = lines_run(pool, whole, options.out, people)
        lines = [one.lines for one in ran]
        for fault in _drawn(options.role, options.seed, options.generated, lines):
            plan[fault] = trials_of(fault.site, whole, ran)
        for fault, outcome in _outcomes(pool, plan, people):
            done[fault] = outcome
    tried = [
        Tried(fault, done[fault], trials[-1].cases, explained.get(fault.name, ""))
        for fault, trials in plan.items()
        if fault in done
    ]
    return tried, 0 < len(plan) == len(done)


def _drawn(role: Role, seed: int, number: int, lines: Sequence[Lines]) -> list[Fault]:
    """This many faults, decided by the seed. All statements are equally likely.

    A statement's place in the draw depends on itself alone. When code changes elsewhere, the others keep
    theirs, so that a file of explained survivors stays true.
    """
    sources = sources_of(files_of(role))
    found: dict[tuple[str, str, int], list[Site]] = {}
    for file, source in sources.items():
        sites = list(sites_of(file, source))
        if file.startswith(SHARED):
            known = {number for some in lines for number in some.get(file, ())}
            serving = {one.function for one in sites if known.intersection(range(one.line, one.end + 1))}
            sites = [one for one in sites if one.function in serving]
        for site in sites:
            found.setdefault((file, site.function, site.statement), []).append(site)
    drawing = {key: chance("generated", role, seed, *key) for key in found}
    order = sorted((one.random(), key) for key, one in drawing.items())
    drawn = (
        _first_fault(drawing[key].sample(found[key], len(found[key])), sources[key[0]]) for _, key in order
    )
    return list(islice((one for one in drawn if one is not None), number))


def _first_fault(sites: Sequence[Site], source: str) -> Fault | None:
    return next((fault for site in sites if (fault := fault_at(site, source)) is not None), None)


def _outcomes(
    pool: Executor, plan: Mapping[Fault, Sequence[Trial]], people: TextIO
) -> Iterator[tuple[Fault, Outcome]]:
    """What becomes of each fault, as it comes; says how far it is."""
    missed = 0
    with Line(Console(file=people, highlight=False), BarColumn()) as line:
        running = {pool.submit(tried, fault.site, trials): fault for fault, trials in plan.items()}
        for number, future in enumerate(as_completed(running), 1):
            outcome = future.result()
            missed += outcome.how not in NOTICED
            said = f"{number} of {len(plan)} faults, {missed} not noticed"
            line.show(said, number, len(plan))
            if number % LOGGED == 0:
                line.log(said)
            yield running[future], outcome


def _answer(
    options: argparse.Namespace, done: Sequence[Tried], seconds: float, *, is_whole: bool
) -> dict[str, Any]:
    noticed = Counter(one.outcome.how for one in done if one.is_noticed)
    survivors = [one for one in done if not one.is_noticed]
    not_run = [one for one in survivors if not one.explained and not one.cases]
    missed = [one for one in survivors if not one.explained and one.cases]
    judged = sum(noticed.values()) + len(missed)
    vain = [one.fault.name for one in done if one.is_noticed and one.explained]
    conclusion = f"{len(missed)} FAULTS MISSED" if missed else "EVERY FAULT NOTICED OR EXPLAINED"
    return {
        "conclusion": conclusion if is_whole else f"INTERRUPTED, {len(missed)} FAULTS MISSED SO FAR",
        "exit_status": INTERRUPTED if not is_whole else FAILED if missed or vain else OK,
        "seconds": round(seconds, 1),
        "role": options.role,
        "seed": options.seed,
        "faults": len(done),
        "noticed": {how: noticed[how] for how in NOTICED},
        "explained": len(survivors) - len(missed) - len(not_run),
        "not_run": len(not_run),
        "explained_in_vain": vain,
        "missed": len(missed),
        "rate": round(100 * sum(noticed.values()) / judged, 1) if judged else None,
        "survivors": [_shown(one) for one in survivors],
        "all": [_shown(one) for one in done],
    }


def _shown(one: Tried) -> dict[str, Any]:
    return {
        "name": one.fault.name,
        "place": f"{one.fault.site.file}:{one.fault.site.line}",
        "operator": one.fault.operator,
        "before": one.fault.before,
        "after": one.fault.after,
        "cases": one.cases,
        "explained": one.explained,
        **msgspec.to_builtins(one.outcome),
    }


def _print(console: Console, answer: Mapping[str, Any], path: Path) -> None:
    for one in answer["survivors"]:
        if one["explained"] or not one["cases"]:
            continue
        seen = f"{one['cases']} cases run it"
        if one["how"] == "blocked":
            seen += f", {one['case']} is blocked: {one['why']}"
        console.print(f"\n✘ {one['place']}  {one['operator']}; {seen}\n  {one['name']}")
    for name in answer["explained_in_vain"]:
        console.print(f"\n✘ explained, and noticed all the same: take it out of the file\n  {name}")
    noticed = answer["noticed"]
    rate = "" if answer["rate"] is None else f"; {answer['rate']} % of those not explained"
    console.print(
        f"\n{answer['faults']} faults of seed {answer['seed']}: {sum(noticed.values())} noticed "
        f"({noticed['failure']} by failures, {noticed['crash']} by crashes, {noticed['hang']} by hangs), "
        f"{answer['explained']} explained, {answer['not_run']} in code that no case runs (see --coverage), "
        f"{answer['missed']} missed{rate}, "
        f"{answer['seconds']} s\n{answer['conclusion']}, exit {answer['exit_status']} · {path}"
    )
