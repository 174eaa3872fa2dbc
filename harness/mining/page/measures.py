"""What the sections about measurements show: a function for each section, from tables to values."""

from __future__ import annotations

from collections import Counter
from typing import Any

from harness.mining.page import plots
from harness.mining.page.amounts import Row, count, first_word, interval, micros, percent, share
from harness.mining.page.grids import PROFILE, TARGET, Column, Tables, grid
from harness.report.text import plural

_MANY = 60
_ENOUGH = 30
"""Answers of a target that make its times comparable."""


def _first_difference(row: Row) -> str:
    if row["first_step"] is None:
        return "none before the end"
    return f"step {row['first_step'] + 1}, {row['rule'] or 'none'}: {row['differs']}"


def _example(row: Row) -> str:
    step = row["example_step"]
    return f"seed {row['example_seed']}" + (f", step {step + 1}" if step is not None else "")


def _difference(row: Row) -> str:
    if row["kind"] != "response code":
        return str(row["kind"])
    codes = ("none" if code is None else str(code) for code in (row["code_a"], row["code_b"]))
    return f"response code {' → '.join(codes)}"


_STEP: Column = ("Step", lambda row: row["rule"] or "–", "mono")
_STEPS: Column = ("Steps", lambda row: count(row["steps"]), "number")
_RUNS: Column = ("Runs", lambda row: count(row["runs"]), "number")
_STATES: list[Column] = [
    TARGET,
    ("Generator", lambda row: first_word(row["generator"]), ""),
    _RUNS,
    ("States", lambda row: count(row["states"]), "number"),
    ("At least (Chao2)", lambda row: count(round(row["chao2"])), "number"),
    ("Transitions", lambda row: count(row["transitions"]), "number"),
    ("New states per run", lambda row: f"{row['new_per_run']:.2g}", "number"),
    ("Repeats left out", lambda row: count(row["dropped"]), "number"),
]
_LATENCY: list[Column] = [
    _STEP,
    TARGET,
    _STEPS,
    ("p50", lambda row: micros(row["p50_us"]), "number"),
    ("p95", lambda row: micros(row["p95_us"]), "number"),
    ("p99", lambda row: micros(row["p99_us"]), "number"),
    ("p99.9", lambda row: micros(row["p999_us"]), "number"),
]
_DRIFT: list[Column] = [
    _STEP,
    TARGET,
    _STEPS,
    ("Trend", lambda row: "▲ slower" if row["slope_us"] > 0 else "▼ faster", "verdict"),
    ("Per 1,000 steps", lambda row: f"{row['slope_us']:+,.1f} µs", "number"),
    ("99.9 % interval", lambda row: f"{row['low']:+,.1f} to {row['high']:+,.1f} µs", "number"),
]
_EFFECTS: list[Column] = [
    _STEP,
    TARGET,
    ("Compared with", lambda row: row["target_a"], "mono"),
    ("Is", lambda row: "▲ slower" if row["a12"] > 0.5 else "▼ faster", "verdict"),
    ("p50", lambda row: f"{micros(row['p50_b_us'])} of {count(row['steps_b'])}", "number"),
    ("p50 there", lambda row: f"{micros(row['p50_a_us'])} of {count(row['steps_a'])}", "number"),
    ("Effect (A12)", lambda row: f"{percent(row['a12'])}, {row['size']}", "number"),
]
_FLAKY: list[Column] = [
    TARGET,
    ("Flaky runs", lambda row: share(row["flaky_runs"], row["runs"]), "number"),
    ("95 % interval", lambda row: interval(row["low"], row["high"]), "number"),
    ("Seeds with several outcomes", lambda row: share(row["differing"], row["repeated"]), "number"),
]
_SEEDS: list[Column] = [
    ("Seed", lambda row: str(row["seed"]), "mono"),
    TARGET,
    ("Outcomes", lambda row: row["outcomes"], ""),
    ("First difference", _first_difference, ""),
]
_DIVERGENCES: list[Column] = [
    _STEP,
    ("Difference", _difference, ""),
    TARGET,
    ("Seeds", lambda row: share(row["seeds"], row["of_seeds"]), "number"),
    ("Share", lambda row: percent(row["share"]), "number"),
    ("Example", _example, "mono"),
]
_MUTANTS: list[Column] = [
    ("Mutant", lambda row: row["mutant"], "mono"),
    ("Kind", lambda row: row["kind"], ""),
    ("Failed", lambda row: share(row["failed"], row["runs"]), "number"),
    (
        "95 % interval",
        lambda row: (
            interval(row["low"], row["high"]) if row["failed"] else f"below {percent(row['at_most'])}"
        ),
        "number",
    ),
    ("Steps to the first failure", lambda row: count(row["steps_to_first"]), "number"),
    ("Runs to the first failure", lambda row: count(row["runs_to_first"]), "number"),
    ("Statement", lambda row: row["statement"] or "–", "mono"),
]
_POPULATIONS: list[Column] = [
    TARGET,
    ("Campaign", lambda row: row["campaign"], ""),
    ("Version", lambda row: row["version"], ""),
    PROFILE,
    ("Generator", lambda row: row["generator"], ""),
    ("Clock", lambda row: row["clock"], ""),
    _RUNS,
    ("Seeds", lambda row: count(row["seeds"]), "number"),
    _STEPS,
    ("Passed", lambda row: share(row["passed"], row["runs"]), "number"),
]


def states(tables: Tables) -> dict[str, Any]:
    """How many states runs saw, and the estimate of those that they did not."""
    rows = sorted(tables["states"], key=lambda row: (row["mutant"] is not None, -row["runs"], row["target"]))
    return {
        "all": len(rows),
        "plot": plots.saturation(tables["saturation"], tables["states"]),
        "grid": grid("states", rows, _STATES, "No run has states.", 12),
    }


def followers(tables: Tables) -> dict[str, Any]:
    """Which kinds of step followed which."""
    rows = tables["rule_pairs"]
    names = {row["rule"] for row in rows} | {row["next_rule"] for row in rows}
    seen = {(row["rule"], row["next_rule"]) for row in rows}
    return {"seen": len(seen), "possible": len(names) ** 2, "plot": plots.followers(rows)}


def latency(tables: Tables) -> dict[str, Any]:
    """How long answers take: by step, during a run, and between targets."""
    answers: Counter[str] = Counter()
    for row in tables["latency"]:
        answers[row["target"]] += row["steps"]
    chosen = sorted(answers, key=lambda target: ("mutant=" in target, -answers[target], target))[:3]
    drift = tables["drift"]
    effects = [row for row in tables["latency_effect"] if min(row["steps_a"], row["steps_b"]) >= _ENOUGH]
    pairs = plural(len(drift), "pair")
    return {
        "answers": answers.total(),
        "targets": len(answers),
        "least": _ENOUGH,
        "plot": plots.latency(tables["latency_over_run"]),
        "grid": grid(
            "latency",
            [row for row in tables["latency"] if row["target"] in chosen],
            _LATENCY,
            "No answer was timed.",
            _MANY,
        ),
        "drift": grid(
            "drift",
            [row for row in drift if row["drifts"]],
            _DRIFT,
            f"None of {pairs} of step and target does: every interval contains 0."
            if drift
            else "No run is long enough to tell.",
            10,
        ),
        "effects": grid(
            "latency_effect",
            [{**row, "target": row["target_b"]} for row in effects if row["size"] != "none"],
            _EFFECTS,
            "All differences between targets are negligible (A12 from 44 to 56 %)."
            if effects
            else f"No step was answered {_ENOUGH} times by both of two targets.",
            10,
        ),
    }


def flaky(tables: Tables) -> dict[str, Any]:
    """What failed and passed, or ended in different ways."""
    rows = tables["flakiness"]
    runs = sum(row["runs"] for row in rows)
    shown = [row for row in rows if row["flaky_runs"] or row["repeated"]]
    return {
        "runs": runs,
        "flaky": sum(row["flaky_runs"] for row in rows),
        "grid": grid("flakiness", shown, _FLAKY),
        "seeds": grid("flaky", tables["flaky"], _SEEDS, shown=10),
    }


def divergences(tables: Tables) -> dict[str, Any]:
    """Where targets answer the same program differently."""
    rows = tables["divergences"]
    return {
        "reference": rows[0]["reference"] if rows else "",
        "grid": grid("divergences", rows, _DIVERGENCES, shown=20),
    }


def mutants(tables: Tables) -> dict[str, Any]:
    """How soon mutants are found."""
    rows = tables["mutants"]
    return {
        "rows": len(rows),
        "all": len({row["mutant"] for row in rows}),
        "found": len({row["mutant"] for row in rows if row["failed"]}),
        "plot": plots.hunts(rows),
        "grid": grid("mutants", rows, _MUTANTS, shown=400),
    }


def populations(tables: Tables) -> dict[str, Any]:
    """The runs that are counted together."""
    rows = tables["populations"]
    return {"all": len(rows), "grid": grid("populations", rows, _POPULATIONS, shown=_MANY)}
