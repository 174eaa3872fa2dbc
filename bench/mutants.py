"""How many examples of frame fuzzing each mutant of the chapters on frames takes.

`python -m bench.mutants [MOST [SEED]]`; not among the benchmarks of `python -m bench`, since it takes long.
"""

from __future__ import annotations

import sys

from harness.catalogue import catalogue
from harness.engine.frames.experiment import FrameExperiment
from harness.engine.frames.kind import FramesKind
from harness.targets import parse
from reference_impl.mutants import MUTANTS

CHAPTERS = ("connection", "errors", "framing", "json", "security")


def examples_until_found(mutant: str, *, seed: str, most: int) -> int | None:
    """The number of the example that shows a violation; None where none of ``most`` does."""
    profiles = MUTANTS[mutant].profiles
    profile = "5.3" if "5.3" in profiles else profiles[0]
    experiment = FrameExperiment(
        parse(f"builtin:{profile}?mutant={mutant}"),
        "4.9" if profile == "4.9" else "5.5" if profile == "5.5" else "5.3",
        levels={one.id: one.level for one in catalogue().statements},
        strict=True,
        words=seed,
    )
    kind = FramesKind(experiment)
    try:
        numbers = range(1, most + 1)
        return next((number for number in numbers if kind.run(f"{seed}/{number}").attempt.violations), None)
    finally:
        kind.close()


def main() -> None:
    """Prints a line for each mutant, and how many were found."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    seed = sys.argv[2] if len(sys.argv) > 2 else "1"
    chosen = [name for name, mutant in MUTANTS.items() if mutant.chapter in CHAPTERS]
    found = 0
    for name in chosen:
        number = examples_until_found(name, seed=seed, most=most)
        found += number is not None
        print(
            f"{MUTANTS[name].chapter:<12}{name:<44}{number if number is not None else 'not found'}",
            flush=True,
        )
    print(f"{found} of {len(chosen)} mutants within {most} examples")


if __name__ == "__main__":
    main()
