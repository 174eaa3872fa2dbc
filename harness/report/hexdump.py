"""A frame as offsets, hexadecimal and characters, with the decisive bytes marked.

A long frame is shown around its decisive bytes only, and the caption says which bytes of how many.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.report.markup import Markup, element, join

__all__ = ["hexdump", "plain_hexdump"]

_PER_ROW = 16
_ROWS = 48
_ROWS_BEFORE = 4
_PLAIN_LIMIT = 65_536


def hexdump(data: bytes, start: int | None = None, end: int | None = None) -> Markup:
    """A ``figure`` with the bytes; those from ``start`` to ``end`` (exclusive) are in ``mark`` elements."""
    if start is None or end is None:
        start, end = len(data), len(data)
    rows = range(0, len(data), _PER_ROW)
    first = max(0, min(start // _PER_ROW - _ROWS_BEFORE, len(rows) - _ROWS)) if start < len(data) else 0
    shown = rows[first : first + _ROWS]
    lines = [_line(data, row, start, end) for row in shown]
    last = min(len(data), (first + len(shown)) * _PER_ROW)
    caption = f"bytes {first * _PER_ROW}–{last} of {len(data)}"
    if start < end:
        caption += f"; marked: {start}–{end}"
    return element(
        "figure",
        element("figcaption", caption),
        element("pre", join(lines, "\n"), class_="hex", tabindex=0, role="group", aria_label=caption),
    )


def plain_hexdump(data: bytes, start: int | None = None, end: int | None = None) -> str:
    """The same in plain text, up to 64 KiB; rows with a decisive byte begin with ``>``."""
    lines = [
        f"{len(data)} bytes"
        if start is None or end is None
        else f"{len(data)} bytes; decisive: {start}–{end}"
    ]
    for row in range(0, min(len(data), _PLAIN_LIMIT), _PER_ROW):
        piece = data[row : row + _PER_ROW]
        inside = start is not None and end is not None and row < end and row + len(piece) > start
        characters = "".join(map(_character, piece))
        lines.append(
            f"{'>' if inside else ' '} {row:06d}  {piece.hex(' '):<{3 * _PER_ROW - 1}}  {characters}"
        )
    if len(data) > _PLAIN_LIMIT:
        lines.append(f"the first {_PLAIN_LIMIT} of {len(data)} bytes; the trace has all")
    return "\n".join(lines) + "\n"


def _character(byte: int) -> str:
    return chr(byte) if 0x20 <= byte < 0x7F else "·"


def _line(data: bytes, row: int, start: int, end: int) -> Markup:
    piece = data[row : row + _PER_ROW]
    pad = "   " * (_PER_ROW - len(piece))
    return join(
        [
            element("span", f"{row:06d}", class_="offset"),
            "  ",
            _marked(piece, row, start, end, lambda byte: f"{byte:02x}", " "),
            f"{pad}  ",
            _marked(piece, row, start, end, _character, ""),
        ]
    )


def _marked(piece: bytes, row: int, start: int, end: int, show: Callable[[int], str], between: str) -> Markup:
    begin = min(max(start - row, 0), len(piece))
    finish = min(max(end - row, begin), len(piece))
    before, inside, after = (
        between.join(show(byte) for byte in part)
        for part in (piece[:begin], piece[begin:finish], piece[finish:])
    )
    return join(
        [part for part in (before, element("mark", inside) if inside else "", after) if part], between
    )
