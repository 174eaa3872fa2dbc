"""What the lossless path gathers while it reads: fields and diagnostics, each with its range of bytes."""

from __future__ import annotations

from typing import NoReturn

import msgspec

from .errors import Diagnostic


class Field(msgspec.Struct, frozen=True):
    """One named piece of a frame: bytes `start` to `end` (exclusive, from the length word on), and what they
    mean.
    """

    name: str
    start: int
    end: int
    value: int | str | bytes | None


class Refused(Exception):  # noqa: N818  (control flow inside the codec, never seen outside)
    """Reading cannot go on; the reason is already among the diagnostics."""


class Reading:
    """The bytes of one frame and what has been said about them so far."""

    __slots__ = ("data", "diagnostics", "fields")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.fields: list[Field] = []
        self.diagnostics: list[Diagnostic] = []

    def integer(self, name: str, start: int, end: int, *, signed: bool = True) -> int:
        """Reads a big-endian integer and notes it as a field."""
        value = int.from_bytes(self.data[start:end], "big", signed=signed)
        self.fields.append(Field(name, start, end, value))
        return value

    def odd(self, code: str, message: str, start: int, end: int) -> None:
        """Notes what is served although it should not be sent."""
        self.diagnostics.append(Diagnostic(code, message, start, end, False))

    def refuse(self, code: str, message: str, start: int, end: int) -> NoReturn:
        """Notes what closes the connection, and stops reading."""
        self.diagnostics.append(Diagnostic(code, message, start, end, True))
        raise Refused
