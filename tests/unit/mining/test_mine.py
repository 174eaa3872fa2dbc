"""Mining as a whole: planted bugs are found; an unreadable file is reported, the others are mined."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pa: Any = pytest.importorskip("pyarrow", reason="needs the extra [spark]")
pq: Any = pytest.importorskip("pyarrow.parquet")

from bench import planted  # noqa: E402 - they need what was asked for above
from harness.catalogue import Role  # noqa: E402
from harness.mining import schema  # noqa: E402
from harness.mining.clusters import explains  # noqa: E402
from harness.mining.mine import Mined, _wanted, mine, nothing  # noqa: E402
from harness.mining.page.tables import Folder, write_tables  # noqa: E402
from harness.mining.tables import TABLES  # noqa: E402

GUIDE = Path(__file__).parents[3] / "docs/guides/mining.md"
RUNS = 400
LETTERS = schema.ALPHABETS["nameserver"]


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One with all bugs, and one of the same seeds before a bug came in."""
    root: Path = tmp_path_factory.mktemp("campaigns")
    planted.write(root / "after", RUNS, campaign="after")
    bugs = tuple(bug for bug in planted.BUGS if bug.name != "takes-over")
    planted.write(root / "before", RUNS, campaign="before", bugs=bugs)
    return root / "before", root / "after"


@pytest.fixture(scope="module")
def mined(spark: Any, campaigns: tuple[Path, Path]) -> Mined:
    before, after = campaigns
    return mine(spark, str(after), against=str(before))


def rows(mined: Mined, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = mined.tables[table].to_pylist()
    return found


def test_all_tables_are_there_and_have_rows(mined: Mined) -> None:
    assert not mined.troubles
    assert mined.tables.keys() == TABLES.keys()
    assert {name for name, table in mined.tables.items() if not table.num_rows} == {"flaky", "mutants"}
    assert mined.runs == RUNS * len(planted.TARGETS)


def test_each_planted_bug_is_one_finding_of_all_its_runs(mined: Mined) -> None:
    found = {(row["target"], row["statement"], row["rules"]): row["runs"] for row in rows(mined, "findings")}
    planted_ones: Counter[tuple[str, str, str]] = Counter()
    for target in planted.TARGETS:
        table = planted.chunk(target, 1, RUNS, seed=1, campaign="after")
        for statement, shrunk in zip(
            *(table[one].to_pylist() for one in ("statement", "shrunk_ops")), strict=True
        ):
            if statement is not None:
                bug = next(b for b in planted.BUGS if b.statement == statement and shrunk.endswith(b.pattern))
                rules = ", ".join(schema.LETTERS["nameserver"][letter] for letter in bug.pattern)
                planted_ones[target, bug.explanation, rules] += 1
    assert found == planted_ones
    assert len(found) >= 8


def test_what_makes_a_frequent_bug_likely_is_found_first_and_confirmed(mined: Mined) -> None:
    frequent = {
        (row["target"], row["statements"]): row["rules"].split(", ")
        for row in reversed(rows(mined, "findings"))
        if row["runs"] >= 12
    }
    first = {(row["target"], row["statement"]): row for row in rows(mined, "contrasts") if row["round"] == 1}
    assert frequent
    for place, rules in frequent.items():
        pattern = first[place]["pattern"].split(" … ")
        assert explains("".join(map(LETTERS.get, pattern)), "".join(map(LETTERS.get, rules)))
        assert first[place]["confirmed"]


def test_the_bug_that_came_in_between_is_flagged_and_nothing_else(mined: Mined) -> None:
    bug = planted.BUGS[0]
    found = {(row["target"], row["statement"]): row for row in rows(mined, "regressions")}
    worse = {place for place, row in found.items() if row["verdict"] == "worse"}
    assert worse == {(bug.targets[0], ""), (bug.targets[0], bug.statement)}
    assert found[bug.targets[0], bug.statement]["method"] == "mcnemar"
    assert found[bug.targets[0], bug.statement]["shared_seeds"] == RUNS


def test_the_rule_that_gets_slower_drifts(mined: Mined) -> None:
    first, *others = rows(mined, "drift")
    assert (first["target"], first["rule"], first["drifts"]) == (planted.TARGETS[3], "route", True)
    assert first["low"] < 1000 * planted.LEAK < first["high"]
    assert not any(row["drifts"] for row in others)


def test_good_and_turing_foretell_the_next_block(mined: Mined) -> None:
    checked = [row for row in rows(mined, "saturation") if row["actual_new"] is not None]
    assert len(checked) == 5 * len(planted.TARGETS)
    for row in checked:
        assert row["actual_new"] == pytest.approx(row["expected_new"], rel=0.3)
    for row in rows(mined, "states"):
        assert row["states"] < row["chao2"]


def test_the_code_that_one_target_answers_otherwise_is_a_divergence(mined: Mined) -> None:
    found = [row for row in rows(mined, "divergences") if row["target"] == planted.TARGETS[1]]
    assert {row["kind"] for row in found} == {"response code", "outcome"}
    (code,) = [row for row in found if row["kind"] == "response code"]
    assert (code["rule"], code["code_a"], code["code_b"], code["of_seeds"]) == ("member-group", 0, 17, RUNS)


def test_the_example_of_the_guide_runs(
    mined: Mined,
    campaigns: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "D").symlink_to(campaigns[1])
    write_tables(mined.tables, Folder(str(tmp_path / "R")))
    monkeypatch.chdir(tmp_path)
    exec(example, {})
    printed = capsys.readouterr().out
    assert re.search(r"^ *target +statement +failed +runs", printed, re.MULTILINE)
    assert re.search(r"^\S+ +fail +[1-9]", printed, re.MULTILINE)
    assert re.search(r"^(\d+)\s+[1-9]\d*$", printed, re.MULTILINE)


def test_a_mutant_tells_how_long_it_took(spark: Any, tmp_path: Path) -> None:
    """Of ten runs of ten steps the sixth and the eighth fail."""
    folder = tmp_path / "runs" / "campaign=c" / "target=builtin%3A5.3%3Fmutant=m"
    folder.mkdir(parents=True)
    table = planted.chunk(planted.TARGETS[0], 1, 10, seed=1, campaign="c")
    changes = {
        "mutant": ["m"] * 10,
        "steps": [10] * 10,
        "outcome": ["fail" if seed in (6, 8) else "pass" for seed in range(1, 11)],
        "statement": ["s" if seed in (6, 8) else None for seed in range(1, 11)],
    }
    for name, values in changes.items():
        field = table.schema.field(name)
        table = table.set_column(table.schema.get_field_index(name), field, pa.array(values, field.type))
    pq.write_table(table, folder / "c.parquet")
    (row,) = rows(mine(spark, str(tmp_path)), "mutants")
    assert (row["runs"], row["failed"], row["first_seed"]) == (10, 2, 6)
    assert (row["runs_to_first"], row["steps_to_first"], row["statement"]) == (6, 60, "s")


# --- what cannot be read ------------------------------------------------------------------------------------


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A sound file beside one of each kind that is none."""
    target = planted.TARGETS[0]
    planted.write(tmp_path, 8, campaign="c")
    folder = tmp_path / "runs" / "campaign=c" / "target=builtin%3A5.3"
    (sound,) = folder.glob("*.parquet")
    (folder / "truncated.parquet").write_bytes(sound.read_bytes()[:-500])
    (folder / "text.parquet").write_text("not Parquet at all, and longer than its mark")
    pq.write_table(pa.table({"seed": ["no", "number"], "name": ["a", "b"]}), folder / "foreign.parquet")
    newer = planted.chunk(target, 9, 4, seed=1, campaign="c")
    version = pa.array([schema.SCHEMA_VERSION + 1] * 4, pa.int32())
    pq.write_table(newer.set_column(0, "schema_version", version), folder / "newer.parquet")
    inside = bytearray(sound.read_bytes())
    group = pq.ParquetFile(sound).metadata.row_group(0)
    fp = next(c for c in map(group.column, range(group.num_columns)) if c.path_in_schema.startswith("fp."))
    inside[fp.data_page_offset : fp.data_page_offset + 100] = b"x" * 100
    (folder / "inside.parquet").write_bytes(bytes(inside))
    return tmp_path


def test_what_cannot_be_read_is_reported_and_the_rest_is_mined(spark: Any, damaged: Path) -> None:
    mined = mine(spark, str(damaged))
    kinds = {Path(trouble.path).name: trouble.kind for trouble in mined.troubles}
    assert kinds == {
        "foreign.parquet": "foreign",
        "inside.parquet": "unreadable",
        "newer.parquet": "newer",
        "text.parquet": "foreign",
        "truncated.parquet": "truncated",
    }
    assert mined.runs == 8 * len(planted.TARGETS)


@pytest.mark.parametrize("missing", [True, False])
def test_nothing_is_nothing_to_mine(spark: Any, tmp_path: Path, missing: bool) -> None:
    root = tmp_path / "nowhere" if missing else tmp_path
    if not missing:
        (root / "runs").mkdir()
    mined = mine(spark, str(root))
    assert [trouble.kind for trouble in mined.troubles] == ["empty"]
    assert mined.runs == 0
    assert mined.tables.keys() == TABLES.keys()
    assert nothing(str(root)) == mined


def test_what_may_hold_runs_is_left_to_spark(tmp_path: Path) -> None:
    (tmp_path / "runs" / "campaign=c").mkdir(parents=True)
    (tmp_path / "runs" / "campaign=c" / "text.parquet").write_text("not Parquet at all")
    assert nothing(str(tmp_path)) is None
    assert nothing("hdfs://somewhere/else") is None


@pytest.mark.parametrize(("role", "own"), [("nameserver", "ns"), ("broker", "bk")])
def test_what_is_about_another_kind_of_server_is_not_missing(role: Role, own: str) -> None:
    """Statements about frames are about every kind."""
    assert {one.partition(".")[0] for one in _wanted(role, "t", "5.3")} == {own, "wire"}
