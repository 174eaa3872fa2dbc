"""`diff`: the same random operations on two targets, and every divergence explained or written down."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness.catalogue import Quirk, default_profile, did_you_mean, profiles
from harness.cli.asked import quirks_for
from harness.cli.output import say_json
from harness.cli.parser import Usage
from harness.cli.status import FAILED, HARNESS_FAILED, INCONCLUSIVE, INTERRUPTED, OK
from harness.engine.peer.comparison import Divergence
from harness.engine.peer.experiment import PeerExperiment
from harness.engine.peer.generate import Program
from harness.engine.peer.journal import (
    Entry,
    Head,
    Journal,
    ProgramError,
    RecordMismatch,
    numbered,
    read_program,
)
from harness.engine.peer.rounds import Found, Rounds
from harness.findings.store import FindingStore
from harness.session import RunningClock, TargetDied
from harness.targets import Target, TargetError, parse

_SHOWN_STEPS = 40
_SHOWN_FACTS = 6


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    try:
        targets = (parse(options.a), parse(options.b))
        program = None if options.program is None else read_program(options.program)
    except (TargetError, ProgramError) as problem:
        raise Usage(f"rmq-harness diff: {problem}") from None
    profile = _profile(options, targets, program)
    seed = options.seed if options.seed is not None else str(int.from_bytes(os.urandom(4), "big"))
    journal = _journal(options, profile, seed)
    known = _quirks(options, targets)
    people = sys.stderr if options.json else sys.stdout
    console = Console(file=people, highlight=False, markup=False, soft_wrap=True)
    stopwatch = RunningClock()
    console.print(
        f"rmq-harness diff · profile {profile} · seed {seed} · {len(known)} named quirks may show\n"
        f"  A  {options.a}\n  B  {options.b}"
    )
    before = journal.steps
    experiment = PeerExperiment(targets, profile, known, words=f"{seed}/{profile}/{len(journal.entries)}")
    store = FindingStore(options.out if program is None else None)
    rounds = Rounds(experiment, seed=seed, quirks=known, journal=journal, store=store, now=stopwatch.waiting)
    interrupted, died = False, ""
    try:
        if program is not None:
            return _replay(rounds, program, console, options)
        try:
            _follow(rounds, journal, options, stopwatch, people)
        except KeyboardInterrupt:
            interrupted = True
        except TargetDied as problem:
            died = f"{problem}; {_last_words(experiment)}"
    finally:
        experiment.close()
    answer = _answer(options, profile, seed, journal, rounds.findings, stopwatch.waiting(), interrupted, died)
    answer["resumed_at"] = before
    _print(console, answer, rounds.findings, known)
    if options.json:
        say_json(answer)
    return int(answer["exit_status"])


def _profile(options: argparse.Namespace, targets: Sequence[Target], program: Program | None) -> str:
    known = [profile.name for profile in profiles()]
    said = options.profile or (program.profile if program is not None else "")
    if said:
        if said not in known:
            hint = did_you_mean(said, known, f"there are {', '.join(known)}")
            raise Usage(f"rmq-harness diff: --profile {said}: no such profile; {hint}")
        return str(said)
    lines = {target.line for target in targets if target.line is not None}
    if len(lines) > 1:
        raise Usage(
            f"rmq-harness diff: the targets are of different lines ({', '.join(sorted(lines))}); "
            "say with --profile whose rules the operations are to follow"
        )
    return str(next(iter(lines), default_profile().name))


def _quirks(options: argparse.Namespace, targets: Sequence[Target]) -> tuple[Quirk, ...]:
    """Those of either target that an operation can bring about."""
    found = {one.id: one for target in targets for one in quirks_for("diff", options.quirks, target)}
    return tuple(one for one in found.values() if one.when is not None)


def _journal(options: argparse.Namespace, profile: str, seed: str) -> Journal:
    head = Head(a=options.a, b=options.b, profile=profile, seed=seed, quirks=options.quirks)
    if options.resume and (options.out is None or options.seed is None):
        raise Usage("rmq-harness diff: --resume needs the --out and the --seed of the run to go on with")
    try:
        return Journal(options.out if options.program is None else None, head, resume=options.resume)
    except (RecordMismatch, OSError) as problem:
        raise Usage(f"rmq-harness diff: --out {options.out}: {problem}") from None


def _last_words(experiment: PeerExperiment) -> str:
    said = [
        f"{letter} wrote: {text[-500:]}"
        for letter, output in zip("AB", experiment.output(), strict=False)
        if (text := output.strip())
    ]
    return " · ".join(said) or "neither wrote anything"


def _follow(
    rounds: Rounds, journal: Journal, options: argparse.Namespace, stopwatch: RunningClock, people: TextIO
) -> None:
    """Plays rounds, with the progress on a terminal."""
    began = journal.steps
    columns = (
        TextColumn("steps"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[found]}"),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=Console(file=people), transient=True, disable=not people.isatty()
    ) as progress:
        bar = progress.add_task("", total=options.steps, completed=began, rate="", found="")
        for _ in rounds.play(options.steps, _time_left(options, stopwatch)):
            seconds = max(stopwatch.waiting(), 0.001)
            rate = (journal.steps - began) / seconds
            left = max(0, options.steps - journal.steps) / rate if rate else 0.0
            progress.update(
                bar,
                completed=min(journal.steps, options.steps),
                rate=f"{rate:.0f}/s, {left:.0f} s left",
                found=f"{len(rounds.findings)} unexplained" if rounds.findings else "",
            )


def _time_left(options: argparse.Namespace, stopwatch: RunningClock) -> Callable[[], bool]:
    return lambda: options.max_time is None or stopwatch.waiting() < options.max_time


# --- one program --------------------------------------------------------------------------------------------


def _replay(rounds: Rounds, program: Program, console: Console, options: argparse.Namespace) -> int:
    played = rounds.program(program)
    for one in played.divergences:
        _print_divergence(console, one)
    if played.death:
        console.print(f"  {_died_at(played.steps, played.death)}")
    failed = bool(played.attempt.violations)
    status = INCONCLUSIVE if played.stalled else FAILED if failed else OK
    verdict = {OK: "NOTHING UNEXPLAINED", FAILED: "DIVERGENT", INCONCLUSIVE: "INCONCLUSIVE"}[status]
    console.print(
        f"{played.steps} of {len(program.steps)} steps, "
        f"{sum(one.quirk is not None for one in played.divergences)} divergences explained, "
        f"{int(played.unexplained is not None)} unexplained          {verdict}, exit {status}"
    )
    if options.json:
        say_json(
            {
                "conclusion": verdict,
                "exit_status": status,
                "steps": played.steps,
                "divergences": played.divergences,
                "why": played.death,
            }
        )
    return status


# --- the answer ---------------------------------------------------------------------------------------------


def _answer(
    options: argparse.Namespace,
    profile: str,
    seed: str,
    journal: Journal,
    findings: Sequence[Found],
    seconds: float,
    interrupted: bool,
    died: str,
) -> dict[str, Any]:
    entries = journal.entries
    explained: Counter[str] = Counter()
    triggered: Counter[str] = Counter()
    for entry in entries:
        explained.update(entry.explained)
        triggered.update(entry.triggered)
    found = [name for entry in entries for name in entry.findings]
    unrepeated = sum(entry.unrepeated for entry in entries)
    status, conclusion = _status(options, entries, found, unrepeated, interrupted, died)
    return {
        "conclusion": conclusion,
        "exit_status": status,
        "why": died,
        "a": options.a,
        "b": options.b,
        "profile": profile,
        "seed": seed,
        "steps": journal.steps,
        "asked": options.steps,
        "rounds": len(entries),
        "seconds": round(seconds, 1),
        "explained": dict(explained),
        "triggered": dict(triggered),
        "findings": [
            {
                "directory": one.finding.directory,
                "round": one.round,
                "divergence": one.divergence,
                "actual": one.finding.violation.actual,
            }
            for one in findings
        ],
        "unexplained": len(found),
        "unrepeated": unrepeated,
        "repeated_rounds": sum(entry.repeated for entry in entries),
        "given_up_rounds": sum(entry.given_up for entry in entries),
        "left_out_rounds": sum(entry.left_out for entry in entries),
        "restarts": sum(entry.restarted for entry in entries),
        "out": None if options.out is None else str(options.out),
    }


def _status(
    options: argparse.Namespace,
    entries: Sequence[Entry],
    found: Sequence[str],
    unrepeated: int,
    interrupted: bool,
    died: str,
) -> tuple[int, str]:
    if interrupted:
        return INTERRUPTED, "INTERRUPTED"
    if died:
        return HARNESS_FAILED, "A TARGET DIED"
    if found:
        return FAILED, "DIVERGENT"
    steps = sum(entry.steps for entry in entries)
    short = steps < options.steps and options.max_time is None
    if not steps or unrepeated or short:
        return INCONCLUSIVE, "INCONCLUSIVE"
    return OK, "NOTHING UNEXPLAINED"


def _print(
    console: Console, answer: dict[str, Any], findings: Sequence[Found], known: Sequence[Quirk]
) -> None:
    for finding in findings[:5]:
        steps = finding.finding.program
        console.print(f"\n✘ round {finding.round}, {len(steps)} steps" + _where(finding))
        for line in numbered(steps)[-_SHOWN_STEPS:]:
            console.print(f"  {line}")
        violation = finding.finding.violation
        if finding.divergence is None:
            console.print(f"  {_died_at(violation.number + 1, violation.actual)}")
        else:
            _print_divergence(console, finding.divergence)
    if answer["triggered"]:
        console.print("\nnamed quirks           steps that are about it, of them and after them seen")
        for quirk in known:
            if number := answer["triggered"].get(quirk.id):
                console.print(f"  {quirk.id:<42} {number:>8} {answer['explained'].get(quirk.id, 0):>8}")
    remarks = [
        f"{answer[key]} {text}"
        for key, text in (
            ("unrepeated", "divergences that did not show again"),
            ("repeated_rounds", "rounds repeated because a clock ran ahead or servers were not quiet"),
            ("given_up_rounds", "rounds given up"),
            (
                "left_out_rounds",
                "rounds left out: minutes of real time, or no new servers to be had",
            ),
            ("restarts", "rounds with new servers"),
        )
        if answer[key]
    ]
    if remarks:
        console.print("\n" + " · ".join(remarks))
    if answer["why"]:
        console.print(f"\n{answer['why']}")
    new = answer["steps"] - answer["resumed_at"]
    rate = new / answer["seconds"] if answer["seconds"] else 0
    console.print(
        f"\n{answer['steps']} of {answer['asked']} steps in {answer['rounds']} rounds, "
        f"{answer['seconds']:.0f} s, {rate:.0f}/s · {sum(answer['explained'].values())} "
        f"divergences explained, {answer['unexplained']} unexplained          "
        f"{answer['conclusion']}, exit {answer['exit_status']}"
    )


def _died_at(step: int, last_words: str) -> str:
    return f"at step {step}: {last_words}"


def _where(found: Found) -> str:
    directory = found.finding.directory
    return "" if directory is None else f" · {Path(directory) / 'program.jsonl'}"


def _print_divergence(console: Console, one: Divergence) -> None:
    step = msgspec.json.encode(one.step).decode()
    when = "after" if one.settling else "answer to"
    console.print(f"  {when} step {one.index + 1}: {step}" + (f"  ({one.quirk})" if one.quirk else ""))
    for difference in one.differences:
        for letter, facts in (("A", difference.a), ("B", difference.b)):
            said = ["/".join(fact) for fact in facts[:_SHOWN_FACTS]]
            more = f" and {len(facts) - _SHOWN_FACTS} more" if len(facts) > _SHOWN_FACTS else ""
            console.print(f"    {difference.field:<14} only {letter}: {', '.join(said) or 'nothing'}{more}")
