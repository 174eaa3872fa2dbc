"""Java `.properties` text: the body of 318 and 319, and the file that a server is configured by.

- Reading gives what `Properties.load(InputStream)` gives: comments, separators, continued lines, escapes, and
  a later pair over an earlier one (tests/vectors/properties.json was written by Java 17).
- A body is read as Apache's server reads it (`MixAll#string2Properties`): bytes to text as UTF-8, text to
  UTF-8 again, and those bytes as ISO-8859-1. So `é` becomes `Ã©`, and only `\\u00e9` is `é`.
- Writing escapes everything that reading would not take literally; the text is ASCII. (Apache writes values
  as they are: what holds a backslash or a line break reads back as something else.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from harness.wire.errors import WireError
from harness.wire.text import java_text

_BLANK: Final = " \t\f"
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_LONE_BACKSLASH: Final = re.compile(r"\\[\r\n]?\Z")
"""At the end of a text it makes an empty pair."""
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.|$)", re.DOTALL)
_PLAIN: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_KEY_ESCAPED: Final = " :=#!"


class Properties(msgspec.Struct):
    """Keys and values, in the order in which the keys first came."""

    pairs: dict[str, str] = {}

    def encode(self) -> bytes:
        """One `key=value` line for each pair."""
        lines = [
            f"{_escaped(key, _KEY_ESCAPED)}={_escaped(value, '')}\n" for key, value in self.pairs.items()
        ]
        return "".join(lines).encode("ascii")

    @classmethod
    def decode(cls, data: bytes) -> Properties:
        """A body. Raises `WireError` for a malformed `\\u` escape."""
        return cls.load(java_text(data).encode("utf-8"))

    @classmethod
    def load(cls, data: bytes) -> Properties:
        """A file. Raises `WireError` for a malformed `\\u` escape."""
        return cls.parse(data.decode("iso-8859-1"))

    @classmethod
    def parse(cls, text: str) -> Properties:
        """Text. Raises `WireError` for a malformed `\\u` escape."""
        pairs: dict[str, str] = {}
        for number, line in _logical_lines(text):
            key, value = _split(line)
            pairs[_unescaped(key, number)] = _unescaped(value, number)
        return cls(pairs)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """(number of its first line, line): comments and blanks dropped, continued lines joined.

    While nothing has come of a line but a backslash, what follows may still be a blank or a comment.
    """
    pending, start, open_end = "", 1, False
    for number, raw in enumerate(_LINE_END.split(text), 1):
        line = raw.lstrip(_BLANK)
        if not pending:
            start = number
            if not line or line[0] in "#!":
                open_end &= not line
                continue
        open_end = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        pending += line[:-1] if open_end else line
        if not open_end:
            yield start, pending
            pending = ""
    if pending or (open_end and _LONE_BACKSLASH.search(text)):
        yield start, pending


def _split(line: str) -> tuple[str, str]:
    """Key and value, both still escaped: a blank, `=` or `:` that no backslash precedes ends the key."""
    at = 0
    while at < len(line) and line[at] not in _BLANK + "=:":
        at += 2 if line[at] == "\\" else 1
    key, rest = line[:at], line[at:].lstrip(_BLANK)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANK)
    return key, rest


def _unescaped(text: str, line: int) -> str:
    def replaced(match: re.Match[str]) -> str:
        what = match.group(1)
        if what == "u":
            raise WireError(f"line {line}: \\u must be followed by four hexadecimal digits")
        return chr(int(what[1:], 16)) if len(what) == 5 else _PLAIN.get(what, what)

    if "\\" not in text:
        return text
    # Two escapes may be the halves of one character.
    return _ESCAPE.sub(replaced, text).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _escaped(text: str, special: str) -> str:
    if text.isalnum() and text.isascii():
        return text
    written = "".join(_character(one, special) for one in text)
    return "\\" + written if written.startswith(" ") else written


def _character(one: str, special: str) -> str:
    if one == "\\" or one in special:
        return "\\" + one
    if " " <= one <= "~":
        return one
    return "".join(f"\\u{unit:04x}" for unit in _utf16(one))


def _utf16(one: str) -> list[int]:
    encoded = one.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(encoded[at : at + 2], "big") for at in range(0, len(encoded), 2)]
