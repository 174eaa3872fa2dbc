"""A run of two built-in targets, quickly made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.catalogue import Quirk
from harness.engine.peer.experiment import PeerExperiment
from harness.engine.peer.journal import Head, Journal
from harness.engine.peer.normal import Compare
from harness.engine.peer.rounds import Rounds
from harness.findings.store import FindingStore
from harness.targets import parse


@contextmanager
def experiment_of(
    a: str, b: str, profile: str, quirks: tuple[Quirk, ...] = (), compare: Compare = "meaning"
) -> Iterator[PeerExperiment]:
    experiment = PeerExperiment((parse(a), parse(b)), profile, quirks, "test", compare=compare)
    try:
        yield experiment
    finally:
        experiment.close()


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
    compare: Compare = "meaning",
) -> Iterator[tuple[Rounds, Journal]]:
    with experiment_of(a, b, profile, compare=compare) as experiment:
        journal = Journal(out, Head(a=a, b=b, profile=profile, seed=seed, compare=compare), resume=resume)
        store = FindingStore(out)
        yield (
            Rounds(experiment, seed=seed, quirks=(), journal=journal, store=store, attempts=attempts),
            journal,
        )


def always() -> bool:
    return True
