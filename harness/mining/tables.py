"""The tables that mining makes: names, columns, types and meaning.

Invariants:
- Every table exists, if need be without rows. It is small, and totally ordered.
- A rate stands beside its denominator. ``low`` and ``high`` are Wilson's interval at 95 % unless a table says
  otherwise; ``at_most`` is the rule of three, where nothing was seen. Times of steps are microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import pyarrow as pa

_TYPES = {
    "text": pa.string(),
    "int": pa.int32(),
    "long": pa.int64(),
    "real": pa.float64(),
    "flag": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
}
_POPULATION = "target version profile mutant generator"


def _table(about: str, **columns: str) -> pa.Schema:
    """``columns`` gives names, by type."""
    # The order of the columns is that of the groups, which may repeat a type with digits behind it.
    fields = [
        pa.field(name, _TYPES[kind.rstrip("0123456789_")])
        for kind, names in columns.items()
        for name in names.split()
    ]
    return pa.schema(fields, metadata={"about": about})


TABLES: Final[dict[str, pa.Schema]] = {
    "populations": _table(
        "Runs that are counted together, by campaign.",
        text=f"campaign {_POPULATION} source kind clock",
        long="runs seeds steps passed failed quirk flaky timeout died error",
        time="started ended",
        real="elapsed_s",
        text2="role",
    ),
    "outcomes": _table(
        "Outcomes of the runs of a target.",
        text="campaign target profile outcome",
        long="runs of",
        real="share low high",
    ),
    "rates": _table(
        "How often a statement failed, of the runs that judged it.",
        text="target profile statement",
        long="runs failed",
        real="rate low high at_most",
    ),
    "regressions": _table(
        "Two campaigns compared: by McNemar's test of the seeds that both played, else by Fisher's; "
        "p_holm is corrected for the number of tests. An empty statement means any failure. low and high are "
        "Newcombe's interval of the difference, after less before.",
        text="target profile statement method",
        long="before_runs before_failed after_runs after_failed shared_seeds only_before only_after",
        real="difference low high p p_holm",
        text2="verdict",
    ),
    "states": _table(
        "Server states and transitions that the runs met, and estimates of those that they did not: "
        "new_per_run is Good and Turing's estimate for the next run, chao2 a lower bound of all states that "
        "such runs can meet, unseen_mass the probability that a state met is new.",
        text=_POPULATION,
        long="runs dropped steps states once twice transitions",
        real="new_per_run chao2 unseen_mass",
    ),
    "saturation": _table(
        "States and transitions known after a number of runs. expected_new is Good and Turing's estimate "
        "of new states per run at that point; actual_new is what the next_runs found.",
        text=_POPULATION,
        long="runs states transitions",
        real="expected_new actual_new",
        long2="next_runs",
    ),
    "rule_pairs": _table(
        "How often a rule was followed by another, of its steps that have a successor.",
        text="target profile rule next_rule",
        long="times of",
        real="share",
    ),
    "goals": _table(
        "Runs that reached a goal; goals that no run reached come first.",
        text="target profile generator goal",
        long="runs reached",
        real="share low high at_most",
    ),
    "coverage": _table(
        "Runs that judged a statement; statements that no run judged come first.",
        text="target profile statement",
        long="runs judged_runs failed",
    ),
    "undistinguished": _table(
        "Statements and cases whose result is the same on all of several targets.",
        text="kind id",
        long="targets runs failed",
    ),
    "latency": _table(
        "How long answers took. p999 needs at least 10,000 steps.",
        text="target rule",
        long="steps",
        real="mean_us p50_us p90_us p95_us p99_us p999_us",
    ),
    "latency_hist": _table(
        "Answers by duration, in bins of equal width on a logarithmic scale.",
        text="target rule",
        int="bin",
        long="steps",
        real="low_us high_us",
    ),
    "latency_over_run": _table(
        "How long answers took during a run; to_step is included.",
        text="target",
        long="from_step to_step steps",
        real="p50_us p95_us p99_us",
        long2="faults",
    ),
    "drift": _table(
        "Whether answers get slower (slope above 0) or faster during a run: microseconds per 1,000 "
        "steps, with the 99.9 % interval of 16 batches of whole runs.",
        text="target rule",
        long="steps",
        real="slope_us low high mean_us",
        flag="drifts",
    ),
    "latency_effect": _table(
        "a12 is the chance that an answer of b takes longer than one of a (Vargha and Delaney).",
        text="rule target_a target_b",
        long="steps_a steps_b",
        real="p50_a_us p50_b_us a12",
        text2="size",
    ),
    "flakiness": _table(
        "Runs whose failure did not show again; seeds that were played more than once on one version of a "
        "target, and those with different outcomes.",
        text="target version",
        long="runs flaky_runs",
        real="rate low high",
        long2="repeated differing",
        real2="repeated_rate repeated_low repeated_high",
    ),
    "flaky": _table(
        "Seeds with different outcomes on one version of a target, and the first step that differed, from 0.",
        text="target version profile generator",
        long="seed attempts",
        text2="outcomes run_a run_b",
        int="first_step",
        text3="differs rule statement",
    ),
    "divergences": _table(
        "Seeds that a target and the reference both played, by the first difference.",
        text="reference target profile kind rule",
        int="code_a code_b",
        long="seeds of_seeds",
        real="share",
        long2="example_seed",
        int2="example_step",
    ),
    "mutants": _table(
        "How long it took to find each mutant.",
        text="mutant target profile kind generator",
        long="runs failed",
        real="rate low high at_most",
        long2="first_seed runs_to_first steps_to_first",
        text2="statement",
    ),
    "findings": _table(
        "Failures that are one: of one target, with one explanation. Statement is the explanation: the most "
        "telling of those that cases about the requests of the shortest program break (also_fails); "
        "statements are all that were decisive, the most frequent first.",
        int="finding",
        text="target statement invariant anomaly mutant",
        long="runs",
        text2="seeds",
        int2="shortest_steps",
        text3="rules program",
        flag="shrunk",
        text4="run_id campaign",
        long2="seed",
        int3="confirmed_shown confirmed_tried",
        text5="trace replay statements also_fails",
    ),
    "contrasts": _table(
        "What precedes failures and not other steps: rules in this order, with others between them. Found in "
        "one half of the seeds (signed G²), confirmed in the other (held); what a pattern explains is set "
        "aside before the next round.",
        text="target statement",
        int="round",
        text2="pattern",
        long="failing_with failing passing_with passing",
        real="g2",
        long2="held_failing_with held_failing held_passing_with held_passing",
        real2="held_g2",
        flag="confirmed",
    ),
}


def made(name: str, rows: Iterable[Mapping[str, object]]) -> pa.Table:
    """A table of rows, each of which gives every column."""
    return pa.Table.from_pylist(list(rows), schema=TABLES[name])
