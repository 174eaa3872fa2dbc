"""Queries row for row against DuckDB, and against the same runs in other orders, files and parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

duckdb: Any = pytest.importorskip("duckdb", reason="DuckDB is a development dependency")
pa: Any = pytest.importorskip("pyarrow", reason="needs the extra [spark]")
pq: Any = pytest.importorskip("pyarrow.parquet")

from bench import planted  # noqa: E402 - they need what was asked for above
from bench.questions import questions  # noqa: E402
from harness.mining.queries import (  # noqa: E402
    RUN_COLUMNS,
    coverage,
    differing,
    following,
    goals,
    latency,
    species,
    tallies,
)
from harness.mining.reading import read  # noqa: E402
from harness.mining.summaries.species import sizes  # noqa: E402

REFERENCE = planted.TARGETS[0]
RUNS = 120


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of all targets; some seeds of one are played again, with another outcome each third time."""
    root: Path = tmp_path_factory.mktemp("planted")
    planted.write(root, RUNS, campaign="a")
    again = planted.chunk(planted.TARGETS[3], 1, 30, seed=1, campaign="b")
    again = _with(again, "attempt", [1] * 30)
    outcomes = ["flaky" if n % 3 == 0 else one for n, one in enumerate(again["outcome"].to_pylist())]
    codes = [
        [9 if n % 3 == 0 else code for code in one]
        for n, one in enumerate(again["response_code"].to_pylist())
    ]
    again = _with(_with(again, "outcome", outcomes), "response_code", codes)
    folder = root / "runs" / "campaign=b" / "target=exec%3A.%2Fmy-ns --port {port}"
    folder.mkdir(parents=True)
    pq.write_table(again, folder / "again.parquet")
    return root


def _with(table: Any, name: str, values: list[Any]) -> Any:
    number = table.schema.get_field_index(name)
    return table.set_column(
        number, table.schema.field(number), pa.array(values, table.schema.field(number).type)
    )


def answers(runs: Any) -> dict[str, set[tuple[Any, ...]]]:
    """What all queries count, with targets in the place of the numbers of populations."""
    index = runs.select(*RUN_COLUMNS)
    counted = tallies.tallies(index).toArrow().to_pylist()
    names = {row.pop("pop"): (row["target"], row["version"]) for row in counted}
    places = tallies.populations(tallies.seeds(index)).toArrow()
    populations = places.to_pylist()
    placed = species.placed(
        runs, runs.sparkSession.createDataFrame(places.select(["pop", "cuts"])), species.again(index)
    )
    rules = latency.by_rule(runs).toArrow()
    slopes = latency.sums(rules).group_by(["target", "rule"])
    frames = {
        "campaign_seeds": tallies.campaign_seeds(index),
        "reached": goals.reached(index),
        "judged": coverage.judged(runs),
        "pairs": following.pairs(runs),
        "over_run": latency.over_run(runs),
        "states": species.states(placed),
        "transitions": species.transitions(placed),
        "unlike": differing.unlike(index).select(
            "target", "version", "seed", "attempts", "outcomes", "run_a", "run_b"
        ),
        "divergences": differing.divergences(runs, dict.fromkeys(planted.TARGETS, REFERENCE)),
    }
    tables = {
        "tallies": counted,
        "bins": latency.bins(rules).to_pylist(),
        "sums": slopes.aggregate([(one, "sum") for one in ("n", "x", "y", "xx", "xy")]).to_pylist(),
        "blocks": [
            {"pop": row["pop"], "block": block, "runs": size}
            for row in populations
            for block, size in enumerate(sizes(row["runs"]))
        ],
        "repeated": [
            {"pop": row["pop"], "version": names[row["pop"]][1]}
            | {one: row[one] for one in ("repeated", "differing")}
            for row in populations
            if row["repeated"]
        ],
        **{name: frame.toArrow().to_pylist() for name, frame in frames.items()},
    }
    return {
        name: {
            tuple(names[value][0] if column == "pop" else value for column, value in row.items())
            for row in rows
        }
        for name, rows in tables.items()
    }


def test_steps_of_runs_that_do_not_count(spark: Any, root: Path) -> None:
    """30 seeds of one target were played twice: the second runs have as many steps as in the file."""
    index = read(spark, str(root)).runs.select(*RUN_COLUMNS)
    (row,) = species.uncounted(species.again(index)).toArrow().to_pylist()
    (folder,) = root.glob("runs/campaign=b/*")
    assert row["steps"] == sum(pq.ParquetFile(folder / "again.parquet").read()["steps"].to_pylist())


@pytest.fixture(scope="module")
def ours(spark: Any, root: Path) -> dict[str, set[tuple[Any, ...]]]:
    records = read(spark, str(root))
    assert not records.troubles
    return answers(records.runs)


def test_every_query_counts_what_duckdb_counts(root: Path, ours: dict[str, set[tuple[Any, ...]]]) -> None:
    connection = duckdb.connect()
    connection.sql("set timezone = 'UTC'")
    for name, sql in questions(str(root), REFERENCE).items():
        if name in ours:
            theirs = connection.sql(sql).arrow().read_all().to_pylist()
            assert ours[name] == {tuple(row.values()) for row in theirs}, name
            assert ours[name], f"{name} counts nothing here, and shows nothing"


@pytest.mark.parametrize(
    "change", ["shuffled", *(pytest.param(one, marks=pytest.mark.soak) for one in ("split", "parts"))]
)
def test_nothing_depends_on_the_place_of_a_row(
    spark: Any, root: Path, tmp_path: Path, ours: dict[str, set[tuple[Any, ...]]], change: str
) -> None:
    changed: dict[str, Callable[[], Any]] = {
        "shuffled": lambda: read(spark, _rewritten(root, tmp_path, _turned)).runs,
        "split": lambda: (
            read(spark, _rewritten(root, tmp_path, lambda t: [t.slice(0, 17), t.slice(17)])).runs
        ),
        "parts": lambda: read(spark, str(root)).runs.repartition(5, "seed"),
    }
    again = answers(changed[change]())
    for name, rows in ours.items():
        assert again[name] == rows, name


def _turned(table: Any) -> list[Any]:
    """In some other order."""
    return [table.take(sorted(range(table.num_rows), key=lambda row: (row * 37 % 101, row)))]


def _rewritten(root: Path, to: Path, cut: Callable[[Any], list[Any]]) -> str:
    for path in sorted(root.glob("runs/*/*/*.parquet")):
        table = pq.ParquetFile(path).read()
        folder = to / path.relative_to(root).parent
        folder.mkdir(parents=True, exist_ok=True)
        for number, part in enumerate(cut(table)):
            pq.write_table(part, folder / f"{path.stem}-{number}.parquet")
    return str(to)
