"""Tables of the page: columns, the first rows, and what to say of an empty one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from harness.mining.page.amounts import Row

Tables = dict[str, list[Row]]
"""Rows of each table of mining, by its name."""

Column = tuple[str, Callable[[Row], str], str]
"""Its head, what it shows of a row, and its kind: ``""`` (text), ``mono``, ``number`` or ``verdict``."""

TARGET: Column = ("Target", lambda row: row["target"], "mono")
PROFILE: Column = ("Profile", lambda row: row["profile"], "")
STATEMENT: Column = ("Statement", lambda row: row["statement"] or "any failure", "mono")

_SHOWN = 30
_TONES = {"▲": "fail", "▼": "pass", "=": "quiet"}
"""Class of a verdict, by its sign."""


class Grid(msgspec.Struct, frozen=True):
    """A table as the page shows it."""

    name: str
    """Of the file with all rows."""
    heads: list[tuple[str, str]]
    rows: list[list[tuple[str, str]]]
    """Of each row its cells: what they say, and their class."""
    total: int
    empty: str


def grid(
    name: str, rows: Sequence[Row], columns: Sequence[Column], empty: str = "Nothing.", shown: int = _SHOWN
) -> Grid:
    """The first rows of the table ``name``; ``empty`` says what an empty table means."""
    return Grid(
        name,
        [(head, kind) for head, _, kind in columns],
        [[_cell(show(row), kind) for _, show, kind in columns] for row in rows[:shown]],
        len(rows),
        empty,
    )


def _cell(words: str, kind: str) -> tuple[str, str]:
    return words, _TONES[words[0]] if kind == "verdict" else kind
