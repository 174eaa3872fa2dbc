"""`diff`: the same random operations on two targets, and every divergence explained or written down."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec
from rich.console import Console
from rich.progress import BarColumn

from harness.catalogue import Quirk, default_profile, did_you_mean, profiles
from harness.cli.asked import quirks_for
from harness.cli.bar import LOG_EVERY, Line
from harness.cli.output import say_json
from harness.cli.parser import Usage
from harness.cli.status import FAILED, HARNESS_FAILED, INCONCLUSIVE, INTERRUPTED, OK
from harness.engine.peer.experiment import PeerExperiment
from harness.engine.peer.explaining import Divergence
from harness.engine.peer.generate import Program
from harness.engine.peer.journal import Entry, Head, Journal, ProgramError, RecordMismatch, read_program
from harness.engine.peer.rounds import Rounds
from harness.engine.peer.summary import summary_of
from harness.findings.store import FindingStore
from harness.report import diff_page
from harness.report.diff_page import Cause, Comparison
from harness.report.divergence import lines
from harness.report.text import plural, visible
from harness.session import RunningClock, TargetDied
from harness.targets import Target, TargetError, parse

_SHOWN_CAUSES = 10
_SHOWN_FACTS = 6
PAGES = {"report.html": diff_page.html, "report.md": diff_page.markdown}
"""What a run that is kept ends with."""


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
        f"rmq-harness diff · profile {profile} · seed {seed} · {plural(len(known), 'named quirk')} may show\n"
        f"  A  {options.a}\n  B  {options.b}"
    )
    before = journal.steps
    words = f"{seed}/{profile}/{len(journal.entries)}"
    experiment = PeerExperiment(targets, profile, known, words, compare=options.compare)
    releases = _releases(targets, profile, words, options)
    store = FindingStore(options.out if program is None else None)
    rounds = Rounds(
        experiment,
        seed=seed,
        quirks=known,
        journal=journal,
        store=store,
        now=stopwatch.waiting,
        releases=releases,
    )
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
        if releases is not None:
            releases.close()
    status, conclusion = _status(options, journal.entries, interrupted, died)
    found = summary_of(
        journal.head,
        journal.entries,
        known,
        asked=options.steps,
        seconds=stopwatch.waiting(),
        conclusion=conclusion,
        exit_status=status,
        why=died,
        is_kept=options.out is not None,
    )
    _write(options.out, found, console)
    _print(console, found, journal.steps - before, options.out)
    if options.json:
        say_json(_answer(found, journal.entries, options.out))
    return status


def _releases(
    targets: tuple[Target, Target], profile: str, words: str, options: argparse.Namespace
) -> PeerExperiment | None:
    """The references of two lines, where the targets are of two."""
    a, b = (target.line for target in targets)
    if a is None or b is None or a == b:
        return None
    pair = (parse(f"builtin:{a}"), parse(f"builtin:{b}"))
    return PeerExperiment(pair, profile, (), words, compare=options.compare)


def _profile(options: argparse.Namespace, targets: Sequence[Target], program: Program | None) -> str:
    known = [profile.name for profile in profiles()]
    said = options.profile or (program.profile if program is not None else "")
    if said:
        if said not in known:
            hint = did_you_mean(said, known, f"there are {', '.join(known)}")
            raise Usage(f"rmq-harness diff: --profile {said}: no such profile; {hint}")
        return str(said)
    lines = {target.line for target in targets if target.line is not None}
    older = [name for name in known if name in lines]
    return str(older[0] if older else default_profile().name)


def _quirks(options: argparse.Namespace, targets: Sequence[Target]) -> tuple[Quirk, ...]:
    """Those of either target that an operation can bring about."""
    found = {one.id: one for target in targets for one in quirks_for("diff", options.quirks, target)}
    return tuple(one for one in found.values() if one.when is not None)


def _journal(options: argparse.Namespace, profile: str, seed: str) -> Journal:
    head = Head(
        a=options.a,
        b=options.b,
        profile=profile,
        seed=seed,
        quirks=options.quirks,
        compare=options.compare,
    )
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
    """Plays rounds. Says how far it is; in a log, twice a minute at most."""
    began, logged = journal.steps, 0.0
    with Line(Console(file=people, highlight=False), BarColumn()) as line:
        for _ in rounds.play(options.steps, _time_left(options, stopwatch)):
            seconds = max(stopwatch.waiting(), 0.001)
            rate = (journal.steps - began) / seconds
            left = max(0, options.steps - journal.steps) / rate if rate else 0.0
            said = f"{journal.steps} of {options.steps} steps, {rate:.0f}/s, about {left:.0f} s left"
            if causes := {one.cause for one in rounds.experiment.causes.examples if not one.explained}:
                said += f", {plural(len(causes), 'cause')}"
            line.show(said, min(journal.steps, options.steps), options.steps)
            if seconds - logged >= LOG_EVERY:
                logged = seconds
                line.log(f"  {seconds:.0f} s · {said}")


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
        f"{plural(sum(one.is_explained for one in played.divergences), 'divergence')} explained, "
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


# --- what a run came to -------------------------------------------------------------------------------------


def _status(
    options: argparse.Namespace, entries: Sequence[Entry], interrupted: bool, died: str
) -> tuple[int, str]:
    if interrupted:
        return INTERRUPTED, "INTERRUPTED"
    if died:
        return HARNESS_FAILED, "A TARGET DIED"
    if any(entry.deaths or any(not one.explained for one in entry.learnt) for entry in entries):
        return FAILED, "DIVERGENT"
    steps = sum(entry.steps for entry in entries)
    short = steps < options.steps and options.max_time is None
    if not steps or short or any(entry.unrepeated for entry in entries):
        return INCONCLUSIVE, "INCONCLUSIVE"
    return OK, "NOTHING UNEXPLAINED"


def _answer(found: Comparison, entries: Sequence[Entry], out: Path | None) -> dict[str, Any]:
    answer: dict[str, Any] = msgspec.to_builtins(found)
    examples = [(entry.round, one) for entry in entries for one in entry.learnt if not one.explained]
    answer["findings"] = [
        {
            "directory": str(out / "findings" / one.finding) if out is not None and one.finding else None,
            "round": number,
            "cause": one.cause,
            "seen": [str(seen) for seen in one.seen],
        }
        for number, one in examples
    ]
    answer["unexplained"] = len(examples) + len(found.deaths)
    answer["out"] = None if out is None else str(out)
    return answer


def _write(out: Path | None, found: Comparison, console: Console) -> None:
    if out is None:
        return
    for name, page in PAGES.items():
        try:
            (out / name).write_text(page(found), encoding="utf-8", errors="backslashreplace")
        except OSError as problem:
            console.print(f"rmq-harness diff: {out / name} cannot be written: {problem.strerror}")


def _print(console: Console, found: Comparison, new: int, out: Path | None) -> None:
    if found.causes:
        some = plural(len(found.causes), "cause")
        console.print(f"\n{some} of difference that nothing explains. Start with the first.")
    for number, cause in enumerate(found.causes[:_SHOWN_CAUSES], 1):
        _print_cause(console, number, cause, found.steps)
    if (rest := len(found.causes) - _SHOWN_CAUSES) > 0:
        where = "the page has them" if out is not None else "--out DIR writes a page with all of them"
        console.print(f"\n{plural(rest, 'more cause')}: {where}")
    if found.more:
        some = plural(found.more, "more answer")
        console.print(f"{some} differed when no more causes were looked into")
    for death in found.deaths:
        console.print(f"\n✘ a server died {visible(death.words)}  {death.folder}".rstrip())
    if found.quirks:
        console.print("\nnamed quirks           steps that are about it, answers that it explains")
        for quirk in found.quirks:
            console.print(f"  {quirk.name:<42} {quirk.steps:>8} {quirk.times:>8}")
    if found.releases:
        console.print("\ndifferences between the releases, which the reference of both lines shows as well")
        for one in found.releases:
            console.print(f"  {one.name}  {one.times + one.followed}")
    _print_end(console, found, new, out)


def _print_cause(console: Console, number: int, cause: Cause, steps: int) -> None:
    behind = f", {cause.followed:,} behind it" if cause.followed else ""
    console.print(f"\n{number}  {cause.name}")
    console.print(f"   {'times':<8} {plural(cause.times, 'answer')} of {steps:,} steps{behind}")
    first = cause.examples[0]
    for step in first.exchange.before:
        console.print(f"   {'before':<8} {visible(step)}")
    for name, text in lines(first.exchange):
        console.print(f"   {name:<8} {visible(text)}")
    folders = [one.folder for one in cause.examples if one.folder]
    if folders:
        console.print(f"   {'folder':<8} {', '.join(folders)}")


def _print_end(console: Console, found: Comparison, new: int, out: Path | None) -> None:
    if found.unasked:
        console.print(f"\nnever sent: {', '.join(found.unasked)}")
    if found.avoided:
        console.print("\navoided in most rounds, because the two hold different states behind it:")
        for avoided in found.avoided:
            console.print(f"  {avoided}")
    if found.remarks:
        console.print(f"\n{' · '.join(found.remarks)}")
    if found.why:
        console.print(f"\n{found.why}")
    if out is not None:
        console.print(f"\nthe page: {out / 'report.html'}")
    rate = new / found.seconds if found.seconds else 0
    explained = sum(one.times for one in found.quirks)
    console.print(
        f"\n{plural(found.steps, 'step')} in {plural(found.rounds, 'round')}, {found.seconds:.0f} s, "
        f"{rate:.0f}/s · {plural(explained, 'divergence')} explained by quirks, "
        f"{plural(len(found.causes), 'cause')} unexplained          "
        f"{found.conclusion}, exit {found.exit_status}"
    )


def _died_at(step: int, last_words: str) -> str:
    return f"at step {step}: {last_words}"


def _print_divergence(console: Console, one: Divergence) -> None:
    step = msgspec.json.encode(one.step).decode()
    when = "after" if one.settling else "answer to"
    console.print(f"  {when} step {one.index + 1}: {step}" + (f"  ({one.quirk})" if one.quirk else ""))
    for difference in one.differences:
        for letter, facts in (("A", difference.a), ("B", difference.b)):
            said = ["/".join(fact) for fact in facts[:_SHOWN_FACTS]]
            more = f" and {len(facts) - _SHOWN_FACTS} more" if len(facts) > _SHOWN_FACTS else ""
            console.print(f"    {difference.field:<14} only {letter}: {', '.join(said) or 'nothing'}{more}")
