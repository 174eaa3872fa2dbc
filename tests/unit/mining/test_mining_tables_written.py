"""Tables as files: Parquet and CSV with the same rows in the same order; what cannot be written is said."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs the extra spark: make .venv/.spark")

import pyarrow as pa
from pyarrow import csv, parquet

from harness.mining.errors import MiningError
from harness.mining.page.tables import Folder, write_tables

TABLE = pa.table({"target": ["b", "a", 'c,"d'], "failed": [3, None, 1], "rate": [0.5, 0.25, 1e-9]})


def test_both_kinds_of_file_hold_the_rows_in_their_order(tmp_path: Path) -> None:
    write_tables({"rates": TABLE, "goals": TABLE.slice(0, 0)}, Folder(str(tmp_path / "new" / "out")))
    there = sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*.*"))
    assert there == [
        f"new/out/tables/{name}.{kind}" for name in ("goals", "rates") for kind in ("csv", "parquet")
    ]
    assert parquet.read_table(tmp_path / "new/out/tables/rates.parquet").equals(TABLE)
    assert csv.read_csv(tmp_path / "new/out/tables/rates.csv").equals(TABLE)
    assert (tmp_path / "new/out/tables/goals.csv").read_text() == '"target","failed","rate"\n'


def test_the_same_tables_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_tables({"rates": TABLE}, Folder(f"file://{tmp_path}/{name}"))
    for kind in ("csv", "parquet"):
        assert (tmp_path / f"one/tables/rates.{kind}").read_bytes() == (
            tmp_path / f"two/tables/rates.{kind}"
        ).read_bytes()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(MiningError, match=r"file/below cannot be made: "):
        Folder(f"{tmp_path}/file/below")


def test_a_place_of_no_known_kind_is_said() -> None:
    with pytest.raises(MiningError, match="a URL of a file system that Arrow knows") as told:
        Folder("nosuchsystem://host/dir")
    assert told.value.status == 3
