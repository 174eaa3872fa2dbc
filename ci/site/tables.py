"""Tables that are too wide for a screen: on a phone a row becomes a card, whose lines say what they are.
A table of very many columns is scrolled beside its first one.
"""

from __future__ import annotations

import re
from typing import Any

_TABLE = re.compile(r"<table>(.*?)</table>", re.DOTALL)
_ROW = re.compile(r"<tr([^>]*)>(.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<(t[hd])([^>]*)>(.*?)</\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_CODE = re.compile(r"<code>.*?</code>", re.DOTALL)
_NARROW = 2
"""Columns that fit everywhere."""
_CARDS = 8
"""Columns that a card has at most."""


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """The page, whose tables say how they are shown (`site.css`)."""
    return _TABLE.sub(_marked, html)


def _marked(found: re.Match[str]) -> str:
    # A stroke in a table is written with a backslash, which this reader of Markdown leaves in code.
    table = _CODE.sub(lambda code: code[0].replace("\\|", "|"), found[1])
    head = table[: table.find("</thead>")]
    names = [_TAG.sub("", cell[3]).strip() for cell in _CELL.finditer(head)]
    if len(names) <= _NARROW:
        return f"<table>{table}</table>"
    if len(names) > _CARDS:
        return f'<table data-shown="wide">{table}</table>'

    def row(one: re.Match[str]) -> str:
        cells = iter(names)
        return f"<tr{one[1]}>{_CELL.sub(lambda cell: _labelled(cell, next(cells, '')), one[2])}</tr>"

    return f'<table data-shown="cards">{_ROW.sub(row, table)}</table>'


def _labelled(cell: re.Match[str], name: str) -> str:
    if cell[1] == "th" or not name or not cell[3].strip():
        return cell[0]
    return f'<td{cell[2]} data-label="{name}">{cell[3]}</td>'
