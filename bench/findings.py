"""Whether findings are explained by the statement that a mutant breaks.

`python -m bench.findings [--seed SEED] [--examples N] [--rest N] [MUTANT…]` hunts each mutant as the tests of
the machines do (`tests/quality/hunting.py`) and prints the first three statements that explain what it found.
The mutants are those of `tests/quality/baseline/drawn-for-findings.txt`, which were drawn before anything was
tuned; with `--rest N` every N-th of the others, for development. It is not among the benchmarks of
`python -m bench`, since it takes minutes.

A statement is the mutant's own where a case that must kill the mutant is about it. It is right where it is
the mutant's own, or where a case about it fails on the mutant, which is checked apart from the hunt.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.catalogue import catalogue
from harness.cli.killing import KILLED, Task, run_task
from harness.conformance.loading import LoadedCase, cases

QUALITY = Path(__file__).parent.parent / "tests" / "quality"
DRAWN = QUALITY / "baseline" / "drawn-for-findings.txt"
FIRST = 3
"""Statements that a person reads."""

sys.path.insert(0, str(QUALITY))

from hunting import Hunted, asked_mutants, hunt  # noqa: E402 - it is found there


def breaks(mutant: str, profile: str, statement: str, loaded: Sequence[LoadedCase]) -> bool:
    """Whether a case about a statement fails on a mutant."""
    about = [
        one.name for one in loaded if statement in {said.id for said in one.statements(catalogue(), profile)}
    ]
    seen = run_task(Task("nameserver", profile, mutant, tuple(about))) if about else None
    return seen is not None and any(verdict in KILLED for verdict in seen.verdicts.values())


def judged(hunted: Hunted, own: set[str], loaded: Sequence[LoadedCase]) -> str:
    """``own``, ``right`` or ``wrong``; ``not found``; ``unexplained`` where no case failed; ``it broke``
    where the reference itself stumbled over its fault, which leaves no finding to explain.
    """
    if hunted.examples is None:
        return "not found"
    if not hunted.steps:
        return "it broke"
    told = hunted.also_fails[:FIRST]
    if not told:
        return "unexplained"
    if own & set(told):
        return "own"
    return "right" if any(breaks(hunted.mutant, hunted.profile, one, loaded) for one in told) else "wrong"


def chosen(options: argparse.Namespace) -> list[str]:
    """The mutants to hunt."""
    if options.mutants:
        return list(options.mutants)
    drawn = DRAWN.read_text(encoding="utf-8").split()
    if options.rest:
        return [one.name for one in asked_mutants() if one.name not in drawn][:: options.rest]
    return drawn


def main() -> None:
    """Hunts, prints, counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("mutants", nargs="*", metavar="MUTANT")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--rest", type=int, default=0)
    options = parser.parse_args()
    loaded, counts, first = cases(role="nameserver"), Counter[str](), 0
    names = chosen(options)
    for name in names:
        own = {statement for one in loaded if name in one.case.kills for statement in one.case.statements}
        hunted = hunt(name, options.seed, examples=options.examples, explains=True)
        verdict = judged(hunted, own, loaded)
        counts[verdict] += 1
        first += bool(own & set(hunted.also_fails[:1]))
        told = " | ".join(hunted.also_fails[:FIRST])
        print(
            f"{verdict:<12} {name:<52} {len(hunted.also_fails):>4}  {hunted.statement} -> {told}", flush=True
        )
    found = len(names) - counts["not found"]
    right = counts["own"] + counts["right"]
    print(f"{len(names)} mutants: {found} found in {options.examples} programs of seed {options.seed}")
    print(f"a right statement among the first {FIRST}: {right}; the mutant's own: {counts['own']}")
    print(f"the mutant's own as the very first: {first}; without explanation: {counts['unexplained']}")


if __name__ == "__main__":
    main()
