"""`campaign`: very many runs of the machines, as a Spark job, kept as Parquet for `mine`."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn

from harness.catalogue import ROLES, Role, default_profile
from harness.cli.asked import profile_of, quirks_for, refuse_unknown_kind, target_of
from harness.cli.bar import LOG_EVERY, Line
from harness.cli.output import say_json
from harness.cli.parser import Usage
from harness.cli.status import FAILED, HARNESS_FAILED, INCONCLUSIVE, INTERRUPTED, OK
from harness.mining.campaign import Campaign, Ending, Plan, Progress, settings_of
from harness.mining.recorded import read_recorded
from harness.mining.spark import session, translated
from harness.mining.store import Store
from harness.report.text import plural
from harness.session import RunningClock, Unsupported
from harness.targets import Target, parse, spelled_out
from harness.targets.posix import require_posix

_CHUNK, _LATE_CHUNK = 1000, 100
"""Runs in a file: where nothing is started, and elsewhere, where they take long."""
_SHOWN = 12


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    people = sys.stderr if options.json else sys.stdout
    console = Console(file=people, highlight=False, markup=False, soft_wrap=True)
    answer = _campaign(options, console)
    _print(console, answer)
    if options.json:
        say_json(answer)
    return int(answer["exit_status"])


def _campaign(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    if options.recorded:
        return _recorded(options, console)
    require_posix("campaign")
    role: Role = options.role or ROLES[0]
    asked = _targets(options, role)
    plan = _plan(options, role, [(target.uri, profile) for target, profile in asked])
    stopwatch = RunningClock()
    with Line(console, SpinnerColumn(), BarColumn()) as line:
        with _interrupts_wait() as interrupts:
            try:
                campaign = Campaign(plan, now=stopwatch.waiting, heard=_Shown(line).show)
            except Unsupported as why:
                raise Usage(f"rmq-harness campaign: --kind {','.join(plan.kinds)}: {why}") from None
        wanted = plan.runs * len(plan.kinds) * len(plan.targets)
        left = sum(len(order.span) for order in campaign.orders)
        several = f"{len(plan.targets)} targets" if len(plan.targets) > 1 else plan.targets[0][0]
        console.print(
            f"rmq-harness campaign {plan.campaign} · {role} · {', '.join(plan.kinds)} · {several} · "
            f"seeds {plan.seed} to {plan.seed + plan.runs - 1} · {left} of {wanted} runs to play"
        )
        ending: Ending = "interrupted" if interrupts else "done"
        if campaign.orders and not interrupts:
            try:
                ending = _played(campaign, [target for target, _ in asked], options)
            except KeyboardInterrupt:  # before the first run was played
                ending = "interrupted"
    return _answer(plan, campaign, ending, stopwatch.waiting())


# --- what was asked for -------------------------------------------------------------------------------------


def _targets(options: argparse.Namespace, role: Role) -> list[tuple[Target, str]]:
    uris = options.target or ([] if options.mutant else ["builtin:"])
    named = [target_of("campaign", spelled_out(uri, role), options, role) for uri in uris]
    virtual = (one.line for one in named if one.capabilities.is_virtual)
    line = options.profile or next(virtual, None) or default_profile().name
    mutants = [f"builtin:{line}?mutant={name}" for name in options.mutant]
    named += [target_of("campaign", uri, options, role) for uri in mutants]
    for target in named:
        quirks_for("campaign", options.quirks, target, role)
    found = {target.uri: (target, profile_of("campaign", options.profile, target, role)) for target in named}
    if len(found) < len(named):
        twice = [uri for uri, times in Counter(one.uri for one in named).items() if times > 1]
        raise Usage(f"rmq-harness campaign: {', '.join(twice)}: named twice; a run is made once")
    return list(found.values())


def _plan(options: argparse.Namespace, role: Role, targets: list[tuple[str, str]]) -> Plan:
    if options.runs is None:
        raise Usage("rmq-harness campaign: say how many: --runs 1000, of each kind and for each target")
    for kind in options.kind:
        refuse_unknown_kind("campaign", kind, role)
    for name in ("shrink", "sample"):
        if getattr(options, name) < 0:
            raise Usage(f"rmq-harness campaign: --{name}: expected a number from 0 on")
    if not -(2**62) < options.seed < 2**62:
        raise Usage("rmq-harness campaign: --seed: expected a number of at most 62 bits")
    name = options.name or f"seed-{options.seed}"
    if options.chunk is None:
        before = Store(options.out).manifest(name)
        virtual = all(parse(uri, role, options.nameserver).capabilities.is_virtual for uri, _ in targets)
        usual = _CHUNK if virtual else _LATE_CHUNK
        options.chunk = usual if before is None else before.settings.chunk
    return Plan(
        root=options.out,
        campaign=name,
        targets=tuple(targets),
        kinds=tuple(dict.fromkeys(options.kind)),
        seed=options.seed,
        runs=options.runs,
        settings=settings_of(
            role,
            chunk=options.chunk,
            shrink=options.shrink,
            attempts=options.attempts,
            deadline=options.deadline,
            sample=options.sample,
            quirks=options.quirks,
        ),
        nameserver=options.nameserver,
        max_time=options.max_time,
        arguments={"command": " ".join(options.command_line)},
    )


def _played(campaign: Campaign, targets: list[Target], options: argparse.Namespace) -> Ending:
    _try_out(targets)
    # An interrupt would break the conversation of Python and Java while Spark starts.
    with _interrupts_wait() as interrupts:
        spark = session("rmq-harness campaign", master=options.master, memory=options.memory)
    if interrupts:
        return "interrupted"
    with translated():
        return campaign.run(spark.sparkContext)


@contextlib.contextmanager
def _interrupts_wait() -> Iterator[list[int]]:
    """Holds SIGINT and SIGTERM back; gives the list of those that came."""
    asked: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda number, _: asked.append(number))
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _try_out(targets: list[Target]) -> None:
    """Starts each target once that must be started or reached: what cannot is reported at once."""
    for target in targets:
        if not target.capabilities.is_virtual:
            target.start().stop()


# --- what was recorded --------------------------------------------------------------------------------------


def _recorded(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    if options.target or options.runs is not None or options.mutant:
        raise Usage(
            "rmq-harness campaign: --from reads what was recorded and plays nothing: leave targets out"
        )
    store, counts = Store(options.out), Counter[str]()
    by_target: dict[str, Counter[str]] = {}
    for directory in options.recorded:
        name = options.name or directory.resolve().name
        if store.manifest(name) is not None:
            raise Usage(
                f"rmq-harness campaign: --from: {name} is a campaign of runs there: say another --name"
            )
        rows = read_recorded(directory, name)
        _is_of_one_role(options, store, name, directory, {row["role"] for row, _ in rows})
        store.begin(name)
        store.add(name, rows)
        for row, _ in rows:
            counts[row["outcome"]] += 1
            by_target.setdefault(row["target"], Counter())[row["outcome"]] += 1
        console.print(f"{directory}: {plural(len(rows), 'run')}, as campaign {name}")
    total = sum(counts.values())
    return {
        "conclusion": "READ" if total else "NOTHING RECORDED",
        "exit_status": OK if total else INCONCLUSIVE,
        "why": "",
        "out": options.out,
        "asked": total,
        "runs": total,
        "outcomes": dict(sorted(counts.items())),
        "targets": {uri: dict(found) for uri, found in sorted(by_target.items())},
        "played": 0,
        "steps": 0,
        "bytes": 0,
        "seconds": 0.0,
        "all_seconds": 0.0,
    }


def _is_of_one_role(
    options: argparse.Namespace, store: Store, name: str, directory: Path, roles: set[Role]
) -> None:
    """Refuses a record of another role than was said, or than a campaign of that name has."""
    if options.role is not None and roles - {options.role}:
        raise Usage(
            f"rmq-harness campaign: --from {directory}: its runs are of role {', '.join(sorted(roles))}, "
            f"not {options.role}; leave --role out: a record says what its target is"
        )
    there = store.roles(name)
    if len(there | roles) > 1:
        raise Usage(
            f"rmq-harness campaign: --from {directory}: its runs are of role {', '.join(sorted(roles))}, and "
            f"campaign {name} there has runs of role {', '.join(sorted(there))}: say another --name"
        )


# --- while it goes on ---------------------------------------------------------------------------------------


class _Shown:
    """On a terminal all there is to say; elsewhere a line for each tenth of the runs, and twice a minute."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._tenth = 0
        self._logged = 0.0

    def show(self, at: Progress) -> None:
        """The progress."""
        said = f"{at.runs} of {at.of_runs} runs"
        if at.left is not None and at.seconds:
            said += f", {at.runs / at.seconds:.1f} runs/s, {at.steps / at.seconds:.0f} steps/s"
            said += f", about {_time(at.left)} left" if at.runs < at.of_runs else ""
            said += f" · {_outcomes(at.outcomes)}"
        self._line.show(said, at.runs, at.of_runs)
        tenth = 10 * at.runs // max(1, at.of_runs)
        if tenth > self._tenth or at.seconds - self._logged >= LOG_EVERY:
            self._tenth, self._logged = tenth, at.seconds
            self._line.log(f"  {at.seconds:.0f} s · {said}")


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _outcomes(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "none"


# --- the answer ---------------------------------------------------------------------------------------------


def _answer(plan: Plan, campaign: Campaign, ending: Ending, seconds: float) -> dict[str, Any]:
    counts = campaign.counts()
    outcomes: Counter[str] = Counter()
    for of_target in counts.values():
        outcomes.update(of_target)
    played = campaign.played
    status, conclusion, why = _status(plan, campaign, ending, outcomes)
    return {
        "conclusion": conclusion,
        "exit_status": status,
        "why": why,
        "campaign": plan.campaign,
        "role": plan.settings.role,
        "out": plan.root,
        "kinds": list(plan.kinds),
        "seed": plan.seed,
        "asked": plan.runs * len(plan.kinds) * len(plan.targets),
        "runs": sum(outcomes.values()),
        "outcomes": dict(sorted(outcomes.items())),
        "targets": counts,
        "played": played.runs,
        "steps": played.steps,
        "bytes": played.size,
        "seconds": round(campaign.seconds, 1),
        "all_seconds": round(seconds, 1),
    }


def _status(plan: Plan, campaign: Campaign, ending: Ending, outcomes: Counter[str]) -> tuple[int, str, str]:
    """Exit status, what it is called, and why: of all runs that the campaign has by now."""
    if ending == "interrupted":
        kept = "what was played is kept" if campaign.played.runs else "no run had come to its end by then"
        return INTERRUPTED, "INTERRUPTED", f"{kept}; the same command goes on with the rest"
    if ending == "stopped":
        return HARNESS_FAILED, "THE TARGET DOES NOT START", campaign.trouble
    if outcomes["fail"] or outcomes["died"]:
        return (
            FAILED,
            "FAILURES",
            f"{plural(outcomes['fail'] + outcomes['died'], 'run')} failed: rmq-harness mine {plan.root}",
        )
    if outcomes["error"]:
        return HARNESS_FAILED, "ERRORS OF THE HARNESS", f"{outcomes['error']} runs; their rows say which"
    if not outcomes["pass"]:
        return INCONCLUSIVE, "INCONCLUSIVE", "no run has measured anything"
    if outcomes["flaky"] or outcomes["timeout"]:
        return INCONCLUSIVE, "INCONCLUSIVE", "some failed once and not again, or did not end in time"
    over = f"the time was over: {sum(outcomes.values())} runs are there" if ending == "time" else ""
    return OK, "NOTHING FOUND", over


def _print(console: Console, answer: dict[str, Any]) -> None:
    targets = sorted(answer["targets"].items(), key=lambda pair: (-_bad(pair[1]), pair[0]))
    for uri, counts in targets[:_SHOWN]:
        console.print(f"  {uri}: {plural(sum(counts.values()), 'run')}: {_outcomes(counts)}")
    if len(targets) > _SHOWN:
        console.print(f"  … and {plural(len(targets) - _SHOWN, 'more target')}")
    if answer["why"]:
        console.print(f"{answer['why']}")
    if "campaign" not in answer:
        console.print(f"{answer['runs']} recorded runs          {answer['conclusion']} · {answer['out']}")
        return
    seconds = answer["seconds"] or 1.0
    console.print(
        f"{answer['played']} runs played, {answer['steps']} steps, {answer['seconds']:.0f} s, "
        f"{answer['played'] / seconds:.1f} runs/s, {answer['steps'] / seconds:.0f} steps/s, "
        f"{answer['bytes'] / 1e6:.1f} MB · {answer['runs']} of {answer['asked']} there          "
        f"{answer['conclusion']}, exit {answer['exit_status']} · {answer['out']}"
    )


def _bad(counts: dict[str, int]) -> int:
    return sum(count for outcome, count in counts.items() if outcome not in ("pass", "quirk"))
