"""The data dictionary: every column of every table has a meaning, and the page is up to date.

`UPDATE_SNAPSHOTS=1 pytest tests/unit/mining/test_dictionary.py` writes the page anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs the extra spark: make .venv/.spark")

from harness.mining.dictionary import MEANINGS, meaning, page
from harness.mining.tables import TABLES

PAGE = Path(__file__).parents[3] / "docs/reference/data-dictionary.md"


def test_every_column_has_one_meaning_and_none_is_left_over() -> None:
    used = set()
    for table, schema in TABLES.items():
        for column in schema.names:
            assert meaning(table, column)
            used.add(f"{table}.{column}" if f"{table}.{column}" in MEANINGS else column)
    assert set(MEANINGS) == used


def test_a_column_that_stands_nowhere_is_refused() -> None:
    with pytest.raises(KeyError):
        meaning("rates", "no_such_column")


def test_a_meaning_of_one_table_comes_before_the_general_one() -> None:
    assert meaning("flakiness", "rate") != meaning("rates", "rate")


def test_the_page_is_up_to_date() -> None:
    if os.environ.get("UPDATE_SNAPSHOTS"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew with UPDATE_SNAPSHOTS=1"
