"""Whether mining names the right statement for each mutant, and makes one finding of it.

`python -m bench.findings [RUNS [ONE_IN [all]]]`: a campaign of so many runs over the reference and every
so-manieth mutant that the tests of the machines list, or of all mutants of NameServers, mined; not among the
benchmarks of `python -m bench`, since it takes minutes. Of all mutants about half are beyond these machines.

A statement is right where a case about it fails on the mutant, or where a case that must kill the mutant is
about it: cases know nothing of mining. It is the mutant's own in the second case, which asks for more: a
fault of one decision breaks several statements, and few of their cases say so.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import yaml
from pyspark.sql import SparkSession

from harness.catalogue import catalogue
from harness.cli.killing import KILLED, Task, run_task
from harness.conformance.loading import LoadedCase, cases
from harness.mining.campaign import settings_of
from harness.mining.clusters import Cluster, clusters
from harness.mining.failing import failures_of
from harness.mining.reading import read
from harness.mining.spark import session
from harness.mining.stats.association import adjusted_rand
from harness.mining.store import Span
from harness.mining.worker import Order, carry_out, close_all
from harness.session import ProfileName
from reference_impl.mutants import MUTANTS, mutants_of

LISTED = Path(__file__).parent.parent / "tests" / "quality" / "mutants.yaml"


def play(root: str, mutants: list[str], runs: int) -> None:
    """Plays the campaign: so many runs of the reference and of each mutant, of the same seeds."""
    settings = settings_of(chunk=runs, shrink=1, attempts=400, deadline=30.0, sample=0)
    for name in ["", *mutants]:
        lines: tuple[ProfileName, ...] = ("5.3", "4.9", "5.5")
        profile = next(one for one in lines if not name or one in MUTANTS[name].profiles)
        target = f"builtin:{profile}?mutant={name}" if name else f"builtin:{profile}"
        span = Span("stateful", 1, runs)
        order = Order(
            root=root, campaign="mutants", target=target, profile=profile, span=span, settings=settings
        )
        print(f"  {target} {carry_out(order).outcomes}", flush=True)
    close_all()


def found(spark: SparkSession, root: str) -> list[Cluster]:
    """The findings, of the reference too if there are any."""
    records = read(spark, root)
    assert records.runs is not None, records.troubles
    return clusters(failures_of(records.runs))


def breaks(mutant: str, profile: str, statement: str, loaded: Sequence[LoadedCase]) -> bool:
    """Whether a case about a statement fails on a mutant."""
    about = [
        one.name for one in loaded if statement in {said.id for said in one.statements(catalogue(), profile)}
    ]
    seen = run_task(Task("nameserver", profile, mutant, tuple(about))) if about else None
    return seen is not None and any(verdict in KILLED for verdict in seen.verdicts.values())


def report(findings: list[Cluster], mutants: list[str]) -> None:
    """The confusion table: a line for each mutant, with its findings; and what they come to. The statement of
    its first finding is marked: ``=`` its own, ``+`` right, ``-`` neither.
    """
    loaded = cases()
    own = {
        name: {statement for case in loaded if name in case.case.kills for statement in case.case.statements}
        for name in mutants
    }
    by_mutant: dict[str, list[Cluster]] = {name: [] for name in ["", *mutants]}
    truth: list[str] = []
    groups: list[int] = []
    for number, finding in enumerate(findings):
        by_mutant[finding.failures[0].mutant or ""].append(finding)
        truth += [finding.failures[0].mutant or ""] * len(finding.failures)
        groups += [number] * len(finding.failures)
    verdicts: Counter[str] = Counter()
    for name in mutants:
        told = [f"{len(one.failures)} {one.failures[0].named} [{one.letters}]" for one in by_mutant[name]]
        mark = " "
        if told:
            best = by_mutant[name][0].failures[0]
            is_own = best.named in own[name]
            is_right = is_own or breaks(name, best.profile, best.named, loaded)
            mark = "=" if is_own else "+" if is_right else "-"
            verdicts["own"] += is_own
            verdicts["right"] += is_right
        verdicts["found"] += bool(told)
        verdicts["one"] += len(told) == 1
        print(f"{mark} {name:<52} {' | '.join(told) or 'not found'}")
    print(
        f"{len(mutants)} mutants: {verdicts['found']} found, {verdicts['right']} named by a right statement "
        f"({verdicts['own']} by its own), {verdicts['one']} by one finding; adjusted Rand index "
        f"{adjusted_rand(truth, groups):.3f} of {len(truth)} failing runs; "
        f"{len(by_mutant[''])} findings of the reference"
    )


def main() -> None:
    """Plays, mines, prints."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    listed = list(yaml.safe_load(LISTED.read_text(encoding="utf-8")))
    known = sorted(mutants_of("nameserver")) if sys.argv[3:] == ["all"] else listed
    mutants = known[:: int(sys.argv[2]) if len(sys.argv) > 2 else 2]
    with tempfile.TemporaryDirectory() as root:
        play(root, mutants, runs)
        report(found(session("bench"), root), mutants)


if __name__ == "__main__":
    main()
