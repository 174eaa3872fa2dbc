"""What the page about differences says that operators and clients notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.catalogue import CLASSES, catalogue

PAGE = Path(__file__).parents[3] / "specs/rendered/differences.md"


def rows(line: str) -> list[str]:
    heading = f"### What operators and clients notice in {line}\n"
    return [
        row
        for row in PAGE.read_text(encoding="utf-8").partition(heading)[2].partition("\n### ")[0].splitlines()
        if row.startswith(("| new ", "| gone "))
    ]


def test_every_change_that_is_marked_is_in_one_row() -> None:
    shown = [row for line in ("5.3", "5.5") for row in rows(line)]
    for one in catalogue().tagged("noticed"):
        assert sum(f"`{one.id}`" in row for row in shown) == 1


@pytest.mark.parametrize("line", ["5.3", "5.5"])
def test_what_most_peers_need_comes_first(line: str) -> None:
    classes = [row.rstrip(" |").rpartition("| ")[2] for row in rows(line)]
    assert classes == sorted(classes, key=list(CLASSES).index)
    assert len(classes) > 3
