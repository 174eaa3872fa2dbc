"""The Broker's machines against deliberate faults of the reference Broker, as in `hunting`.

    python tests/quality/broker_hunting.py [--examples N] [--seed S] [--shrink] [MUTANT]…

prints a line for each mutant of the chapters about state, or for those that are named: the programs that it
took, the steps of the smallest one, the statement.
"""

from __future__ import annotations

import argparse
import sys

from hunting import hunt, profile_of

from reference_impl.mutants import Mutant, mutants_of

CHAPTERS = (
    "client",
    "data_version",
    "delay",
    "filter",
    "lock",
    "messages",
    "offset",
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


def broker_mutants() -> list[Mutant]:
    """The mutants of these chapters."""
    return [one for one in mutants_of("broker").values() if one.chapter in CHAPTERS]


def main() -> None:
    """Prints the lines."""
    parser = argparse.ArgumentParser(description="how soon machines find mutants of the Broker")
    parser.add_argument("mutant", nargs="*")
    parser.add_argument("--examples", type=int, default=50)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--shrink", action="store_true")
    options = parser.parse_args()
    for name in options.mutant or [one.name for one in broker_mutants()]:
        found = hunt(name, options.seed, examples=options.examples, shrinks=options.shrink, role="broker")
        programs = "–" if found.examples is None else found.examples
        line = profile_of(mutants_of("broker")[name])
        sys.stdout.write(
            f"| `{name}` | {line} | {programs} | {len(found.steps) or '–'} | {found.statement} |\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
