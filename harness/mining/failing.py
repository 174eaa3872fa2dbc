"""From failing runs to findings, and to what precedes them.

Failing runs are few and are collected here; of passing runs, about a thousand for each target that fails. A
finding has a command that repeats its shortest run: from its trace, else from its seed or its case. Without
any of them its program is all there is.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from harness.catalogue import ROLES, Role
from harness.mining.clusters import Cluster, Failure, clusters
from harness.mining.contrast import MOST, Contrast, contrast
from harness.mining.queries import FAILING
from harness.mining.schema import LETTERS
from harness.mining.summaries import Row, Rows

_TOLD = 500
"""Limit of findings with a trace."""
_FAILURE = tuple(field for field in Failure.__struct_fields__)


def findings(runs: DataFrame, tallies: Sequence[Row], root: str) -> Mapping[str, Rows]:
    """The tables of findings and of contrasts; ``root`` is where traces are below."""
    failures = failures_of(runs) if any(row["outcome"] in FAILING for row in tallies) else []
    if not failures:
        return {"findings": [], "contrasts": []}
    found = clusters(failures)
    best = [cluster.failures[0].run_id for cluster in found[:_TOLD]]
    told = {
        row["run_id"]: row
        for row in _asked(
            runs.where(F.col("outcome").isin(*FAILING) & F.col("run_id").isin(best)).select("run_id", "trace")
        )
    }
    return {
        "findings": [
            _finding(number, cluster, told.get(cluster.failures[0].run_id, {}), root)
            for number, cluster in enumerate(found, 1)
        ],
        "contrasts": _contrasts(runs, failures, tallies),
    }


def failures_of(runs: DataFrame) -> list[Failure]:
    """The failing runs, here."""
    failing = runs.where(F.col("outcome").isin(*FAILING))
    filled = failing.withColumn("statement", F.coalesce("statement", F.lit("")))
    return [Failure(**row) for row in _asked(filled.select(*_FAILURE))]


def _asked(frame: DataFrame) -> Rows:
    rows: Rows = frame.toArrow().to_pylist()
    return rows


# --- findings -----------------------------------------------------------------------------------------------


def _finding(number: int, cluster: Cluster, told: Row, root: str) -> dict[str, Any]:
    best = cluster.failures[0]
    trace = told.get("trace")
    seeds = sorted({failure.seed for failure in cluster.failures})
    return {
        **{one: getattr(best, one) for one in ("target", "invariant", "anomaly", "mutant")},
        "statement": best.explanation,
        **{one: getattr(best, one) for one in ("run_id", "campaign", "seed")},
        **{one: getattr(best, one) for one in ("confirmed_shown", "confirmed_tried")},
        "finding": number,
        "runs": len(cluster.failures),
        "seeds": ", ".join(map(str, seeds[:5])) + (", …" if len(seeds) > 5 else ""),
        "shortest_steps": len(best.shrunk_ops or best.played),
        "rules": _rules(cluster.letters, best.role, ", "),
        "program": best.shrunk_program,
        "shrunk": cluster.shrunk,
        "statements": ", ".join(cluster.statements),
        "also_fails": ", ".join(best.also_fails or ()),
        "trace": trace,
        "replay": replay_line(best, trace, root),
    }


def replay_line(best: Failure, trace: str | None, root: str) -> str | None:
    """The command that makes a run again; None where nothing of it was kept that could."""
    if trace:
        words = ["replay", f"{root.rstrip('/')}/{trace}", best.target]
    elif best.source == "campaign":
        words = ["campaign", best.target, *_judged_as(best), "--kind", best.kind]
        words += ["--seed", str(best.seed), "--runs", "1"]
    elif best.source == "check" and best.invariant:
        words = ["check", best.target, *_judged_as(best), "--select", best.invariant]
    else:
        return None
    return shlex.join(["rmq-harness", *words])


def _judged_as(best: Failure) -> list[str]:
    role = [] if best.role == ROLES[0] else ["--role", best.role]
    return [*role, "--profile", best.profile]


def _rules(letters: str, role: Role, between: str) -> str:
    return between.join(LETTERS[role].get(letter, letter) for letter in letters)


# --- what goes before them ----------------------------------------------------------------------------------


def _contrasts(runs: DataFrame, failures: Iterable[Failure], tallies: Sequence[Row]) -> Rows:
    groups: defaultdict[tuple[str, str], list[Failure]] = defaultdict(list)
    for failure in failures:
        groups[failure.target, failure.statement].append(failure)
    targets = sorted({target for target, _ in groups})
    passing = _passing(runs, targets, tallies)
    return [
        _contrasted(one, group[0].role)
        for (target, _), group in sorted(groups.items())
        for one in contrast(group, passing[target])
    ]


def _passing(
    runs: DataFrame, targets: Sequence[str], tallies: Sequence[Row]
) -> Mapping[str, list[tuple[str, int]]]:
    """Letters and seeds of some passing runs of each target: more than are looked at, chosen by seed."""
    found: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    passed: Counter[str] = Counter()
    for row in tallies:
        passed[row["target"]] += row["runs"] if row["outcome"] == "pass" else 0
    one_in = F.coalesce(
        *(F.when(F.col("target") == one, max(1, passed[one] // (2 * MOST))) for one in targets), F.lit(1)
    )
    chosen = runs.where(
        F.col("target").isin(*targets)
        & (F.col("outcome") == "pass")
        & (F.pmod(F.xxhash64("seed"), one_in) == 0)
    )
    for row in _asked(chosen.select("target", "ops", "seed")):
        found[row["target"]].append((row["ops"], row["seed"]))
    return found


def _contrasted(one: Contrast, role: Role) -> dict[str, Any]:
    columns = ("failing_with", "failing", "passing_with", "passing")
    return {
        **{
            name: getattr(one, name)
            for name in ("target", "statement", "round", "g2", "held_g2", "confirmed")
        },
        "pattern": _rules(one.letters, role, " … "),
        **dict(zip(columns, one.found, strict=True)),
        **dict(zip((f"held_{name}" for name in columns), one.held, strict=True)),
    }
