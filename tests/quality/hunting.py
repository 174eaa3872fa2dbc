"""Machines against deliberate faults of the reference: how many programs it takes, and how small one gets.

    python tests/quality/hunting.py [--examples N] [--seeds N] [--chapter NAME]… [MUTANT]…

prints the whole table: every mutant that concerns state, or those that are named. A mutant that is not found
is listed with a dash.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

import msgspec

from harness.findings.experiment import Finding
from harness.findings.pursue import Budget, pursue
from harness.findings.shelf import Shelf
from harness.machines.run import Tried
from harness.machines.stage import Stage
from harness.machines.stateful import StatefulKind
from harness.program.steps import encode_step
from harness.session import ProfileName, RunningClock
from harness.targets import parse
from reference_impl.mutants import MUTANTS, Mutant

__all__ = ["CHAPTERS", "Hunted", "hunt", "profile_of", "state_mutants"]

CHAPTERS = (
    "acting_master",
    "cluster",
    "concurrency",
    "configuration",
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

_BATCH = 10
"""Programs that Hypothesis makes in a row: behind the first ten it plays variants of each several times."""


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


class _Found(BaseException):
    """Ends a batch."""


def state_mutants(chapters: Iterable[str] = CHAPTERS) -> list[Mutant]:
    """The mutants that concern state."""
    wanted = set(chapters)
    return [mutant for mutant in MUTANTS.values() if mutant.chapter in wanted]


def profile_of(mutant: Mutant) -> ProfileName:
    """The line on which it is hunted: 5.3 where it is one of them."""
    profiles: tuple[ProfileName, ...] = ("5.3", "4.9", "5.5")
    return next(profile for profile in profiles if profile in mutant.profiles)


def hunt(name: str, seed: str, *, examples: int = 2000, shrinks: bool = True) -> Hunted:
    """Plays programs on a mutant until one fails."""
    profile = profile_of(MUTANTS[name])
    stage = Stage(parse(f"builtin:{profile}?mutant={name}"), profile)
    kind = StatefulKind(stage, seed, seed)
    played = 0
    failed: Tried | None = None

    def tell(tried: Tried) -> None:
        nonlocal played, failed
        played += 1
        if tried.attempt.violations:
            failed = tried
        if failed is not None or played >= examples:
            raise _Found

    batch = 0
    try:
        while True:
            kind.batch(batch, _BATCH, tell)
            batch += 1
    except _Found:
        pass
    except Exception as problem:  # the fault may be such that the reference itself breaks
        return Hunted(name, profile, seed, played + 1, f"it broke: {type(problem).__name__}: {problem}")
    if failed is None:
        return Hunted(name, profile, seed, None)
    statement = failed.attempt.violations[0].statement
    steps: tuple[str, ...] = ()
    if shrinks:
        budget = Budget(now=RunningClock().waiting, attempts=800, seconds=60, needed=1, tries=1)
        found = pursue(kind.experiment, failed.program, failed.attempt, Shelf(None), budget)
        assert isinstance(found, Finding), f"{name} did not fail again"
        steps = tuple(encode_step(step) for step in found.program)
    return Hunted(name, profile, seed, played, statement, steps)


def main() -> int:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("mutants", nargs="*", metavar="MUTANT")
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--chapter", action="append", default=[], choices=CHAPTERS)
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--show", action="store_true", help="print the shrunk programs")
    options = parser.parse_args()
    names = options.mutants or [one.name for one in state_mutants(options.chapter or CHAPTERS)]
    found = 0
    for name in names:
        hunted = [
            hunt(name, str(seed), examples=options.examples, shrinks=not options.no_shrink)
            for seed in range(1, options.seeds + 1)
        ]
        found += all(one.examples is not None for one in hunted)
        examples = " ".join("–" if one.examples is None else str(one.examples) for one in hunted)
        steps = " ".join(str(len(one.steps) or "–") for one in hunted)
        head = f"{MUTANTS[name].chapter:<18} {name:<52} {hunted[0].profile}"
        sys.stdout.write(f"{head}  programs {examples:<14} steps {steps:<8} {hunted[0].statement}\n")
        if options.show:
            sys.stdout.writelines(f"    {step}\n" for step in hunted[0].steps)
        sys.stdout.flush()
    sys.stdout.write(f"{found} of {len(names)} found from every seed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
