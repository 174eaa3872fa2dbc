"""The pieces that the page is made of: sections, tables, facts.

Rules of this module: a section says how it is read before it shows anything, and what is empty in its own
words; a long table shows its beginning and says where the rest is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.mining.page.amounts import Row, plural
from harness.mining.page.plots import Drawn
from harness.report.markup import Child, Markup, element, join

__all__ = ["STYLE", "TARGET", "Cell", "Tables", "link", "rows_table", "section", "told"]

STYLE = """
.read{color:var(--soft);max-width:72ch}
.note{color:var(--soft);font-size:13px}
.list td.number{white-space:nowrap}
nav ul{display:flex;flex-wrap:wrap;gap:4px 16px;padding:0;margin:8px 0;list-style:none;font-size:14px}
dl.answers{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:8px 20px;margin:16px 0}
dl.answers dt{font-weight:600}dl.answers dd{margin:0;overflow-wrap:anywhere}
dl.answers ul{margin:4px 0;padding-left:18px}
.by{display:block;color:var(--soft);font-size:13px}
.steps{margin:8px 0;white-space:pre-wrap;overflow-wrap:anywhere}
@media (max-width:640px){dl.answers{grid-template-columns:1fr;gap:2px}dl.answers dd{margin-bottom:10px}}
@media print{nav{display:none}.list{font-size:11px}
.list th,.list td,.list td.number{padding:3px 4px;white-space:normal}}
"""

Cell = tuple[str, Callable[[Row], Child], str]
"""A column: its head, what it shows of a row, and its kind: ``text``, ``mono`` or ``number``."""

TARGET: Cell = ("Target", lambda row: row["target"], "mono")

Tables = dict[str, list[Row]]
"""Rows of each table of mining, by its name."""

_SHOWN = 30


def section(name: str, title: str, small: str, read: str, *content: Child) -> Markup:
    """A part of the page that can be linked to; ``read`` is the sentence on how it is read."""
    heading = element("h2", f"{title} ", element("small", small) if small else None)
    return element("section", heading, element("p", read, class_="read"), *content, id=name)


def told(drawn: Drawn | None) -> Markup:
    """A figure with its note, or nothing."""
    if drawn is None:
        return Markup("")
    note = element("p", drawn.note, class_="note") if drawn.note else None
    return join([element("figure", drawn.figure), note])


def rows_table(
    name: str, rows: Sequence[Row], cells: Sequence[Cell], empty: str, shown: int = _SHOWN
) -> Markup:
    """The first rows of the table ``name``, or why there are none."""
    if not rows:
        return element("p", empty, class_="quiet")
    heads = [
        element("th", head, scope="col", class_="number" if kind == "number" else None)
        for head, _, kind in cells
    ]
    body = [element("tr", *(_cell(at, cell, row) for at, cell in enumerate(cells))) for row in rows[:shown]]
    table = element("table", element("thead", element("tr", *heads)), element("tbody", *body), class_="list")
    if len(rows) <= shown:
        return table
    rest = f"The first {shown:,} of {plural(len(rows), 'row')}; all of them are in "
    return join([table, element("p", rest, link(f"tables/{name}.csv", f"{name}.csv"), ".", class_="note")])


def link(target: str, words: str) -> Markup:
    """A link within the page or to a file beside it."""
    return element("a", words, href=target)


def _class(kind: str) -> str | None:
    return None if kind == "text" else kind


def _cell(at: int, cell: Cell, row: Row) -> Markup:
    head, show, kind = cell
    if at == 0:
        return element("th", show(row), scope="row", class_=_class(kind))
    return element("td", show(row), class_=_class(kind), data_name=head)
