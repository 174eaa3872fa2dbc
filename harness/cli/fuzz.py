"""`fuzz`: an open-ended run of random programs against a target; what fails is confirmed, shrunk and kept."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import date

from rich.console import Console
from rich.progress import SpinnerColumn

from harness.catalogue import Role, catalogue
from harness.cli.asked import profile_of, quirks_for, refuse_unknown_kind, target_of
from harness.cli.bar import Line
from harness.cli.fuzz_page import write_page
from harness.cli.fuzz_summary import Summary
from harness.cli.output import say_json
from harness.cli.parser import Usage
from harness.conformance.baseline import BaselineError
from harness.engine.frames.corpus import Corpus
from harness.engine.fuzzing import Fuzzing, Limits, Progress, Record, RecordError, read_record
from harness.engine.instances import InstancePool
from harness.engine.kind import Kind
from harness.engine.kinds import KINDS, ROLES, Setting
from harness.findings.deviations import Deviations
from harness.findings.failing_cases import FailingCases
from harness.findings.known import KnownFindings, read_known
from harness.findings.store import FindingStore
from harness.findings.triage import Budget
from harness.report.results import RecordError as NoRecordOfACheck
from harness.report.text import plural
from harness.session import RunningClock, Unsupported
from harness.targets import Target

ALL = "all"


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    role: Role = options.role
    target = target_of("fuzz", options.target, options, role)
    profile = profile_of("fuzz", options.profile, target, role)
    seed = options.seed if options.seed is not None else str(int.from_bytes(os.urandom(4), "big"))
    quirks_for("fuzz", options.quirks, target, role)
    names = _kinds(options)
    known = _known(options, profile, role)
    record = _record(options, target, profile, seed)
    deviations = Deviations()
    is_own = target.capabilities.is_virtual
    setting = Setting(
        target=target,
        role=role,
        servers=InstancePool(target, ROLES[role].setup),
        profile=profile,
        quirks=options.quirks,
        words=f"{seed}/{profile}" if is_own else f"{seed}/{os.urandom(8).hex()}",
        strict=options.strict,
        deviations=deviations,
        corpus=Corpus(options.corpus or options.out / "corpus", profile),
        memory=options.memory * 1024 * 1024,
    )
    people = sys.stderr if options.json else sys.stdout
    console = Console(file=people, highlight=False, markup=False, soft_wrap=True)
    stopwatch = RunningClock()
    statements = {one.id: one for one in catalogue().statements}
    store = FindingStore(options.out, statements=statements, why=known.why)
    console.print(
        f"rmq-harness fuzz · {', '.join(names)} · profile {profile} · seed {seed} · target {target.uri}"
        + (f" · going on after {plural(record.programs, 'program')}" if record.programs else "")
    )
    kinds = _made(names, setting, console)
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
                    target, profile, role, now=stopwatch.waiting, quirks=options.quirks, seconds=10.0
                ).explained,
                deviations=deviations,
                is_ours=target.capabilities.is_ours,
                out=options.out,
                heard=lambda at: _shown(line, at),
            )
            ending = fuzzing.run()
    finally:
        for kind in kinds:
            kind.close()
    summary = Summary(record, store, known, deviations, ending, fuzzing, strict=options.strict)
    answer = summary.answer(stopwatch.waiting(), options.out)
    problem = write_page(summary.page(answer, options.out), options.out)
    summary.print(console, answer)
    if problem:
        console.print(f"rmq-harness fuzz: {problem}")
    if options.json:
        say_json(answer)
    return int(answer["exit_status"])


# --- what was asked for -------------------------------------------------------------------------------------


def _kinds(options: argparse.Namespace) -> list[str]:
    refuse_unknown_kind("fuzz", options.kind, options.role, [ALL])
    return list(KINDS[options.role]) if options.kind == ALL else [options.kind]


def _made(names: Sequence[str], setting: Setting, console: Console) -> list[Kind]:
    """The kinds of these names; of several, those are left out that cannot be played on the target."""
    found: list[Kind] = []
    for name in names:
        try:
            found.append(KINDS[setting.role][name](setting))
        except Unsupported as why:
            if len(names) == 1:
                raise Usage(f"rmq-harness fuzz: --kind {name}: {setting.target.uri}: {why}") from None
            console.print(f"  {name} is left out: {why}")
    return found


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


def _known(options: argparse.Namespace, profile: str, role: Role) -> KnownFindings:
    try:
        return read_known(options.known, options.after, role, profile, date.today())
    except BaselineError as problem:
        lines = "\n".join(f"  {one}" for one in problem.problems)
        raise Usage(f"rmq-harness fuzz: --known {options.known}: nothing was run\n{lines}") from None
    except NoRecordOfACheck as problem:
        raise Usage(f"rmq-harness fuzz: --after {options.after}: {problem}") from None


# --- while it goes on ---------------------------------------------------------------------------------------


def _shown(line: Line, at: Progress) -> None:
    """On a terminal all there is to say; elsewhere a line for each thing that takes long."""
    rate = at.steps / at.seconds if at.seconds else 0.0
    said = f"{at.kind} · {plural(at.programs, 'program')}, {plural(at.steps, 'step')}, {rate:.0f}/s"
    if at.goals:
        said += f" · {at.goals - at.missed} of {at.goals} goals"
    said += f" · {plural(at.findings, 'finding')}" + (f", {at.flaky} flaky" if at.flaky else "")
    line.show(said + (f" · {at.doing}" if at.doing else ""))
    if at.doing:
        line.log(f"  {at.seconds:.0f} s · {plural(at.programs, 'program')} · {at.doing}", always=True)
