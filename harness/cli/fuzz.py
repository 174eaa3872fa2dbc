"""`fuzz`: an open-ended run of random programs against a target; what fails is confirmed, shrunk and kept."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import SpinnerColumn

from harness.catalogue import Role, catalogue, did_you_mean
from harness.cli.asked import profile_of, quirks_for, target_of
from harness.cli.bar import Line
from harness.cli.output import say_json
from harness.cli.parser import Usage
from harness.cli.status import FAILED, HARNESS_FAILED, INCONCLUSIVE, INTERRUPTED, OK
from harness.engine.frames.corpus import Corpus
from harness.engine.fuzzing import (
    Ending,
    Fuzzing,
    KindRecord,
    Limits,
    Progress,
    Record,
    RecordError,
    read_record,
)
from harness.engine.instances import InstancePool
from harness.engine.kind import Kind
from harness.engine.kinds import KINDS, Setting
from harness.findings.experiment import Finding, Flaky
from harness.findings.failing_cases import FailingCases
from harness.findings.store import FindingStore
from harness.findings.triage import Budget
from harness.program.steps import encode_step
from harness.session import RunningClock
from harness.targets import Target

ALL = "all"
_SHOWN = 5
_SHOWN_STEPS = 30
_SHOWN_STATEMENTS = 3


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    role: Role = options.role
    target = target_of("fuzz", options.target, options, role)
    profile = profile_of("fuzz", options.profile, target, role)
    seed = options.seed if options.seed is not None else str(int.from_bytes(os.urandom(4), "big"))
    quirks_for("fuzz", options.quirks, target, role)
    names = _kinds(options)
    record = _record(options, target, profile, seed)
    is_own = target.capabilities.is_virtual
    setting = Setting(
        target=target,
        role=role,
        servers=InstancePool(target),
        profile=profile,
        quirks=options.quirks,
        words=f"{seed}/{profile}" if is_own else f"{seed}/{os.urandom(8).hex()}",
        strict=options.strict,
        corpus=Corpus(options.corpus or options.out / "corpus", profile),
        memory=options.memory * 1024 * 1024,
    )
    people = sys.stderr if options.json else sys.stdout
    console = Console(file=people, highlight=False, markup=False, soft_wrap=True)
    stopwatch = RunningClock()
    store = FindingStore(options.out, statements={one.id: one for one in catalogue().statements})
    console.print(
        f"rmq-harness fuzz · {', '.join(names)} · profile {profile} · seed {seed} · target {target.uri}"
        + (f" · going on after {record.programs} programs" if record.programs else "")
    )
    kinds: list[Kind] = [KINDS[role][name](setting) for name in names]
    try:
        with Line(console, SpinnerColumn()) as line:
            fuzzing = Fuzzing(
                kinds,
                record,
                store,
                Budget(now=stopwatch.waiting, attempts=options.attempts, seconds=options.shrink_time),
                Limits(
                    now=stopwatch.waiting,
                    seconds=options.max_time,
                    programs=options.max_examples,
                ),
                explain=FailingCases(
                    target, profile, role, now=stopwatch.waiting, quirks=options.quirks
                ).broken_by,
                is_ours=target.capabilities.is_ours,
                out=options.out,
                heard=lambda at: _shown(line, at),
            )
            ending = fuzzing.run()
    finally:
        for kind in kinds:
            kind.close()
    answer = _answer(options, record, store, ending, fuzzing, stopwatch.waiting())
    _print(console, record, store, answer)
    if options.json:
        say_json(answer)
    return int(answer["exit_status"])


# --- what was asked for -------------------------------------------------------------------------------------


def _kinds(options: argparse.Namespace) -> list[str]:
    kinds = tuple(KINDS[options.role])
    if options.kind == ALL:
        return list(kinds)
    if options.kind not in kinds:
        known = (*kinds, ALL)
        hint = did_you_mean(options.kind, known, f"expected {', '.join(known)}")
        raise Usage(f"rmq-harness fuzz: --kind {options.kind}: no such kind of a {options.role}; {hint}")
    return [options.kind]


def _record(options: argparse.Namespace, target: Target, profile: str, seed: str) -> Record:
    if options.max_time is None and options.max_examples is None:
        raise Usage("rmq-harness fuzz: say how long: --max-time 10m, or --max-examples 1000")
    if not options.resume:
        return Record(target=target.uri, profile=profile, seed=seed, quirks=options.quirks, kinds=[])
    if options.seed is None:
        raise Usage("rmq-harness fuzz: --resume needs the --seed of the run to go on with")
    try:
        return read_record(options.out, target.uri, profile, seed, options.quirks)
    except RecordError as problem:
        raise Usage(f"rmq-harness fuzz: --resume: {problem}") from None


# --- while it goes on ---------------------------------------------------------------------------------------


def _shown(line: Line, at: Progress) -> None:
    """On a terminal all there is to say; elsewhere a line for each thing that takes long."""
    rate = at.steps / at.seconds if at.seconds else 0.0
    said = f"{at.kind} · {at.programs} programs, {at.steps} steps, {rate:.0f}/s"
    if at.goals:
        said += f" · {at.goals - at.missed} of {at.goals} goals"
    said += f" · {at.findings} findings" + (f", {at.flaky} flaky" if at.flaky else "")
    line.show(said + (f" · {at.doing}" if at.doing else ""))
    if at.doing:
        line.log(f"  {at.seconds:.0f} s · {at.programs} programs · {at.doing}", always=True)


# --- the answer ---------------------------------------------------------------------------------------------


def _answer(
    options: argparse.Namespace,
    record: Record,
    store: FindingStore,
    ending: Ending,
    fuzzing: Fuzzing,
    seconds: float,
) -> dict[str, Any]:
    status, conclusion, why = _status(record, store, ending, fuzzing)
    return {
        "conclusion": conclusion,
        "exit_status": status,
        "why": why,
        "target": record.target,
        "profile": record.profile,
        "seed": record.seed,
        "seconds": round(seconds, 1),
        "programs": record.programs,
        "steps": record.steps,
        "seconds_waited": round(record.waited, 1),
        "kinds": record.kinds,
        "findings": [_told(one) for one in store.findings],
        "flaky": [_told(one) for one in store.flaky],
        "unconfirmed": [_told(one) for one in store.unconfirmed.values()],
        "out": str(options.out),
    }


def _told(one: Finding | Flaky) -> dict[str, Any]:
    return {
        "statement": one.signature.statement,
        "invariant": one.signature.invariant,
        "anomaly": one.signature.anomaly,
        "expected": one.violation.expected,
        "actual": one.violation.actual,
        "also_fails": one.also_fails if isinstance(one, Finding) else (),
        "confirmed": str(one.confirmed),
        "steps": [encode_step(step) for step in one.program],
        "times": one.times if isinstance(one, Finding) else 1,
        "directory": one.directory,
    }


def _status(record: Record, store: FindingStore, ending: Ending, fuzzing: Fuzzing) -> tuple[int, str, str]:
    """Exit status, what it is called, and why."""
    if ending == "interrupted":
        return INTERRUPTED, "INTERRUPTED", ""
    if ending == "died":
        return HARNESS_FAILED, "THE TARGET DIED", fuzzing.death
    if trouble := fuzzing.trouble or store.trouble:
        return HARNESS_FAILED, "NOT ALL COULD BE WRITTEN", trouble
    if store.findings:
        return FAILED, "FINDINGS", ""
    if not record.programs:
        return INCONCLUSIVE, "INCONCLUSIVE", "no program was played"
    if store.flaky or store.unconfirmed:
        return INCONCLUSIVE, "INCONCLUSIVE", "what failed did not fail again often enough"
    if all(kind.late == kind.programs for kind in record.kinds):
        return INCONCLUSIVE, "INCONCLUSIVE", "the machine is too slow for the target's clock"
    if missed := [goal for kind in record.kinds for goal in kind.missed]:
        return INCONCLUSIVE, "INCONCLUSIVE", f"{len(missed)} required goals were not reached"
    return OK, "NOTHING FOUND", ""


def _print(console: Console, record: Record, store: FindingStore, answer: dict[str, Any]) -> None:
    for mark, found in (
        ("✘", store.findings),
        ("≈ flaky", store.flaky),
        ("? unconfirmed", list(store.unconfirmed.values())),
    ):
        for one in found[:_SHOWN]:
            _print_one(console, mark, one)
        if len(found) > _SHOWN:
            console.print(f"\n{mark} and {len(found) - _SHOWN} more")
    for kind in record.kinds:
        _print_kind(console, kind)
    if answer["why"]:
        console.print(f"\n{answer['why']}")
    busy = max(0.0, record.seconds - record.waited)
    rate = record.steps / busy if busy else 0.0
    waited = f" and {record.waited:.0f} s that programs let pass" if record.waited >= 1 else ""
    console.print(
        f"\n{record.programs} programs, {record.steps} steps, {busy:.0f} s{waited}, {rate:.0f}/s · "
        f"{len(store.findings)} findings, {len(store.flaky)} flaky          "
        f"{answer['conclusion']}, exit {answer['exit_status']} · {answer['out']}"
    )


def _print_one(console: Console, mark: str, one: Finding | Flaky) -> None:
    where = "" if one.directory is None else f" · {Path(one.directory)}"
    console.print(f"\n{mark} {one.signature.statement} ({one.signature.invariant}), {one.confirmed}{where}")
    console.print(f"  expected   {one.violation.expected}\n  actual     {one.violation.actual}")
    if isinstance(one, Finding) and one.also_fails:
        more = len(one.also_fails) - _SHOWN_STATEMENTS
        said = ", ".join(one.also_fails[:_SHOWN_STATEMENTS]) + (f" and {more} more" if more > 0 else "")
        console.print(f"  also fails {said}")
    steps = [encode_step(step) for step in one.program]
    for number, step in enumerate(steps[:_SHOWN_STEPS], 1):
        console.print(f"  {number:>3}  {step}")
    if len(steps) > _SHOWN_STEPS:
        console.print(f"  … and {len(steps) - _SHOWN_STEPS} more")


def _print_kind(console: Console, kind: KindRecord) -> None:
    reached = len(kind.goals) - len(kind.missed)
    parts = [f"{kind.name}: {kind.programs} programs, {kind.steps} steps"]
    if kind.goals:
        parts.append(f"{reached} of {len(kind.goals)} goals reached")
    if kind.transitions:
        parts.append(f"{len(kind.transitions)} transitions")
    if kind.late:
        parts.append(f"{kind.late} programs too late to count")
    if kind.deaths:
        parts.append(f"{kind.deaths} deaths of the target")
    console.print("\n" + " · ".join(parts))
    if kind.missed:
        console.print(f"  goals not reached: {', '.join(kind.missed)}")
    for quirk, times in sorted(kind.quirks.items()):
        console.print(f"  named quirk {quirk}: {times} programs")
