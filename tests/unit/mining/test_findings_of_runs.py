"""Failures to findings, and what goes before them: no Spark."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyspark", reason="needs the extra [spark]")

from harness.mining.clusters import Failure, clusters, explains
from harness.mining.contrast import CONFIRMED, contrast
from harness.mining.failing import replay_line


def failure(
    seed: int,
    ops: str,
    shrunk: str | None = None,
    statement: str = "s",
    target: str = "t",
    signature: str | None = None,
    also_fails: list[str] | None = None,
    invariant: str | None = None,
) -> Failure:
    return Failure(
        run_id=f"r{seed}",
        campaign="c",
        source="campaign",
        kind="stateful",
        target=target,
        profile="5.3",
        mutant=None,
        statement=statement,
        invariant=invariant,
        anomaly=None,
        seed=seed,
        steps=len(ops),
        failing_step=len(ops) - 1,
        ops=ops,
        signature=signature,
        shrunk_ops=shrunk,
        confirmed_shown=None,
        confirmed_tried=None,
        also_fails=also_fails,
    )


words = st.text("abcd", max_size=8)


@given(words, words, words)
def test_explaining_is_an_order(one: str, other: str, third: str) -> None:
    assert explains(one, one)
    assert not (explains(one, other) and explains(other, one)) or one == other
    assert not (explains(one, other) and explains(other, third)) or explains(one, third)


def told(failures: list[Failure]) -> list[tuple[str, bool, list[int]]]:
    return [(one.letters, one.shrunk, [f.seed for f in one.failures]) for one in clusters(failures)]


def test_findings_have_one_explanation_each_and_targets_are_apart() -> None:
    failures = [
        failure(1, "RUr", "RUr", also_fails=["a", "b"]),
        failure(2, "RUUi", "RUUi", statement="z", also_fails=["a", "c"]),
        failure(3, "RUr", "RUr", also_fails=["b", "a"]),
        failure(4, "RUr", "RUr", target="z", also_fails=["a", "b"]),
    ]
    assert told(failures) == [("RUr", True, [1, 2]), ("RUr", True, [3]), ("RUr", True, [4])]


def test_findings_without_a_case_differ_by_invariant_and_anomaly() -> None:
    failures = [
        failure(1, "Rr", "Rr", invariant="x"),
        failure(2, "RRr", "RRr", invariant="x", also_fails=[]),
        failure(3, "Ri", "Ri", invariant="y"),
    ]
    assert told(failures) == [("Rr", True, [1, 2]), ("Ri", True, [3])]


def test_the_explanation_is_the_most_telling_statement_else_the_broken_one() -> None:
    assert failure(1, "Rr", "Rr", also_fails=["a", "b"]).explanation == "a"
    assert failure(1, "Rr", "Rr", also_fails=[]).explanation == "s"
    assert failure(1, "Rr").explanation == "s"


def test_what_was_not_shrunk_goes_to_its_signature_and_there_to_what_it_contains() -> None:
    failures = [
        failure(1, "RUr", "RUr", signature="x", also_fails=["a"]),
        failure(2, "kkr", "kkr", signature="x", also_fails=["b"]),
        failure(3, "kkr", "kkr", signature="x", also_fails=["b"]),
        failure(4, "aRbUcr", signature="x"),
        failure(5, "ttt", signature="x"),
        failure(6, "ttt", signature="y", statement="z"),
    ]
    assert told(failures) == [("kkr", True, [2, 3, 5]), ("RUr", True, [1, 4]), ("ttt", False, [6])]


@given(st.lists(st.tuples(st.text("ab", min_size=1, max_size=4), st.booleans()), max_size=20))
def test_every_failure_is_in_one_finding_whatever_the_order(runs: list[tuple[str, bool]]) -> None:
    failures = [failure(n, ops, ops if shrunk else None) for n, (ops, shrunk) in enumerate(runs)]
    found = clusters(failures)
    assert sorted(f.seed for one in found for f in one.failures) == list(range(len(runs)))
    assert clusters(reversed(failures)) == found


def programs(count: int, chance: int = 1) -> list[tuple[int, str]]:
    """Seeds and letters, the same on every machine."""
    words = Random(chance)
    return [(seed, "".join(words.choices("abcdefr", k=30))) for seed in range(count)]


def test_the_steps_before_a_failure_are_found_confirmed_and_put_aside() -> None:
    """Two bugs behind one statement: x before y, in nine of ten failures, and z."""
    passing = [(ops, seed) for seed, ops in programs(600)]
    failing = [
        failure(seed, f"{ops[:15]}z{ops[15:17]}r" if seed % 10 == 0 else f"{ops[:15]}x{ops[15]}y{ops[16]}r")
        for seed, ops in programs(400, chance=2)
    ]
    first, second, *_ = contrast(failing, passing)
    assert {"x", "y"} <= set(first.letters) <= set("xyr")
    assert first.confirmed
    assert second.round == 2
    assert "z" in second.letters
    assert second.confirmed
    assert second.found[1] + second.held[1] == 40


def test_chance_is_not_confirmed() -> None:
    failing = [failure(seed, ops[:20] + "r") for seed, ops in programs(300)]
    found = contrast(failing, [(ops, seed) for seed, ops in programs(600, chance=2)])
    assert len(found) == 1
    assert found[0].g2 > 0
    assert found[0].held_g2 < CONFIRMED
    assert not found[0].confirmed


@pytest.mark.parametrize("failures", [0, 5])
def test_too_few_failures_tell_nothing(failures: int) -> None:
    passing = [(ops, seed) for seed, ops in programs(50)]
    assert contrast([failure(n, "xyr") for n in range(failures)], passing) == []


def test_of_shortest_programs_the_statement_that_most_runs_broke_tells_the_finding() -> None:
    failures = [
        failure(1, "RUg", "RUg", "a", also_fails=["c"]),
        *(failure(n, "RUr", "RUr", "b", also_fails=["c"]) for n in (2, 3)),
    ]
    (found,) = clusters(failures)
    assert (found.failures[0].statement, found.failures[0].seed) == ("b", 2)


def test_a_finding_is_made_again_from_what_was_kept_of_it() -> None:
    one = failure(7, "Rr", "Rr")
    assert replay_line(one, "traces/c/7.trace", "D/") == "rmq-harness replay D/traces/c/7.trace t"
    assert replay_line(one, None, "D") == (
        "rmq-harness campaign t --profile 5.3 --kind stateful --seed 7 --runs 1"
    )
    case = msgspec.structs.replace(one, source="check", kind="case", invariant="kv.put-is-kept")
    assert replay_line(case, None, "D") == "rmq-harness check t --profile 5.3 --select kv.put-is-kept"
    broker = msgspec.structs.replace(one, role="broker")
    assert replay_line(broker, None, "D") == (
        "rmq-harness campaign t --role broker --profile 5.3 --kind stateful --seed 7 --runs 1"
    )
    for source in ("fuzz", "diff"):
        assert replay_line(msgspec.structs.replace(one, source=source), None, "D") is None
