"""The command: draws faults by a seed, tries them, and writes down which no case notices.

A survivor that a person has explained (`--explained`) is no miss; any other one is a missing case.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import harness
from harness.catalogue import Role, catalogue, did_you_mean
from harness.cli.generated.explained import read_explained
from harness.cli.generated.trying import Outcome, Work, begin, covered, tried
from harness.cli.output import say_json
from harness.cli.parser import Usage
from harness.cli.status import FAILED, OK
from harness.conformance.loading import checked_cases
from harness.program.chance import chance
from harness.session import RunningClock
from harness.targets.builtin.target import reference_line
from reference_impl.mutants.generated import Fault, Site, fault_at, sites_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

_ROOT = Path(harness.__file__).parents[1]
_SCOPES: dict[Role, tuple[str, ...]] = {
    "nameserver": ("reference_impl/remoting", "reference_impl/nameserver", "harness/wire"),
    "broker": ("reference_impl/broker", "harness/wire/messages", "harness/wire/bodies/broker"),
}
"""Where the faults of a role are made."""
_SHARED = "harness/wire/"
"""Code that the harness uses, too. What the servers never run of it is none of theirs."""
_NOT_PROTOCOL = "/parts.py"
"""How mutants are put together."""
NOTICED = ("failure", "crash", "hang")

Lines = Mapping[str, Mapping[int, Sequence[str]]]


class Tried(msgspec.Struct, frozen=True):
    """A fault and what became of it."""

    fault: Fault
    outcome: Outcome
    cases: int
    """That run its lines, over all profiles."""
    explained: str = ""


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    stopwatch = RunningClock()
    people = sys.stderr if options.json else sys.stdout
    try:
        explained = {} if options.explained is None else read_explained(options.explained)
    except ValueError as error:
        raise Usage(f"rmq-harness selftest: --explained {error}") from None
    done = _measured(options, explained, people)
    answer = _answer(options, done, stopwatch.waiting())
    path = _write(options.out, answer)
    _print(Console(file=people, highlight=False, markup=False, soft_wrap=True), answer, path)
    if options.json:
        say_json(answer)
    return int(answer["exit_status"])


def _measured(options: argparse.Namespace, explained: Mapping[str, str], people: TextIO) -> list[Tried]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.workers, mp_context=context, initializer=begin) as pool:
        try:
            whole = _whole(options)
            running = [pool.submit(covered, work) for work in whole]
            lines: list[Lines] = [one.result() for one in running]
            faults = _drawn(options.role, options.seed, options.generated, lines)
            plan = {fault: tuple(_meeting(fault.site, whole, lines)) for fault in faults}
            done = dict(_outcomes(pool, plan, people))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [
        Tried(one, done[one], sum(len(some.cases) for some in plan[one]), explained.get(one.name, ""))
        for one in faults
    ]


def _whole(options: argparse.Namespace) -> list[Work]:
    """All cases, under the newest profile first."""
    loaded = checked_cases(options.role, unfinished=False)
    of_role = catalogue().of(options.role)
    return [
        Work(options.role, profile, tuple(one.name for one in loaded if one.statements(of_role, profile)))
        for profile in reversed(_profiles(options))
    ]


def _drawn(role: Role, seed: int, number: int, lines: Sequence[Lines]) -> list[Fault]:
    """So many faults, by the seed. Every line has the same chance, however many changes it allows."""
    sources = {file: (_ROOT / file).read_text(encoding="utf-8") for file in _files(role)}
    found: dict[tuple[str, int], list[Site]] = {}
    for file, source in sources.items():
        sites = list(sites_of(file, source))
        if file.startswith(_SHARED):
            known = {number for some in lines for number in some.get(file, ())}
            serving = {one.function for one in sites if known.intersection(range(one.line, one.end + 1))}
            sites = [one for one in sites if one.function in serving]
        for site in sites:
            found.setdefault((file, site.line), []).append(site)
    drawing = chance("generated", role, seed)
    order = sorted(found)
    drawing.shuffle(order)
    drawn = (_first_fault(drawing.sample(found[key], len(found[key])), sources[key[0]]) for key in order)
    return list(islice((one for one in drawn if one is not None), number))


def _first_fault(sites: Sequence[Site], source: str) -> Fault | None:
    return next((fault for site in sites if (fault := fault_at(site, source)) is not None), None)


def _files(role: Role) -> Iterator[str]:
    """Those that hold the role's share of the protocol, from the root, with slashes."""
    for scope in _SCOPES[role]:
        for path in sorted((_ROOT / scope).rglob("*.py")):
            file = path.relative_to(_ROOT).as_posix()
            if not file.endswith(_NOT_PROTOCOL):
                yield file


def _meeting(site: Site, whole: Sequence[Work], lines: Sequence[Lines]) -> Iterator[Work]:
    """The cases that run the place, for each profile that has some."""
    for one, known in zip(whole, lines, strict=True):
        if names := _running(site, one, known):
            yield msgspec.structs.replace(one, cases=names)


def _running(site: Site, whole: Work, lines: Lines) -> tuple[str, ...]:
    """The cases that run the place; all of them if the start of the server runs it."""
    known = lines.get(site.file, {})
    names = {name for number in range(site.line, site.end + 1) for name in known.get(number, ())}
    return whole.cases if "" in names else tuple(one for one in whole.cases if one in names)


def _profiles(options: argparse.Namespace) -> list[str]:
    known = [one.name for one in catalogue().of(options.role).profiles]
    if options.profile and options.profile not in known:
        hint = did_you_mean(options.profile, known, f"there are {', '.join(known)}")
        raise Usage(f"rmq-harness selftest: --profile {options.profile}: no such profile; {hint}")
    wanted = [options.profile] if options.profile else known
    return [one for one in wanted if reference_line(options.role, one) == one]


def _outcomes(
    pool: Executor, plan: Mapping[Fault, Sequence[Work]], people: TextIO
) -> Iterator[tuple[Fault, Outcome]]:
    columns = (TextColumn("faults"), BarColumn(), TextColumn("{task.completed:.0f} of {task.total:.0f}"))
    console = Console(file=people)
    with Progress(
        *columns, TimeElapsedColumn(), console=console, transient=True, disable=not people.isatty()
    ) as progress:
        bar = progress.add_task("", total=len(plan))
        running = {pool.submit(tried, fault.site, work): fault for fault, work in plan.items()}
        for future in as_completed(running):
            progress.advance(bar)
            yield running[future], future.result()


def _answer(options: argparse.Namespace, done: Sequence[Tried], seconds: float) -> dict[str, Any]:
    missed = [one for one in done if one.outcome.how not in NOTICED and not one.explained]
    counts = Counter(one.outcome.how for one in done)
    visible = [one for one in done if not one.explained]
    return {
        "conclusion": "EVERY FAULT NOTICED OR EXPLAINED" if not missed else f"{len(missed)} FAULTS MISSED",
        "exit_status": FAILED if missed else OK,
        "seconds": round(seconds, 1),
        "role": options.role,
        "seed": options.seed,
        "faults": len(done),
        "noticed": {how: counts[how] for how in NOTICED},
        "explained": sum(bool(one.explained) for one in done),
        "missed": len(missed),
        "rate": round(100 * (1 - len(missed) / len(visible)), 1) if visible else None,
        "survivors": [_shown(one) for one in done if one.outcome.how not in NOTICED],
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


def _write(out: Path, answer: Mapping[str, Any]) -> Path:
    path = out / f"generated-{answer['role']}.json"
    try:
        out.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(answer), indent=2) + b"\n")
    except OSError as error:
        raise Usage(
            f"rmq-harness selftest: --out {out}: {error.strerror}; expected a place to write to"
        ) from None
    return path


def _print(console: Console, answer: Mapping[str, Any], path: Path) -> None:
    for one in answer["survivors"]:
        if one["explained"]:
            continue
        seen = "no case runs it" if not one["cases"] else f"{one['cases']} cases run it"
        if one["how"] == "blocked":
            seen += f", {one['case']} is blocked: {one['why']}"
        console.print(f"\n✘ {one['place']}  {one['operator']}; {seen}\n  {one['name']}")
    noticed = answer["noticed"]
    console.print(
        f"\n{answer['faults']} faults of seed {answer['seed']}: {sum(noticed.values())} noticed "
        f"({noticed['failure']} by failures, {noticed['crash']} by crashes, {noticed['hang']} by hangs), "
        f"{answer['explained']} explained, {answer['missed']} missed; {answer['rate']} % of those not "
        f"explained, {answer['seconds']} s\n{answer['conclusion']}, exit {answer['exit_status']} · {path}"
    )
