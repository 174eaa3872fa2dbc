"""From counts to tables, by hand."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyspark", reason="needs the extra [spark]")

from harness.mining.summaries import compared, counts, latency


def tally(
    outcome: str, runs: int, statement: str | None = None, target: str = "t", **more: Any
) -> dict[str, Any]:
    return {
        "campaign": "c",
        "target": target,
        "version": "1",
        "profile": "5.3",
        "mutant": None,
        "generator": "g",
        "source": "campaign",
        "kind": "stateful",
        "clock": "virtual",
        "outcome": outcome,
        "statement": statement,
        "runs": runs,
        "steps": runs * 10,
        "elapsed_us": runs * 1000,
        "started": None,
        "ended": None,
    }


def test_a_rate_is_of_the_runs_that_judged_the_statement() -> None:
    tallies = [tally("pass", 90), tally("fail", 8, "s"), tally("died", 2, "z"), tally("flaky", 1, "s")]
    judged = [
        {"target": "t", "profile": "5.3", "statement": one, "runs": runs}
        for one, runs in (("s", 40), ("q", 50))
    ]
    found = {row["statement"]: row for row in counts.rates(tallies, judged)}
    assert (found["s"]["failed"], found["s"]["runs"], found["s"]["at_most"]) == (8, 40, None)
    assert (found["z"]["failed"], found["z"]["runs"]) == (2, 2)
    assert (found["q"]["failed"], found["q"]["at_most"]) == (0, 0.06)


def test_statements_that_tell_no_targets_apart() -> None:
    judged = [
        {"target": target, "profile": "5.3", "statement": one, "runs": 5}
        for one in ("all-fail", "none-fails", "one-fails", "judged-once")
        for target in ("a", "b")
        if (one, target) != ("judged-once", "b")
    ]
    tallies = [
        tally("fail", 2, "all-fail", "a"),
        tally("quirk", 3, "all-fail", "b"),
        tally("fail", 1, "one-fails", "a"),
    ]
    cases = [
        {"target": target, "id": f"case-{told}", "runs": 1, "failed": int(told == "apart" and target == "a")}
        for told in ("apart", "alike")
        for target in ("a", "b")
    ]
    found = [
        (row["id"], row["targets"], row["failed"]) for row in counts.undistinguished(tallies, judged, cases)
    ]
    assert found == [("all-fail", 2, 5), ("none-fails", 2, 0), ("case-alike", 2, 0)]


def test_what_was_never_reached_comes_first() -> None:
    reached = [{"target": "t", "profile": "5.3", "generator": "g", "goal": "met", "reached": 3}]
    rows = counts.goals([tally("pass", 10)], reached, lambda _: ["met", "never"])
    assert [(row["goal"], row["reached"], row["runs"]) for row in rows] == [("never", 0, 10), ("met", 3, 10)]
    assert rows[0]["at_most"] == 0.3
    covered = counts.coverage([tally("pass", 10)], [], lambda *place: [f"in-{place[1]}"])
    assert [(row["statement"], row["judged_runs"], row["runs"]) for row in covered] == [("in-5.3", 0, 10)]


def test_shared_seeds_are_compared_in_pairs_and_others_are_not() -> None:
    """20 seeds fail only after, none only before: p = 2 / 2^20, and twice that for being two."""
    before, after = [tally("pass", 100)], [tally("pass", 80), tally("fail", 20, "s")]
    shared = [
        {"target": "t", "profile": "5.3", "before": None, "after": None, "seeds": 80},
        {"target": "t", "profile": "5.3", "before": None, "after": "s", "seeds": 20},
    ]
    paired = compared.regressions(before, after, shared)
    assert [(row["statement"], row["method"], row["verdict"]) for row in paired] == [
        ("", "mcnemar", "worse"),
        ("s", "mcnemar", "worse"),
    ]
    assert paired[0]["p"] == pytest.approx(2 / 2**20)
    assert paired[0]["p_holm"] == pytest.approx(4 / 2**20)
    unpaired = compared.regressions(after, before, [])
    assert {(row["method"], row["verdict"]) for row in unpaired} == {("fisher", "better")}


def test_a_pair_that_fails_otherwise_has_another_statement_and_no_other_outcome() -> None:
    before, after = [tally("fail", 30, "s")], [tally("fail", 30, "z")]
    shared = [{"target": "t", "profile": "5.3", "before": "s", "after": "z", "seeds": 30}]
    found = {row["statement"]: row for row in compared.regressions(before, after, shared)}
    assert (found[""]["only_before"], found[""]["only_after"], found[""]["verdict"]) == (0, 0, "same")
    assert (found["s"]["only_before"], found["s"]["verdict"]) == (30, "better")
    assert (found["z"]["only_after"], found["z"]["verdict"]) == (30, "worse")


def test_latencies_have_percentiles_and_effects() -> None:
    bins = [
        {"target": target, "rule": "route", "bin": bin_, "n": n}
        for target, bin_, n in (("a", 100, 9000), ("a", 200, 999), ("a", 300, 1), ("b", 150, 10))
    ]
    found = latency.histograms(bins)
    sums = [{"target": "a", "rule": "route", "y": 90_000}, {"target": "b", "rule": "route", "y": 50}]
    first, second = latency.percentiles(found, sums)
    assert (first["steps"], first["mean_us"], round(first["p50_us"], 2)) == (10_000, 9.0, 7.46)
    assert round(first["p95_us"]) == 55
    assert first["p999_us"] is not None
    assert second["p999_us"] is None
    (effect,) = latency.effects(found, {"a": "a", "b": "a"})
    assert (effect["target_a"], effect["target_b"], effect["a12"], effect["size"]) == ("a", "b", 0.9, "large")
