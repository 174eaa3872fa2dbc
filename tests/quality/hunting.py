"""Machines against deliberate faults of the reference: how many programs it takes, and how small one gets.

    python tests/quality/hunting.py [--examples N] [--seeds N] [--chapter NAME]… [--report FILE] [MUTANT]…

prints the table: every mutant that concerns state, or those that are named. A mutant that is not found is
listed with a dash. `--report docs/reference/mutants-found.md` writes the table down; rows of other mutants
stay as they were.

What is asked next never depends on what was answered, so the programs of a seed are made once, on the
sound reference, and played on every mutant. Where a mutant answers as the reference does there is nothing to
judge, nor is there where the reference never came to what the mutant replaces: such programs are not played.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType

import msgspec
import pytest
import yaml
from _pytest.mark import ParameterSet

from harness.catalogue import Role as RoleName
from harness.engine.context import TargetContext
from harness.engine.controller.kind import ControllerKind
from harness.engine.controller.role import CONTROLLER
from harness.engine.kinds import ROLES
from harness.engine.pair.kind import PairKind
from harness.engine.pair.role import PAIR
from harness.engine.role import Role
from harness.engine.stateful import StatefulKind
from harness.findings.experiment import Finding
from harness.findings.failing_cases import FailingCases
from harness.findings.store import FindingStore
from harness.findings.triage import Budget, triage
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.steps import AnyStep, encode_step
from harness.session import RunningClock
from harness.spec.observation import Outcome
from harness.targets import parse
from reference_impl.mutants import MUTANTS, Mutant, mutants_of

__all__ = [
    "CHAPTERS",
    "NOT_ASKED",
    "Hunted",
    "asked_mutants",
    "by_hand",
    "hunt",
    "profile_of",
    "spread",
    "state_mutants",
]

CHAPTERS = (
    "acting_master",
    "cluster",
    "concurrency",
    "configuration",
    "controller",
    "data_version",
    "historical",
    "kv",
    "lease",
    "order_topics",
    "registration",
    "routes",
    "static_topics",
    "topic_deletion",
    "topic_lists",
    "topic_registration",
    "topics",
    "unregistration",
    "write_permission",
)
"""Chapters of the catalogue that are about what a server remembers. The others are about bytes, connections,
TLS, files and memory: frames and cases are for them."""

_HERE = Path(__file__).parent

NOT_ASKED: dict[str, str] = {
    name: reason
    for reason, names in yaml.safe_load((_HERE / "not_asked.yaml").read_text(encoding="utf-8")).items()
    for name in names
}
"""Mutants of these chapters that machines are not asked for, and why."""

_TRIES = 4
"""Names are new each time, and there are faults that half of them show (`crc-has-32-bits`)."""
_SHRINKING = 60.0
"""Real seconds for making one program small."""


class Hunted(msgspec.Struct, frozen=True):
    """What became of a mutant."""

    mutant: str
    profile: str
    seed: str
    examples: int | None
    """Programs until one failed; None: none did."""
    statement: str = ""
    steps: tuple[str, ...] = ()
    """The shrunk program, where it was shrunk."""
    also_fails: tuple[str, ...] = ()
    """What cases have shown to be broken besides, where that was asked."""


class Made(msgspec.Struct, frozen=True):
    """A program, what the sound reference answers, and which of its functions that took."""

    program: tuple[AnyStep, ...]
    sound: list[Outcome]
    called: frozenset[str]


class Machine(msgspec.Struct, frozen=True):
    """What makes programs, and what they are played on."""

    role: Role
    kind: type[StatefulKind]

    def context(self, profile: str, mutant: str = "") -> TargetContext:
        """A reference of a line, or a mutant of it."""
        uri = f"builtin:{profile}" + (f"?mutant={mutant}" if mutant else "")
        return TargetContext(parse(uri, self.role.name), profile, role=self.role)


_MACHINES = {name: Machine(role, StatefulKind) for name, role in ROLES.items()}
_OF_CHAPTERS = {"controller": Machine(CONTROLLER, ControllerKind), "replication": Machine(PAIR, PairKind)}
"""Those that are played on something else."""


class Programs:
    """The programs that the machine of a line makes from a seed, with what the sound reference answers."""

    def __init__(self, profile: str, seed: str, machine: Machine) -> None:
        self._context = machine.context(profile)
        self._kind = machine.kind(self._context, seed)
        self._seed = seed
        self._made: list[Made] = []

    def __iter__(self) -> Iterator[Made]:
        at = 0
        while True:
            if at == len(self._made):
                self._make()
            yield self._made[at]
            at += 1

    def outcomes(self, context: TargetContext, program: Sequence[AnyStep]) -> list[Outcome]:
        """What a target answers. The names are those of the program, on every target."""
        servers = 1 + max((getattr(step, "server", 0) for step in program), default=0)
        names = Names(chance("hunting", *map(encode_step, program)))
        executor, _, _ = context.executor(servers, names, fresh=True, case="hunting")
        seen = [one.outcome for step in program for one in executor.play(step)]
        return seen + [one.outcome for one in executor.finish()]

    def _make(self) -> None:
        tried = self._kind.run(f"{self._seed}/{len(self._made)}")
        if tried.attempt.violations:
            raise AssertionError(f"the reference violates {tried.attempt.violations[0]}")
        called: set[str] = set()

        def notes(frame: FrameType, event: str, _: object) -> None:
            if event == "call":
                called.add(frame.f_code.co_name)

        sys.setprofile(notes)
        try:
            sound = self.outcomes(self._context, tried.program)
        finally:
            sys.setprofile(None)
        self._made.append(Made(tried.program, sound, frozenset(called)))


@functools.cache
def _programs(profile: str, seed: str, machine: Machine) -> Programs:
    return Programs(profile, seed, machine)


def state_mutants(chapters: Iterable[str] = CHAPTERS) -> list[Mutant]:
    """The mutants of chapters about state."""
    wanted = set(chapters)
    return [mutant for mutant in mutants_of("nameserver").values() if mutant.chapter in wanted]


def asked_mutants(chapters: Iterable[str] = CHAPTERS) -> list[Mutant]:
    """Those that machines are to find."""
    return [mutant for mutant in state_mutants(chapters) if mutant.name not in NOT_ASKED]


def spread(names: Iterable[str]) -> list[str | ParameterSet]:
    """Parameters of a test: one in three is tried at each landing, the others in soaks."""
    return [pytest.param(one, marks=pytest.mark.soak) if n % 3 else one for n, one in enumerate(names)]


def by_hand() -> dict[str, int]:
    """The steps that a person would write to show a mutant, where somebody has counted them."""
    counted: dict[str, int] = yaml.safe_load((_HERE / "mutants.yaml").read_text(encoding="utf-8"))
    return counted


def profile_of(mutant: Mutant) -> str:
    """The line on which it is hunted: 5.3 where it is one of them."""
    profiles: tuple[str, ...] = ("5.3", "4.9", "5.5")
    return next(profile for profile in profiles if profile in mutant.profiles)


def hunt(
    name: str,
    seed: str,
    *,
    examples: int = 2000,
    shrinks: bool = True,
    explains: bool = False,
    role: RoleName = "nameserver",
) -> Hunted:
    """Plays programs on a mutant of a role until one fails."""
    profile = profile_of(mutants_of(role)[name])
    machine = _OF_CHAPTERS.get(mutants_of(role)[name].chapter, _MACHINES[role])
    context = machine.context(profile, name)
    experiment = machine.kind.plays(context, seed)
    programs = _programs(profile, seed, machine)
    # By name, because lines override methods. Values of a profile are not called.
    changed = [decision for decision, _ in mutants_of(role)[name].changes]
    replaced = {None if isinstance(one, type) else one.__name__ for one in changed}
    for number, made in enumerate(programs, 1):
        program = made.program
        if number > examples:
            break
        if None not in replaced and replaced.isdisjoint(made.called):
            continue
        try:
            if programs.outcomes(context, program) == made.sound:
                continue
            attempt = experiment.attempt(program, fresh=True)
        except Exception as problem:  # the fault may be such that the reference itself breaks
            return Hunted(name, profile, seed, number, f"it broke: {type(problem).__name__}: {problem}")
        if not attempt.violations:
            continue
        statement = attempt.violations[0].statement
        if not shrinks:
            return Hunted(name, profile, seed, number, statement)
        now = RunningClock().waiting
        budget = Budget(now=now, attempts=800, seconds=_SHRINKING, needed=1, tries=_TRIES)
        cases = FailingCases(context.target, profile, role, now=now)
        explain = cases.explained if explains else None
        played = program[: attempt.stepped]
        found = triage(experiment, played, attempt, FindingStore(None), budget, explain)
        assert isinstance(found, Finding), f"{name} did not fail again"
        steps = tuple(map(encode_step, found.program))
        return Hunted(name, profile, seed, number, statement, steps, found.also_fails)
    return Hunted(name, profile, seed, None)


# --- the table ----------------------------------------------------------------------------------------------

_HEAD = """\
# Mutants that machines find

Mutants of the reference that concern state, as the stateful machines find them: how many programs it
takes from each of three seeds, to how many steps the first of them shrinks, and how many a person has
counted to show it, looking included. A dash is a mutant that was not found, or steps that were not
counted. A mutant that is in neither list has not been hunted since the programs of the seeds changed.

    python tests/quality/hunting.py --seeds 3 --report docs/reference/mutants-found.md

makes the table. `tests/quality/test_machines_find_mutants.py` holds those whose steps somebody has counted.

**The figures of all chapters but controller are out of date**: they were measured before the engine was
redesigned, and the programs of the seeds have changed since.
"""
_COLUMNS = "| mutant | line | programs, by seed | shrunk | by hand |\n|---|---|---|---|---|\n"
_ROW = re.compile(r"\| `([\w.-]+)` \|")


def _row(hunted: Sequence[Hunted], counted: dict[str, int]) -> str:
    first = hunted[0]
    programs = " · ".join("–" if one.examples is None else str(one.examples) for one in hunted)
    shrunk, hand = len(first.steps) or "–", counted.get(first.mutant, "–")
    return f"| `{first.mutant}` | {first.profile} | {programs} | {shrunk} | {hand} |\n"


def _write(path: Path, rows: dict[str, str]) -> None:
    """Writes the table, rows that are there and not made anew included."""
    kept = {}
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = {found[1]: line for line in lines if (found := _ROW.match(line))}
    kept |= rows
    mutants = state_mutants()
    listed = [one for one in mutants if one.name in kept and one.name not in NOT_ASKED]
    found = sum("–" not in kept[one.name].split("|")[3] for one in listed)
    asked = len(mutants) - len(NOT_ASKED)
    text = f"{_HEAD}\n{found} of {len(listed)} are found from every seed; {asked} are asked for.\n"
    for chapter in CHAPTERS:
        if here := [kept[one.name] for one in listed if one.chapter == chapter]:
            text += f"\n## {chapter.replace('_', ' ')}\n\n{_COLUMNS}{''.join(here)}"
    text += "\n## Not asked for\n"
    for reason in dict.fromkeys(NOT_ASKED.values()):
        names = ", ".join(f"`{one.name}`" for one in mutants if NOT_ASKED.get(one.name) == reason)
        text += f"\n{reason}: {names}.\n"
    path.write_text(text, encoding="utf-8")


def main() -> int:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("mutants", nargs="*", metavar="MUTANT")
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--chapter", action="append", default=[], choices=CHAPTERS)
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--show", action="store_true", help="print the shrunk programs")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the table to a Markdown file")
    options = parser.parse_args()
    names = options.mutants or [one.name for one in asked_mutants(options.chapter or CHAPTERS)]
    counted = by_hand()
    rows: dict[str, str] = {}
    found = 0
    for name in names:
        hunted = [
            hunt(name, str(seed), examples=options.examples, shrinks=seed == 1 and not options.no_shrink)
            for seed in range(1, options.seeds + 1)
        ]
        found += all(one.examples is not None for one in hunted)
        rows[name] = _row(hunted, counted)
        named = " · ".join(dict.fromkeys(one.statement or "–" for one in hunted))
        sys.stdout.write(f"{MUTANTS[name].chapter:<18} {rows[name].rstrip()} {named}\n")
        if options.show:
            sys.stdout.writelines(f"    {step}\n" for step in hunted[0].steps)
        sys.stdout.flush()
        if options.report is not None:
            _write(options.report, rows)
    sys.stdout.write(f"{found} of {len(names)} found from every seed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
