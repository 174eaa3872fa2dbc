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
        invariant=None,
        anomaly=None,
        seed=seed,
        steps=len(ops),
        failing_step=len(ops) - 1,
        ops=ops,
        signature=signature,
        shrunk_ops=shrunk,
        confirmed_shown=None,
        confirmed_tried=None,
    )


words = st.text("abcd", max_size=8)


@given(words, words, words)
def test_explaining_is_an_order(one: str, other: str, third: str) -> None:
    assert explains(one, one)
    assert not (explains(one, other) and explains(other, one)) or one == other
    assert not (explains(one, other) and explains(other, third)) or explains(one, third)


def test_a_program_explains_those_that_contain_it() -> None:
    found = clusters([failure(3, "xRUr", "RUr"), failure(1, "RSUr", "RSUr"), failure(2, "RUr", "RUr")])
    assert [(one.letters, [f.seed for f in one.failures]) for one in found] == [("RUr", [2, 3, 1])]


def told(failures: list[Failure]) -> list[tuple[str, bool, list[int]]]:
    return [(one.letters, one.shrunk, [f.seed for f in one.failures]) for one in clusters(failures)]


def test_targets_are_apart_and_so_are_programs_that_have_nothing_in_common() -> None:
    assert told([failure(1, "RUr", "RUr"), failure(2, "pk", "pk"), failure(3, "RUr", "RUr", target="z")]) == [
        ("pk", True, [2]),
        ("RUr", True, [1]),
        ("RUr", True, [3]),
    ]


def test_what_contains_a_program_fails_of_the_same_whatever_statement_it_breaks() -> None:
    assert told([failure(1, "SV", "SV"), failure(2, "RUV", "RUV", statement="z")]) == [("SV", True, [1, 2])]


def test_one_statement_seen_by_two_looks_is_one_finding_and_two_statements_are_not() -> None:
    assert told([failure(1, "Rr", "Rr"), failure(2, "Ri", "Ri")]) == [("Ri", True, [2, 1])]
    assert len(told([failure(1, "Rr", "Rr"), failure(2, "Ri", "Ri", statement="z")])) == 2


def test_what_is_remembered_wrongly_shows_by_any_look() -> None:
    """RX fails through both looks: it is the state that is wrong, and RUXt is a consequence."""
    failures = [
        failure(1, "RXr", "RXr"),
        failure(2, "RXi", "RXi", statement="y"),
        failure(3, "RUXt", "RUXt", statement="z"),
    ]
    assert told(failures) == [("RXi", True, [2, 1, 3])]
    assert len(told(failures[1:])) == 2


def test_what_was_not_shrunk_is_put_to_what_explains_it_then_to_its_signature() -> None:
    failures = [
        failure(1, "aRbUcr", None),
        failure(2, "RUr", "RUr", signature="x"),
        failure(3, "kkk", None, signature="x"),
        failure(4, "ttt", None, signature="y"),
    ]
    assert told(failures) == [("RUr", True, [2, 3, 1]), ("ttt", False, [4])]


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


def test_one_step_is_wrong_by_itself_where_three_last_steps_show_it() -> None:
    two = [failure(1, "Rr", "Rr"), failure(2, "Ri", "Ri", statement="y")]
    assert len(told(two)) == 2
    assert told([*two, failure(3, "Rw", "Rw", statement="z")]) == [("Ri", True, [2, 1, 3])]


def test_a_broker_that_unregistered_is_as_gone_as_one_whose_connection_closed() -> None:
    assert told([failure(1, "RUr", "RUr"), failure(2, "RFi", "RFi")]) == [("RFi", True, [2, 1])]


def test_what_was_not_shrunk_is_put_to_what_ends_as_it_does() -> None:
    failures = [failure(1, "k", "k"), failure(2, "Rr", "Rr", "z"), failure(3, "kRr", None, "z")]
    assert told(failures) == [("Rr", True, [2, 3]), ("k", True, [1])]


def test_of_shortest_programs_the_statement_that_most_runs_broke_tells_the_finding() -> None:
    failures = [failure(1, "RUg", "RUg", "a"), *(failure(n, "RUr", "RUr", "b") for n in (2, 3))]
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
    broker = msgspec.structs.replace(case, statement="bk.registration.tells-its-topics")
    assert str(replay_line(broker, None, "D")).endswith("--role broker")
    for source in ("fuzz", "diff"):
        assert replay_line(msgspec.structs.replace(one, source=source), None, "D") is None
