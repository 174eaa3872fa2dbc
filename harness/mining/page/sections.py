"""What the sections about failures and coverage show: a function for each section, from tables to values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.mining.page import plots
from harness.mining.page.amounts import Row, count, interval, percent, share
from harness.mining.page.grids import PROFILE, STATEMENT, TARGET, Column, Tables, grid
from harness.mining.stats.proportions import rule_of_three
from harness.report.text import plural

_FAILED: Column = ("Failed", lambda row: share(row["failed"], row["runs"]), "number")
_SIGNS = {"worse": "▲", "better": "▼"}
_RATES: list[Column] = [
    STATEMENT,
    TARGET,
    PROFILE,
    _FAILED,
    ("Rate", lambda row: percent(row["rate"]), "number"),
    ("95 % interval", lambda row: interval(row["low"], row["high"]), "number"),
]
_CHANGES: list[Column] = [
    STATEMENT,
    TARGET,
    ("Verdict", lambda row: f"{_SIGNS.get(row['verdict'], '=')} {row['verdict']}", "verdict"),
    ("Before", lambda row: share(row["before_failed"], row["before_runs"]), "number"),
    ("After", lambda row: share(row["after_failed"], row["after_runs"]), "number"),
    ("Shared seeds", lambda row: count(row["shared_seeds"]), "number"),
    ("p (Holm)", lambda row: f"{row['p_holm']:.2g}", "number"),
]
_REASONS: list[Column] = [
    ("Preceding steps", lambda row: row["pattern"], "mono"),
    STATEMENT,
    TARGET,
    ("In failing runs", lambda row: share(row["held_failing_with"], row["held_failing"]), "number"),
    ("In passing runs", lambda row: share(row["held_passing_with"], row["held_passing"]), "number"),
    ("G²", lambda row: f"{row['held_g2']:.1f}".replace("-", "−"), "number"),
    ("Confirmed", lambda row: "yes" if row["confirmed"] else "no", ""),
]
_GOALS: list[Column] = [
    ("Goal", lambda row: row["goal"], "mono"),
    PROFILE,
    ("Reached", lambda row: f"{share(0, row['runs'])} runs", "number"),
    ("At most", lambda row: percent(rule_of_three(row["runs"])), "number"),
]
_ALIKE: list[Column] = [
    ("Statement or case", lambda row: row["id"], "mono"),
    ("Targets", lambda row: count(row["targets"]), "number"),
    _FAILED,
]


def silent(tables: Tables, against: str | None) -> dict[str, tuple[str, str]]:
    """The sections that would show nothing, by name: what each is called, and why it would."""
    runs = sum(row["runs"] for row in tables["populations"])
    flaky = any(row["flaky_runs"] or row["repeated"] for row in tables["flakiness"])
    compared = (
        "No earlier campaign was given (--against DIR)."
        if against is None
        else f"{against} has no run of the same target and profile."
    )
    found = {
        "findings": (tables["findings"], "Findings", "Nothing failed."),
        "changes": (tables["regressions"], "Changes since an earlier campaign", compared),
        "reasons": (
            tables["contrasts"],
            "What precedes failures",
            "No pattern stood out from passing runs."
            if tables["findings"]
            else "Nothing failed, so nothing precedes a failure.",
        ),
        "flaky": (
            flaky,
            "Flaky runs",
            f"None of {plural(runs, 'run')} was flaky, and no seed was played twice.",
        ),
        "divergences": (
            tables["divergences"],
            "Where targets differ",
            "No seed was played on two targets, or all that were ended alike.",
        ),
        "mutants": (tables["mutants"], "Time to find mutants", "No mutant was among the targets."),
    }
    return {name: (title, why) for name, (rows, title, why) in found.items() if not rows}


def rates(tables: Tables) -> dict[str, Any]:
    """How often statements fail."""
    rows = tables["rates"]
    # One failure of one run is a rate of 100 % that says little: the sure ones first.
    failed = sorted((row for row in rows if row["failed"]), key=lambda row: -float(row["low"]))
    clean = [row["runs"] for row in rows if not row["failed"] and row["runs"]]
    return {
        "all": len(rows),
        "failed": len(failed),
        "clean": len(clean),
        "least": min(clean, default=0),
        "most": max(clean, default=0),
        # `fuzz` records failures only: a share of those means nothing.
        "fuzzed": sum(row["runs"] for row in tables["populations"] if row["source"] == "fuzz"),
        "plot": plots.rates(failed),
        "targets": plots.campaigns(tables["outcomes"]),
        "grid": grid("rates", failed, _RATES, "No statement failed in any run."),
    }


def changes(tables: Tables) -> dict[str, Any]:
    """What got worse or better since an earlier campaign."""
    rows = tables["regressions"]
    return {
        "all": len(rows),
        "worse": [row for row in rows if row["verdict"] == "worse"],
        "better": sum(row["verdict"] == "better" for row in rows),
        "plot": plots.changes(rows),
        "grid": grid("regressions", rows, _CHANGES),
    }


def reasons(tables: Tables) -> dict[str, Any]:
    """What precedes failures."""
    rows = sorted(tables["contrasts"], key=lambda row: not row["confirmed"])
    return {
        "all": len(rows),
        "confirmed": sum(row["confirmed"] for row in rows),
        "grid": grid("contrasts", rows, _REASONS),
    }


def unreached(tables: Tables) -> dict[str, Any]:
    """Goals that no run reached, statements that no run judged."""
    missed, goals = _missed_goals(tables["goals"])
    every = {(row["profile"], row["statement"]) for row in tables["coverage"]}
    judged = {(row["profile"], row["statement"]) for row in tables["coverage"] if row["judged_runs"]}
    never: dict[str, list[str]] = {}
    for profile, statement in sorted(every - judged):
        never.setdefault(profile, []).append(statement)
    return {
        "missed": missed,
        "names": sorted({row["goal"] for row in missed}),
        "goals": goals,
        "partly": sum(not row["reached"] for row in tables["goals"]),
        "by_target": len(tables["goals"]),
        "grid": grid(
            "goals",
            missed,
            _GOALS,
            "Every goal was reached in some run." if goals else "These runs have no goals.",
        ),
        "lists": never,
        "unjudged": len(every - judged),
        "statements": len(every),
        "undistinguished": grid(
            "undistinguished",
            tables["undistinguished"],
            _ALIKE,
            "There is only one target."
            if len({row["target"] for row in tables["populations"]}) < 2
            else "Nothing: every statement distinguished some two targets.",
            10,
        ),
    }


def _missed_goals(goals: Sequence[Row]) -> tuple[list[Row], int]:
    """The goals that no run of any target reached, with their runs; and how many goals there are."""
    runs: dict[tuple[str, str], int] = {}
    reached: dict[tuple[str, str], int] = {}
    for row in goals:
        key = (row["goal"], row["profile"])
        runs[key] = runs.get(key, 0) + row["runs"]
        reached[key] = reached.get(key, 0) + row["reached"]
    missed: list[Row] = [
        {"goal": goal, "profile": profile, "runs": runs[goal, profile]}
        for goal, profile in sorted(runs)
        if not reached[goal, profile]
    ]
    return missed, len(runs)
