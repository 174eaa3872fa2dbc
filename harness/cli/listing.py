"""Prints what a run would do."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from harness.catalogue import catalogue
from harness.cli.output import complain, say, say_json
from harness.conformance.selection import Selection


def print_selection(chosen: Selection, *, as_json: bool) -> None:
    """The cases in the order in which they run: a table on a terminal, else a line each.

    A line is the name of the case, its class, level, profiles and title, at least two spaces apart.
    """
    known = {statement.id: statement for statement in catalogue().statements}
    profiles = {
        one.name: sorted({profile for name in one.statements for profile in known[name].profiles})
        for one in chosen.planned
    }
    if as_json:
        listed = [
            {
                "case": one.name,
                "chapter": one.chapter,
                "level": one.level,
                "class": one.class_,
                "statements": one.statements,
                "profiles": profiles[one.name],
                "title": one.title,
            }
            for one in chosen.planned
        ]
        say_json({"profile": chosen.profile, "cases": listed})
        return
    rows = [
        (one.name, one.class_, one.level, ",".join(profiles[one.name]), one.title) for one in chosen.planned
    ]
    proven = {name for one in chosen.planned for name in one.statements}
    total = (
        f"{len(chosen.planned)} of {chosen.available} cases, proving {len(proven)} of "
        f"{len(chosen.statements)} statements of profile {chosen.profile}"
    )
    if chosen.waiting:
        total += f"; {chosen.waiting} that wait are left out (--fast)"
    if sys.stdout.isatty():
        _print_table(rows, total)
    else:
        _print_lines(rows, total)


def _print_lines(rows: Sequence[tuple[str, ...]], total: str) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        say("  ".join((*cells, row[4])))
    complain(total)  # so that every line of the answer is a case


def _print_table(rows: Sequence[tuple[str, ...]], total: str) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("case", "class", "level", "profiles", "title"):
        table.add_column(heading, no_wrap=heading in ("class", "level", "profiles"), overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False)
    console.print(table)
    console.print(f"\n{total}")
