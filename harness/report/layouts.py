"""Bytes walked along a byte layout of the catalogue, row by row.

Pure. The same walk draws the examples of the rendered document and holds the layouts against the codec.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.catalogue import Layout, Row

_SIGNED = ("int8", "int16", "int32")


class Piece(msgspec.Struct, frozen=True):
    """The bytes of one row: `data[start:end]`. `value` is the number that they are, else they themselves."""

    row: Row
    start: int
    end: int
    value: int | bytes


def walk(layout: Layout, data: bytes, profile: str) -> list[Piece]:
    """The pieces of the data, in their order, by the rows of a profile.

    Raises ValueError where the data ends before the layout does.
    """
    walker = _Walker(data)
    rows = [row for row in layout.rows if not row.profiles or profile in row.profiles]
    at = 0
    while at < len(rows):
        if rows[at].repeat is None:
            walker.take(rows[at])
            at += 1
            continue
        behind = at
        while behind < len(rows) and rows[behind].repeat == rows[at].repeat:
            behind += 1
        for _ in range(walker.number(str(rows[at].repeat))):
            walker.take_all(rows[at:behind])
        at = behind
    return walker.pieces


class _Walker:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.pieces: list[Piece] = []
        self.values: dict[str, int | bytes] = {}

    def number(self, name: str) -> int:
        value = self.values[name]
        if isinstance(value, bytes):
            raise ValueError(f"row {name!r} is no number, and cannot say how many there are")
        return value

    def take_all(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self.take(row)

    def take(self, row: Row) -> None:
        if row.size == "what is left":
            end = len(self.data)
        else:
            end = self.at + (row.size if isinstance(row.size, int) else self.number(row.size))
        if end > len(self.data):
            raise ValueError(f"{row.name} ends at {end}, the data at {len(self.data)}")
        piece = self.data[self.at : end]
        is_number = "int" in row.type
        value = int.from_bytes(piece, "big", signed=row.type in _SIGNED) if is_number else piece
        self.pieces.append(Piece(row, self.at, end, value))
        self.values[row.name] = value
        self.at = end
