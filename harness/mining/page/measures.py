"""The sections about what was measured whether or not anything failed: states, orders of steps, latency.

Rules of this module: those of `harness.mining.page.sections`.
"""

from __future__ import annotations

from harness.mining.page import plots
from harness.mining.page.amounts import count, first_word, micros, percent, plural, share
from harness.mining.page.parts import TARGET, Cell, Tables, rows_table, section, told
from harness.report.markup import Markup, element

__all__ = ["followers", "latency", "states"]

_MANY = 60


def states(tables: Tables) -> Markup:
    rows = sorted(tables["states"], key=lambda row: (row["mutant"] is not None, -row["runs"], row["target"]))
    cells: list[Cell] = [
        TARGET,
        ("Generator", lambda row: first_word(row["generator"]), "text"),
        ("Runs", lambda row: count(row["runs"]), "number"),
        ("States", lambda row: count(row["states"]), "number"),
        ("At least (Chao2)", lambda row: count(round(row["chao2"])), "number"),
        ("Transitions", lambda row: count(row["transitions"]), "number"),
        ("New states a run", lambda row: f"{row['new_per_run']:.2g}", "number"),
        ("Repeats left out", lambda row: count(row["dropped"]), "number"),
    ]
    return section(
        "states",
        "States seen, and how many more there are",
        f"{plural(len(rows), 'population')}",
        "A curve that still climbs means that more runs would see new states; where the line below it (the "
        "estimate of Good and Turing) meets the marks (what came), the estimate can be believed. Chao2 is a "
        "lower bound, never the number of all states.",
        told(plots.saturation(tables["saturation"], tables["states"])),
        rows_table("states", rows, cells, "No run has states.", 12),
    )


def followers(tables: Tables) -> Markup:
    rows = tables["rule_pairs"]
    names = {row["rule"] for row in rows} | {row["next_rule"] for row in rows}
    seen = {(row["rule"], row["next_rule"]) for row in rows}
    return section(
        "followers",
        "Which step came after which",
        f"{share(len(seen), len(names) ** 2)} pairs of kinds of step were seen",
        "A row is a kind of step, with how often it came; the darker a field, the greater the share of the "
        "steps right after it that were of the column's kind. A cross is a pair that never came: an order "
        "never tested.",
        told(plots.followers(rows)) or element("p", "No run has two steps.", class_="quiet"),
    )


def latency(tables: Tables) -> Markup:
    weight: dict[str, int] = {}
    for row in tables["latency"]:
        weight[row["target"]] = weight.get(row["target"], 0) + row["steps"]
    chosen = sorted(weight, key=lambda target: ("mutant=" in target, -weight[target], target))[:3]
    rows = [row for row in tables["latency"] if row["target"] in chosen]
    cells: list[Cell] = [
        ("Step", lambda row: row["rule"], "mono"),
        TARGET,
        ("Steps", lambda row: count(row["steps"]), "number"),
        ("p50", lambda row: micros(row["p50_us"]), "number"),
        ("p95", lambda row: micros(row["p95_us"]), "number"),
        ("p99", lambda row: micros(row["p99_us"]), "number"),
        ("p99.9", lambda row: micros(row["p999_us"]), "number"),
    ]
    drifting = [row for row in tables["drift"] if row["drifts"]]
    drift_cells: list[Cell] = [
        ("Step", lambda row: row["rule"], "mono"),
        TARGET,
        ("Steps", lambda row: count(row["steps"]), "number"),
        ("In 1,000 steps", lambda row: f"{row['slope_us']:+.1f} µs", "number"),
        ("95 % interval", lambda row: f"{row['low']:+.1f} to {row['high']:+.1f} µs", "number"),
    ]
    effects = [row for row in tables["latency_effect"] if row["size"] != "none"]
    effect_cells: list[Cell] = [
        ("Step", lambda row: row["rule"], "mono"),
        ("A", lambda row: row["target_a"], "mono"),
        ("B", lambda row: row["target_b"], "mono"),
        ("p50 of A", lambda row: f"{micros(row['p50_a_us'])} of {count(row['steps_a'])}", "number"),
        ("p50 of B", lambda row: f"{micros(row['p50_b_us'])} of {count(row['steps_b'])}", "number"),
        ("B slower (A12)", lambda row: f"{percent(row['a12'])}, {row['size']}", "number"),
    ]
    return section(
        "latency",
        "Latency",
        f"{plural(sum(weight.values()), 'answer')} of {plural(len(weight), 'target')}",
        "p99 is the time within which 99 of 100 answers came. Lines that climb from left to right mean that "
        "answers get slower the longer a run goes on; where the shading is dark, faults were put in. Real "
        "time of this machine, harness included: compare targets, not machines.",
        told(plots.latency(tables["latency_over_run"])),
        element(
            "details",
            element("summary", "By step and target"),
            element(
                "div", rows_table("latency", rows, cells, "No answer was timed.", _MANY), class_="inside"
            ),
        ),
        element("h3", "Slower the longer it goes on"),
        rows_table(
            "drift",
            drifting,
            drift_cells,
            f"None of {plural(len(tables['drift']), 'pair')} of step and target: every interval has 0."
            if tables["drift"]
            else "No run is long enough to tell.",
            10,
        ),
        element("h3", "Slower than another target"),
        rows_table(
            "latency_effect",
            effects,
            effect_cells,
            "No difference between targets is worth a name (A12 from 44 to 56 %)."
            if tables["latency_effect"]
            else "There are not two targets to compare.",
            10,
        ),
    )
