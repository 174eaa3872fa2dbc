"""Tables of mining, made by hand: with failures and mutants, without a failure, and without a run."""

from __future__ import annotations

import datetime
import math
from typing import Any

from harness.mining.tables import TABLES

Row = dict[str, Any]
Tables = dict[str, list[Row]]

NAMES = tuple(TABLES)


HOSTILE = "<script>alert('x')</script> $a_b$ & \"quoted\" \x1b[31m\u202e"

REFERENCE, APACHE = "builtin:5.3", "apache:5.3.3?warp=60"
MUTANTS = {
    "one-id-per-address": ("ns.registration.one-id-per-address", 812, 40),
    "never-expires": ("ns.lease.expired-broker-is-removed", 31, 1_900),
    "order-topic-lost": ("ns.order-topics.kept-over-reregistration", 3, 41_000),
    "kv-forgets": ("ns.kv.get-returns-what-was-put", 240, 260),
    "too-subtle": (None, 0, None),
}
RULES = ("register", "unregister", "route", "cluster-info", "kv", "time", "close", "restart")
STATEMENTS = sorted({one for one, _, _ in MUTANTS.values() if one})
PROGRAM = "\n".join(
    (
        '{"do":"register","conn":"c0","broker":"b0","address":"a0"}',
        '{"do":"time","seconds":130}',
        '{"do":"route","conn":"c1","topic":"T0"}',
    )
)


def empty() -> Tables:
    """Nothing was mined."""
    return {name: [] for name in NAMES}


def passing() -> Tables:
    """Two targets, no failure."""
    return {
        **empty(),
        "populations": [_population(REFERENCE), _population(APACHE)],
        "outcomes": [_outcome(REFERENCE, "pass", 2000), _outcome(APACHE, "pass", 2000)],
        "rates": [_rate(REFERENCE, one, 0) for one in STATEMENTS],
        **_common(),
    }


def failing() -> Tables:
    """The reference, Apache's server and five mutants; one mutant is not found."""
    mutants = [_mutant(name, *facts) for name, facts in MUTANTS.items()]
    populations = [_population(REFERENCE), _population(APACHE, quirk=11, flaky=1)]
    populations += [_population(_uri(name), name, failed) for name, (_, failed, _) in MUTANTS.items()]
    outcomes = [
        _outcome(REFERENCE, "pass", 2000),
        _outcome(APACHE, "quirk", 11),
        _outcome(APACHE, "pass", 1988),
    ]
    outcomes += [_outcome(_uri(name), "fail", failed) for name, (_, failed, _) in MUTANTS.items() if failed]
    found = sorted(((failed, name) for name, (_, failed, _) in MUTANTS.items() if failed), reverse=True)
    rates = [_rate(_uri(name), MUTANTS[name][0] or "", failed) for failed, name in found]
    rates += [_rate(REFERENCE, one, 0) for one in STATEMENTS]
    return {
        **passing(),
        "populations": populations,
        "outcomes": outcomes,
        "rates": rates,
        "mutants": mutants,
        "findings": [_finding(number, name, failed) for number, (failed, name) in enumerate(found, 1)],
        "contrasts": [_contrast("never-expires", "register … time … route", 9, 10, True)],
        "regressions": [
            _regression("ns.kv.get-returns-what-was-put", 12, 240, 1e-9, "worse"),
            _regression("ns.lease.expired-broker-is-removed", 90, 31, 2e-4, "better"),
            _regression("", 900, 1086, 0.4, "same"),
        ],
        "flaky": [_flaky()],
        "divergences": [
            _divergence("response code", 0, 17, 41),
            _divergence("answer", None, None, 2),
            _divergence("outcome", None, None, 1),
        ],
        "undistinguished": [
            {"kind": "statement", "id": STATEMENTS[0], "targets": 2, "runs": 4000, "failed": 0}
        ],
    }


def hostile() -> Tables:
    """The failing tables, in which every text that a target or a user may choose is an attack."""
    tables = failing()
    chosen = (
        "target",
        "version",
        "mutant",
        "campaign",
        "rule",
        "next_rule",
        "replay",
        "invariant",
        "statement",
        "statements",
        "also_fails",
    )
    return {
        name: [
            {
                key: HOSTILE if key in chosen and isinstance(value, str) else value
                for key, value in row.items()
            }
            for row in rows
        ]
        for name, rows in tables.items()
    }


def _common() -> Tables:
    pairs = [
        {
            "target": REFERENCE,
            "profile": "5.3",
            "rule": one,
            "next_rule": two,
            "times": 10 + 90 * at * (n + 1),
        }
        for at, one in enumerate(RULES)
        for n, two in enumerate(RULES)
        if (at + n) % 5
    ]
    whole = {one: sum(row["times"] for row in pairs if row["rule"] == one) for one in RULES}
    for row in pairs:
        row |= {"of": whole[row["rule"]], "share": row["times"] / whole[row["rule"]]}
    goals = [("ns.promotion-beside-a-live-master", 0), ("ns.lease-ended", 640), ("ns.prime-slave-serves", 12)]
    return {
        "states": [
            {**_key(REFERENCE), "runs": 2000, "dropped": 0, "steps": 80_000, "states": 21_400, "once": 9_000}
            | {
                "twice": 2_000,
                "transitions": 43_000,
                "new_per_run": 4.5,
                "chao2": 41_640.2,
                "unseen_mass": 0.11,
            }
        ],
        "saturation": [
            _saturated(target, runs) for target in (REFERENCE, APACHE) for runs in range(100, 2001, 100)
        ],
        "rule_pairs": pairs,
        "goals": [
            {"target": REFERENCE, "profile": "5.3", "generator": "stateful-2", "goal": goal, "runs": 2000}
            | {"reached": n, "share": n / 2000, "low": 0.0, "high": 0.1, "at_most": None if n else 0.0015}
            for goal, n in goals
        ],
        "coverage": [
            {
                "target": REFERENCE,
                "profile": "5.3",
                "statement": one,
                "runs": 2000,
                "judged_runs": n,
                "failed": 0,
            }
            for n, one in enumerate(STATEMENTS)
        ],
        "latency": [
            {"target": target, "rule": rule, "steps": 9000, "mean_us": slow * 40.0, "p50_us": slow * 31.0}
            | {"p90_us": slow * 60.0, "p95_us": slow * 88.0, "p99_us": slow * 240.0, "p999_us": None}
            for target, slow in ((APACHE, 20), (REFERENCE, 1))
            for rule in RULES
        ],
        "latency_over_run": [
            {"target": target, "from_step": at, "to_step": at + 9, "steps": 18_000, "faults": 90 * (at % 40)}
            | {f"p{p}_us": slow * (p + at / 4) * p / 50 for p in (50, 95, 99)}
            for target, slow in ((APACHE, 20), (REFERENCE, 1))
            for at in range(0, 160, 10)
        ],
        "drift": [
            {"target": APACHE, "rule": "route", "steps": 9000, "slope_us": 84.0, "low": 31.0, "high": 137.0}
            | {"mean_us": 800.0, "drifts": True}
        ],
        "latency_effect": [
            {"rule": "route", "target_a": APACHE, "target_b": REFERENCE, "steps_a": 9000, "steps_b": 9000}
            | {"p50_a_us": 620.0, "p50_b_us": 31.0, "a12": 0.002, "size": "large"}
        ],
        "flakiness": [
            {
                "target": target,
                "version": "5.3.3",
                "runs": 2000,
                "flaky_runs": n,
                "rate": n / 2000,
                "low": 0.0,
            }
            | {"high": 0.002, "repeated": n * 20, "differing": n}
            | dict.fromkeys(("repeated_rate", "repeated_low", "repeated_high"), 0.05 if n else None)
            for target, n in ((APACHE, 1), (REFERENCE, 0))
        ],
    }


def _uri(mutant: str) -> str:
    return f"builtin:5.3?mutant={mutant}"


def _key(target: str, mutant: str | None = None) -> Row:
    return {
        "target": target,
        "version": "5.3.3",
        "profile": "5.3",
        "mutant": mutant,
        "generator": "stateful-2",
    }


def _population(
    target: str, mutant: str | None = None, failed: int = 0, quirk: int = 0, flaky: int = 0
) -> Row:
    began = datetime.datetime(2026, 11, 22, 4, tzinfo=datetime.UTC)
    return {
        "campaign": "nightly",
        **_key(target, mutant),
        "source": "campaign",
        "kind": "stateful",
        "clock": "virtual",
        "runs": 2000,
        "seeds": 2000,
        "steps": 80_000,
        "passed": 2000 - failed - quirk - flaky,
        "failed": failed,
        "quirk": quirk,
        "flaky": flaky,
        "timeout": 0,
        "died": 0,
        "error": 0,
        "started": began,
        "ended": began + datetime.timedelta(minutes=2),
        "elapsed_s": 118.5,
        "role": "nameserver",
    }


def _interval(part: int, whole: int) -> Row:
    rate = part / whole
    wide = 1.96 * math.sqrt(max(rate * (1 - rate), 1 / whole) / whole)
    return {"low": max(0.0, rate - wide), "high": min(1.0, rate + wide)}


def _outcome(target: str, outcome: str, runs: int) -> Row:
    row = {
        "campaign": "nightly",
        "target": target,
        "profile": "5.3",
        "outcome": outcome,
        "runs": runs,
        "of": 2000,
    }
    return {**row, "share": runs / 2000, **_interval(runs, 2000)}


def _rate(target: str, statement: str, failed: int) -> Row:
    row = {"target": target, "profile": "5.3", "statement": statement, "runs": 2000, "failed": failed}
    at_most = None if failed else 0.0015
    return {**row, "rate": failed / 2000, **_interval(failed, 2000), "at_most": at_most}


def _mutant(name: str, statement: str | None, failed: int, steps: int | None) -> Row:
    first = None if steps is None else 1 + steps // 40
    return {
        "mutant": name,
        "target": _uri(name),
        "profile": "5.3",
        "kind": "stateful",
        "generator": "stateful-2",
        "runs": 2000,
        "failed": failed,
        "rate": failed / 2000,
        **_interval(failed, 2000),
        "at_most": None if failed else 0.0015,
        "first_seed": first,
        "runs_to_first": first,
        "steps_to_first": steps,
        "statement": statement,
    }


def _finding(number: int, name: str, failed: int) -> Row:
    shrunk = name != "kv-forgets"
    return {
        "finding": number,
        "target": _uri(name),
        "statement": MUTANTS[name][0],
        "invariant": "lease",
        "anomaly": None,
        "mutant": name,
        "runs": failed,
        "seeds": "4, 17, 23, 99, 104",
        "shortest_steps": 3,
        "rules": "register, time, route",
        "program": PROGRAM if shrunk else None,
        "shrunk": shrunk,
        "run_id": "r1",
        "campaign": "nightly",
        "seed": 4,
        "confirmed_shown": 3,
        "confirmed_tried": 3,
        "trace": "traces/r1.trace",
        "replay": f"rmq-harness replay D/traces/r1.trace '{_uri(name)}'",
        "statements": MUTANTS[name][0],
        "also_fails": f"{MUTANTS[name][0]}, {STATEMENTS[0]}",
    }


def _contrast(name: str, pattern: str, part: int, whole: int, confirmed: bool) -> Row:
    row = {"target": _uri(name), "statement": MUTANTS[name][0], "round": 1, "pattern": pattern}
    for prefix in ("", "held_"):
        row |= {f"{prefix}failing_with": part, f"{prefix}failing": whole}
        row |= {f"{prefix}passing_with": 31, f"{prefix}passing": 1000, f"{prefix}g2": 61.5}
    return {**row, "confirmed": confirmed}


def _regression(statement: str, before: int, after: int, p: float, verdict: str) -> Row:
    return {
        "target": REFERENCE,
        "profile": "5.3",
        "statement": statement,
        "method": "mcnemar",
        "before_runs": 2000,
        "before_failed": before,
        "after_runs": 2000,
        "after_failed": after,
        "shared_seeds": 2000,
        "only_before": before,
        "only_after": after,
        "difference": (after - before) / 2000,
        "low": 0.0,
        "high": 0.2,
        "p": p,
        "p_holm": p,
        "verdict": verdict,
    }


def _flaky() -> Row:
    return {
        **{name: value for name, value in _key(APACHE).items() if name != "mutant"},
        "seed": 77,
        "attempts": 2,
        "outcomes": "fail, pass",
        "run_a": "r7",
        "run_b": "r8",
        "first_step": 12,
        "differs": "response code",
        "rule": "route",
        "statement": STATEMENTS[0],
    }


def _divergence(kind: str, a: int | None, b: int | None, seeds: int) -> Row:
    row = {"reference": REFERENCE, "target": APACHE, "profile": "5.3", "kind": kind, "rule": "route"}
    row |= {"code_a": a, "code_b": b, "seeds": seeds, "of_seeds": 2000, "share": seeds / 2000}
    return {**row, "example_seed": 77, "example_step": None if kind == "outcome" else 12}


def _saturated(target: str, runs: int) -> Row:
    row = {**_key(target), "runs": runs, "states": int(480 * runs**0.5), "transitions": int(900 * runs**0.5)}
    last = runs == 2000
    return {
        **row,
        "expected_new": 240 / runs**0.5,
        "actual_new": None if last else 236 / (runs + 50) ** 0.5,
        "next_runs": None if last else 100,
    }
