"""A frame as offsets, hexadecimal and characters, with the decisive bytes marked.

A long frame is shown around its decisive bytes only, and the caption says which bytes of how many.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

_PER_ROW = 16
_ROWS = 48
_ROWS_BEFORE = 4
_PLAIN_LIMIT = 65_536

Parts = tuple[str, str, str]
"""Text before the decisive bytes, of them, and behind them."""


class Row(msgspec.Struct, frozen=True):
    """Sixteen bytes, or the last few."""

    offset: int
    bytes: Parts
    pad: str
    characters: Parts


class Dump(msgspec.Struct, frozen=True):
    """What a page shows of a frame."""

    caption: str
    rows: list[Row]


def hexdump(data: bytes, start: int | None = None, end: int | None = None) -> Dump:
    """The bytes, those from ``start`` to ``end`` (exclusive) marked."""
    if start is None or end is None:
        start, end = len(data), len(data)
    offsets = range(0, len(data), _PER_ROW)
    first = max(0, min(start // _PER_ROW - _ROWS_BEFORE, len(offsets) - _ROWS)) if start < len(data) else 0
    shown = offsets[first : first + _ROWS]
    last = min(len(data), (first + len(shown)) * _PER_ROW)
    caption = f"bytes {first * _PER_ROW}–{last} of {len(data)}"
    if start < end:
        caption += f"; marked: {start}–{end}"
    return Dump(caption, [_row(data, offset, start, end) for offset in shown])


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


def _row(data: bytes, offset: int, start: int, end: int) -> Row:
    piece = data[offset : offset + _PER_ROW]
    begin = min(max(start - offset, 0), len(piece))
    finish = min(max(end - offset, begin), len(piece))

    def parts(show: Callable[[int], str], between: str) -> Parts:
        before, inside, after = piece[:begin], piece[begin:finish], piece[finish:]
        return (
            between.join(map(show, before)),
            between.join(map(show, inside)),
            between.join(map(show, after)),
        )

    pad = "   " * (_PER_ROW - len(piece))
    return Row(offset, parts("{:02x}".format, " "), pad, parts(_character, ""))
