"""Mining of runs on Brokers: by role, with the statements, goals and letters of Brokers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="needs the extra [spark]")

from bench import planted
from harness.catalogue import catalogue
from harness.engine.broker.goals import GOALS
from harness.mining.campaign import Plan, settings_of
from harness.mining.errors import MiningError
from harness.mining.mine import Mined, mine
from harness.mining.schema import ALPHABETS
from harness.mining.store import Store
from harness.mining.worker import carry_out

NAME = "offsets-are-of-all-queues"
MUTANT = f"builtin:5.3?mutant={NAME}"
RUNS, PLANTED = 8, 5


def _write(root: Path) -> None:
    settings = settings_of("broker", chunk=RUNS, shrink=1, attempts=60, deadline=60.0, sample=0)
    plan = Plan(
        root=str(root),
        campaign="brokers",
        targets=(("builtin:5.3", "5.3"), (MUTANT, "5.3")),
        kinds=("stateful",),
        seed=1,
        runs=RUNS,
        settings=settings,
    )
    for order in plan.orders(Store(str(root))):
        carry_out(order, now=time.monotonic)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs on Brokers beside runs on NameServers, of targets with the same name."""
    found = tmp_path_factory.mktemp("both")
    _write(found)
    planted.write(found, PLANTED)
    return found


@pytest.fixture(scope="module")
def mined(spark: Any, root: Path) -> Mined:
    return mine(spark, str(root), role="broker")


def rows(mined: Mined, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = mined.tables[table].to_pylist()
    return found


def test_runs_of_two_roles_are_never_counted_together(spark: Any, root: Path, mined: Mined) -> None:
    with pytest.raises(
        MiningError, match=r"nameserver \(4 files\) and broker \(2 files\).*--role"
    ) as refused:
        mine(spark, str(root))
    assert refused.value.status == 3
    assert (mined.runs, mined.troubles) == (2 * RUNS, ())
    assert {row["role"] for row in rows(mined, "populations")} == {"broker"}
    others = mine(spark, str(root), role="nameserver")
    assert others.runs == PLANTED * len(planted.TARGETS)
    assert {row["role"] for row in rows(others, "populations")} == {"nameserver"}


def test_the_role_of_a_data_set_need_not_be_said(spark: Any, tmp_path: Path) -> None:
    planted.write(tmp_path, PLANTED)
    assert mine(spark, str(tmp_path)).runs == PLANTED * len(planted.TARGETS)
    none = mine(spark, str(tmp_path), role="broker")
    assert (none.runs, [one.kind for one in none.troubles]) == (0, ["empty"])
    assert "its runs are of role nameserver" in none.troubles[0].message


def test_the_findings_of_a_faulty_broker_are_named_by_statements(mined: Mined) -> None:
    found = rows(mined, "findings")
    assert {(one["target"], one["mutant"]) for one in found} == {(MUTANT, NAME)}
    chapters = {one["statement"].rpartition(".")[0] for one in found}
    assert chapters <= {"bk.offset", "bk.administration"}  # resets of offsets are administration
    for one in found:
        assert set(one["rules"].split(", ")) <= ALPHABETS["broker"].keys()
        assert one["replay"].startswith("rmq-harness replay ")
    (hunt,) = rows(mined, "mutants")
    assert hunt["failed"] == sum(one["runs"] for one in found)


def test_goals_and_statements_are_those_of_brokers(mined: Mined) -> None:
    assert {row["goal"] for row in rows(mined, "goals")} <= {goal.id for goal in GOALS}
    known = {one.id for one in catalogue().of("broker").statements}
    covered = rows(mined, "coverage")
    assert {row["statement"] for row in covered} <= known
    judged = {row["statement"] for row in covered if row["judged_runs"]}
    assert len(judged) > 60
    assert all(row["runs"] >= row["failed"] for row in rows(mined, "rates"))
    clean = [row for row in rows(mined, "rates") if row["target"] == "builtin:5.3"]
    assert clean and not any(row["failed"] for row in clean)


def test_states_and_steps_are_counted(mined: Mined) -> None:
    assert all(row["states"] > RUNS for row in rows(mined, "states"))
    assert {row["rule"] for row in rows(mined, "latency")} <= ALPHABETS["broker"].keys()
    assert rows(mined, "rule_pairs") and rows(mined, "divergences")
