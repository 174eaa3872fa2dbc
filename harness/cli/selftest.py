"""`selftest`: the harness judged by servers that are wrong on purpose."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from harness.catalogue import LEVELS, ROLES, Level, Role, catalogue, did_you_mean
from harness.cli.killing import KILLED, Problem, Seen, Task, declared, judge_matrix, run_tasks
from harness.cli.output import complain, say_json
from harness.cli.parser import Usage
from harness.cli.status import FAILED, INCONCLUSIVE, OK
from harness.conformance.loading import LoadedCase, checked_cases
from harness.conformance.selection import Choice, select
from harness.session import RunningClock
from harness.targets.builtin.target import reference_line
from harness.targets.posix import require_posix
from reference_impl.mutants import MUTANTS, mutants_of

MEASURES = ("generated", "coverage", "replies", "values")
"""Options that measure the cases by something other than mutants."""


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    if measures := [name for name in MEASURES if getattr(options, name)]:
        return _measure(options, measures)
    if options.explained is not None:
        names = ", ".join(f"--{name}" for name in MEASURES)
        raise Usage(f"rmq-harness selftest: --explained: it belongs to one of {names}")
    _make_directory(options.out)
    stopwatch = RunningClock()
    loaded = checked_cases(options.role, unfinished=bool(options.select))
    profiles = _profiles(options)
    for sentence in _choice(options).renamed(catalogue()):
        complain(f"rmq-harness selftest: {sentence}")
    chosen = {profile: _chosen(loaded, profile, options) for profile in profiles}
    mutants = _mutants(options, [one for some in chosen.values() for one in some])
    tasks = _tasks(options, chosen, mutants)
    if not any(task.mutant for task in tasks):
        complain("rmq-harness selftest: nothing was measured: no case and mutant of that choice meet")
        return INCONCLUSIVE
    people = sys.stderr if options.json else sys.stdout
    seen = _run(tasks, options.workers, people)
    seen += _second_look(seen, chosen, options.workers, people)
    judged = list({one.name: one for some in chosen.values() for one in some}.values())
    problems = judge_matrix(seen, judged, options.role, profiles)
    answer = _answer(seen, problems, judged, stopwatch.waiting())
    paths = _write(options.out, answer, seen, judged)
    _print(
        Console(file=people, highlight=False, markup=False, soft_wrap=True),
        answer,
        problems,
        paths,
        options.role,
    )
    if options.json:
        say_json(answer)
    return FAILED if problems else OK


def _measure(options: argparse.Namespace, measures: Sequence[str]) -> int:
    """Runs the one measure that was asked for. It has all cases, and no mutants."""
    if len(measures) > 1:
        both = " and ".join(f"--{name}" for name in measures)
        raise Usage(f"rmq-harness selftest: {both}: each is a measure of its own; give one at a time")
    measure = measures[0]
    of_both = measure == "coverage"
    for name, is_given in (
        ("--select", options.select),
        ("--mutant", options.mutant),
        ("--full", options.full),
        ("--role", of_both and options.role != ROLES[0]),
    ):
        if is_given:
            every = "every case of both roles" if of_both else "every case of the role"
            raise Usage(f"rmq-harness selftest: {name}: --{measure} takes {every}; leave out {name}")
    require_posix(f"selftest --{measure}")
    from harness.cli.measures import coverage, faults, replies, values

    runs = {"coverage": coverage.run, "generated": faults.run, "replies": replies.run, "values": values.run}
    return runs[measure](options)


def _profiles(options: argparse.Namespace) -> list[str]:
    wanted = options.profile
    known = [profile.name for profile in catalogue().of(options.role).profiles]
    if wanted and wanted not in known:
        hint = did_you_mean(wanted, known, f"there are {', '.join(known)}")
        raise Usage(f"rmq-harness selftest: --profile {wanted}: no such profile; {hint}")
    return [wanted] if wanted else known


def _mutants(options: argparse.Namespace, chosen: Sequence[LoadedCase]) -> list[str]:
    """The mutants that were named; else all, or where cases were selected those that they say they kill."""
    known = mutants_of(options.role)
    for name in options.mutant:
        if name not in known:
            hint = did_you_mean(name, known, "`rmq-harness explain` knows their names")
            raise Usage(f"rmq-harness selftest: --mutant {name}: no such mutant; {hint}")
    if options.mutant:
        return [name for name in known if name in options.mutant]
    if _is_of_a_part(options):
        said = {name for one in chosen for name in one.case.kills}
        return [name for name in known if name in said]
    return list(known)


def _is_of_a_part(options: argparse.Namespace) -> bool:
    """Whether each mutant is up to the selected cases that say they kill it, and to no others."""
    return bool(options.select or options.exclude or options.level) and not (options.full or options.mutant)


def _choice(options: argparse.Namespace) -> Choice:
    level: Level | None = next((one for one in LEVELS if one.lower() == options.level), None)
    return Choice(tuple(options.select), tuple(options.exclude), level)


def _chosen(
    loaded: Sequence[LoadedCase], profile: str, options: argparse.Namespace
) -> tuple[LoadedCase, ...]:
    chosen = select(catalogue().of(options.role), loaded, profile, _choice(options))
    if chosen.unmatched:
        raise Usage(f"rmq-harness selftest: {'; '.join(chosen.unmatched)}")
    return chosen.cases


def _tasks(
    options: argparse.Namespace, chosen: dict[str, tuple[LoadedCase, ...]], mutants: Sequence[str]
) -> list[Task]:
    """Each mutant against the cases that declare it, or against all; the sound reference against every case,
    or where mutants were named against those that these meet.
    """
    tasks: list[Task] = []
    role: Role = options.role
    for profile, some in chosen.items():
        names = tuple(one.name for one in some)
        of_mutants = []
        for name in mutants:
            if reference_line(role, profile) in MUTANTS[name].profiles:
                tried = names if options.full else declared(some, role, profile, name)
                if tried or not _is_of_a_part(options):
                    of_mutants.append(Task(role, profile, name, tried))
        met = {name for task in of_mutants for name in task.cases}
        sound = tuple(name for name in names if name in met) if options.mutant else names
        tasks += [Task(role, profile, "", sound), *of_mutants]
    return tasks


def _second_look(
    seen: Sequence[Seen], chosen: dict[str, tuple[LoadedCase, ...]], workers: int, people: TextIO
) -> list[Seen]:
    """Looks for a case that kills the mutants that no case killed which declares it."""
    tasks: list[Task] = []
    for one in seen:
        if one.task.mutant and not KILLED.intersection(one.verdicts.values()):
            others = tuple(case.name for case in chosen[one.task.profile] if case.name not in one.verdicts)
            if others:
                tasks.append(msgspec.structs.replace(one.task, cases=others, until_killed=True))
    return _run(tasks, workers, people) if tasks else []


def _run(tasks: Sequence[Task], workers: int, people: TextIO) -> list[Seen]:
    console = Console(file=people)
    columns = (TextColumn("mutants"), BarColumn(), TextColumn("{task.completed:.0f} of {task.total:.0f}"))
    with Progress(
        *columns, TimeElapsedColumn(), console=console, transient=True, disable=not people.isatty()
    ) as progress:
        bar = progress.add_task("", total=len(tasks))
        return run_tasks(tasks, workers, lambda _: progress.advance(bar))


def _answer(
    seen: Sequence[Seen], problems: Sequence[Problem], judged: Sequence[LoadedCase], seconds: float
) -> dict[str, Any]:
    killers = _killers(seen)
    tried = {(one.task.mutant, one.task.profile) for one in seen if one.task.mutant}
    killed = {key for key in tried if killers.get(key)}
    return {
        "conclusion": "EVERY MUTANT KILLED" if not problems else "SELF-TEST FAILED",
        "exit_status": FAILED if problems else OK,
        "seconds": round(seconds, 1),
        "profiles": sorted({profile for _, profile in tried}),
        "cases": len(judged),
        "mutants": {
            "total": len({name for name, _ in tried}),
            "tried": len(tried),
            "killed": len(killed),
            "historical": sum(bool(MUTANTS[name].history) for name in {name for name, _ in tried}),
        },
        "problems": [msgspec.to_builtins(problem) for problem in problems],
        "matrix": [
            {"mutant": name, "profile": profile, "killed_by": killers.get((name, profile), [])}
            for name, profile in sorted(tried)
        ],
    }


def _killers(seen: Sequence[Seen]) -> dict[tuple[str, str], list[str]]:
    killers: dict[tuple[str, str], list[str]] = {}
    for one in seen:
        if one.task.mutant:
            found = [name for name, verdict in one.verdicts.items() if verdict in KILLED]
            killers.setdefault((one.task.mutant, one.task.profile), []).extend(found)
    return killers


def _write(
    out: Path, answer: dict[str, Any], seen: Sequence[Seen], judged: Sequence[LoadedCase]
) -> list[str]:
    table, text = out / "selftest.json", out / "selftest.txt"
    try:
        table.write_bytes(msgspec.json.format(msgspec.json.encode(answer), indent=2) + b"\n")
        text.write_text(_matrix(seen, judged), encoding="utf-8")
    except OSError as error:
        raise _unwritable(out, error) from None
    return [str(text), str(table)]


def _make_directory(out: Path) -> None:
    """Raises Usage, before minutes are spent on what cannot be written."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(out, error) from None


def _unwritable(out: Path, error: OSError) -> Usage:
    return Usage(f"rmq-harness selftest: --out {out}: {error.strerror}; expected a place to write to")


def _matrix(seen: Sequence[Seen], judged: Sequence[LoadedCase]) -> str:
    """For people: each mutant with its killers; `*` marks a case that declares the kill."""
    killers = _killers(seen)
    lines = ["Each mutant, by chapter, with the cases that kill it; * marks those that say so.", ""]
    chapter = ""
    for mutant in sorted(MUTANTS.values(), key=lambda one: one.chapter):
        found = {profile: names for (name, profile), names in killers.items() if name == mutant.name}
        if not found:
            continue
        if mutant.chapter != chapter:
            chapter = mutant.chapter
            lines += [chapter, "=" * len(chapter), ""]
        history = f" ({mutant.history})" if mutant.history else ""
        lines.append(f"{mutant.name}: {mutant.description}{history}")
        saying = {one.name for one in judged if mutant.name in one.case.kills}
        for profile, names in found.items():
            shown = [f"{name}*" if name in saying else name for name in sorted(names)]
            lines.append(f"  {profile}  {', '.join(shown) or 'SURVIVES'}")
        lines.append("")
    return "\n".join(lines)


def _print(
    console: Console, answer: dict[str, Any], problems: Sequence[Problem], paths: Sequence[str], role: Role
) -> None:
    by_chapter: dict[str, Counter[str]] = {}
    for row in answer["matrix"]:
        counts = by_chapter.setdefault(MUTANTS[row["mutant"]].chapter, Counter())
        counts["tried"] += 1
        counts["killed"] += bool(row["killed_by"])
    chapters = catalogue().of(role).chapters
    order = [chapter.removeprefix("broker-").replace("-", "_") for chapter in chapters]
    for chapter in sorted(by_chapter, key=lambda name: order.index(name) if name in order else len(order)):
        counts = by_chapter[chapter]
        name = chapter.replace("_", "-")
        console.print(f"{name:<20}{counts['killed']:>4} of {counts['tried']:>4} killed")
    for problem in problems:
        console.print(f"\n✘ {problem.kind}: {problem.what}\n  do: {problem.do}")
    mutants = answer["mutants"]
    console.print(
        f"\n{mutants['killed']} of {mutants['tried']} killed ({mutants['total']} mutants, "
        f"{mutants['historical']} of them historical bugs, under profiles "
        f"{', '.join(answer['profiles'])}), {answer['cases']} cases, {len(problems)} problems, "
        f"{answer['seconds']} s\n{answer['conclusion']}, exit {answer['exit_status']} · {' · '.join(paths)}"
    )
