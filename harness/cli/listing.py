"""Prints what a run would do."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from harness.catalogue import catalogue
from harness.cli.output import say_json
from harness.conformance.selection import Selection


def print_selection(chosen: Selection, *, as_json: bool) -> None:
    """The cases in the order in which they run, with class, level, profiles and title."""
    known = {statement.id: statement for statement in catalogue().statements}
    if as_json:
        listed = [
            {
                "case": one.name,
                "chapter": one.chapter,
                "level": one.level,
                "class": one.class_,
                "statements": one.statements,
                "profiles": sorted({profile for name in one.statements for profile in known[name].profiles}),
                "title": one.title,
            }
            for one in chosen.planned
        ]
        say_json({"profile": chosen.profile, "cases": listed})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("class", "level", "profiles", "case", "title"):
        table.add_column(heading, no_wrap=heading in ("class", "level", "profiles"), overflow="fold")
    for one in chosen.planned:
        profiles = sorted({profile for name in one.statements for profile in known[name].profiles})
        table.add_row(one.class_, one.level, ", ".join(profiles), one.name, one.title)
    console = Console(highlight=False, markup=False)
    console.print(table)
    proven = {name for one in chosen.planned for name in one.statements}
    console.print(
        f"\n{len(chosen.planned)} of {chosen.available} cases, proving {len(proven)} of "
        f"{len(chosen.statements)} statements of profile {chosen.profile}"
    )
