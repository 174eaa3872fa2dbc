"""The Broker's machines against deliberate faults of the reference Broker, as in `hunting`.

    python tests/quality/broker_hunting.py [--draw N] [--examples N] [--seed S] [-n N] [--report FILE]
        [MUTANT]…

prints a line for each mutant of the chapters about state, for those that are named, or for some that the seed
draws: the programs that it took, and the statement that the first one to fail breaks.
`--report docs/reference/broker-mutants-found.md` writes the table down once all have been hunted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from hunting import Hunted, hunt

from harness.cli.options.values import count, workers
from harness.cli.status import INTERRUPTED
from harness.cli.workers import worker_processes
from harness.program.chance import chance
from reference_impl.mutants import Mutant, mutants_of

CHAPTERS = (
    "client",
    "data_version",
    "delay",
    "filter",
    "lock",
    "messages",
    "offset",
    "pop",
    "pull",
    "query",
    "recall",
    "registration",
    "replication",
    "retry",
    "role",
    "send",
    "static_topics",
    "storage",
    "topics",
    "transaction",
    "unregistration",
)
"""About what a Broker remembers, shows and tells its NameServers; the others are about administrators."""

_HEAD = """\
# Mutants of the Broker that machines find

{drawn} mutants of the reference Broker, drawn by seed {seed} from the chapters about what a Broker remembers,
as [its machines](broker-machines.md) find them: the programs of seed {seed} that it takes, {examples} at
most, and the statement that the first one to fail breaks. Mutants of the chapter *replication* meet
[pairs](../guides/fuzzing.md#a-master-and-its-slave), the others programs on one Broker. A dash is a mutant
that was not found.

    python tests/quality/broker_hunting.py --draw {drawn} --examples {examples} --seed {seed} -n 2 \\
        --report docs/reference/broker-mutants-found.md

makes the table. `tests/quality/test_broker_machines_find_mutants.py` holds others that are found within 100
programs.

{found} of {drawn} are found: {within}.

Programs send well-formed requests under one set of settings. They know neither ordered pops, nor requests for
several topics, nor Brokers of other names, so that mutants that show only there stay unseen. The cases of
`check` notice every one.

| mutant | chapter | line | programs | statement |
|---|---|---|---|---|
"""
_WITHIN = (2, 10, 100)
"""Programs up to which the head counts."""


def broker_mutants() -> list[Mutant]:
    """The mutants of these chapters."""
    return [one for one in mutants_of("broker").values() if one.chapter in CHAPTERS]


def _drawn(number: int, seed: str) -> list[str]:
    names = [one.name for one in broker_mutants()]
    picked = set(chance("broker hunting", seed).sample(names, min(number, len(names))))
    return [name for name in names if name in picked]


def _row(one: Hunted) -> str:
    programs = "–" if one.examples is None else one.examples
    is_named = "." in one.statement and " " not in one.statement
    statement = f"`{one.statement}`" if is_named else ": ".join(one.statement.split(": ")[:2])
    chapter = mutants_of("broker")[one.mutant].chapter.replace("_", " ")
    return f"| `{one.mutant}` | {chapter} | {one.profile} | {programs} | {statement or '–'} |\n"


def _write(path: Path, hunted: Sequence[Hunted], seed: str, examples: int) -> None:
    took = [one.examples for one in hunted if one.examples is not None]
    within = ", ".join(f"{sum(one <= most for one in took)} within {most}" for most in _WITHIN)
    head = _HEAD.format(drawn=len(hunted), seed=seed, examples=examples, found=len(took), within=within)
    path.write_text(head + "".join(map(_row, hunted)), encoding="utf-8")


def main() -> int:
    """Prints the lines; returns the exit status."""
    parser = argparse.ArgumentParser(description="how soon machines find mutants of the Broker")
    parser.add_argument("mutant", nargs="*")
    parser.add_argument("--draw", type=count, metavar="N", help="N mutants, drawn by the seed")
    parser.add_argument("--examples", type=count, default=50, metavar="N", help="programs at most (50)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("-n", type=workers, default=1, dest="workers", metavar="N", help="processes, or auto")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the table to a Markdown file")
    options = parser.parse_args()
    everything = [one.name for one in broker_mutants()]
    if unknown := [name for name in options.mutant if name not in mutants_of("broker")]:
        parser.error(
            f"no mutant of the Broker: {', '.join(unknown)}; they are in reference_impl/mutants/broker"
        )
    names = options.mutant or (_drawn(options.draw, options.seed) if options.draw else everything)
    hunting = partial(hunt, seed=options.seed, examples=options.examples, shrinks=False, role="broker")
    hunted: list[Hunted] = []
    with worker_processes(options.workers) as pool:
        try:
            for one in pool.map(hunting, names):
                hunted.append(one)
                sys.stdout.write(_row(one))
                sys.stdout.flush()
        except KeyboardInterrupt:
            sys.stderr.write(f"interrupted after {len(hunted)} of {len(names)}: no report is written\n")
            return INTERRUPTED
    if options.report is not None:
        _write(options.report, hunted, options.seed, options.examples)
    return 0


if __name__ == "__main__":
    sys.exit(main())
