"""A duel of two built-in targets, quickly made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.differential.duel import Duel
from harness.differential.quirks import Quirk
from harness.differential.record import Head, Journal
from harness.differential.run import Run
from harness.differential.side import Side
from harness.program.chance import chance
from harness.session import announced_by
from harness.targets import parse


@contextmanager
def duel_of(a: str, b: str, profile: str, quirks: tuple[Quirk, ...] = ()) -> Iterator[Duel]:
    sides = [Side("A", parse(a)), Side("B", parse(b))]
    try:
        yield Duel(
            sides[0],
            sides[1],
            five=profile != "4.9",
            announces=announced_by(profile),
            quirks=quirks,
            names=chance("test"),
        )
    finally:
        for side in sides:
            side.stop()


@contextmanager
def run_of(
    a: str,
    b: str,
    profile: str,
    seed: str,
    *,
    out: Path | None = None,
    resume: bool = False,
    attempts: int = 200,
) -> Iterator[tuple[Run, Journal]]:
    with duel_of(a, b, profile) as duel:
        journal = Journal(out, Head(a=a, b=b, profile=profile, seed=seed), resume=resume)
        yield (
            Run(
                duel,
                profile=profile,
                seed=seed,
                quirks=(),
                journal=journal,
                out=out,
                attempts=attempts,
                most=1,
            ),
            journal,
        )


def always() -> bool:
    return True
