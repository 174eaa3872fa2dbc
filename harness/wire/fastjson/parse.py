"""Reading the dialect, with the place of everything.

- Accepts what fastjson 1.2.83 accepts by default: unquoted and single-quoted names, unquoted numbers as
  names, commas too many, comments, its own escapes, raw control characters in strings, a byte order mark,
  bytes that are no UTF-8.
- Never loses anything: names that occur twice, members in their order, the exact bytes of everything
  (`Node`).
- Positions are offsets into what the caller gave: bytes for bytes, characters for str.
- Depth is bounded by `DEPTH_LIMIT`, so hostile nesting is a `ParseError` and not a crash. So is the number of
  values where the caller says `at_most`: each costs some hundred bytes and some microseconds.

Bytes are parsed as latin-1 so that an offset in the text is an offset in the bytes; strings become text at
the end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from harness.wire.text import java_text

DEPTH_LIMIT: Final = 256
VALUES_LIMIT: Final = 25_000
"""Values of a header or body that only this parser reads: a moment's work. Apache has no such limit, and
its parser is not in Python; ordinary JSON, which brokers send, is read by another one, without a limit."""
DIGITS_LIMIT: Final = 4000
"""Integers with more digits than this are read as floating point numbers (Python bounds the conversion)."""

Kind = Literal["object", "array", "string", "number", "true", "false", "null"]
Engine = Literal["fastjson", "fastjson2"]
Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]

_SKIP: Final = re.compile(r"(?:[\x00-\x20\x7f]++|/\*.*?\*/|//[^\n]*+(?:\n|$))*+", re.DOTALL)
_SKIP_COMMAS: Final = re.compile(r"(?:[,\x00-\x20\x7f]++|/\*.*?\*/|//[^\n]*+(?:\n|$))*+", re.DOTALL)
NUMBER: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_BARE_NUMBER: Final = re.compile(r"-?[0-9]+")
_SUFFIX: Final = re.compile(r"[BSLFD]")
_NAME: Final = re.compile(r"[A-Za-z_$\x80-\xff\u0100-\U0010ffff][A-Za-z0-9_$\x80-\xff\u0100-\U0010ffff]*")
_WORD: Final = re.compile(r"[A-Za-z]+")
_DOUBLE: Final = re.compile(r'[^"\\]*')
_SINGLE: Final = re.compile(r"[^'\\]*")
ESCAPES: Final = {
    **{str(digit): chr(digit) for digit in range(8)},
    "b": "\b",
    "t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "F": "\f",
    "r": "\r",
    '"': '"',
    "'": "'",
    "/": "/",
    "\\": "\\",
}
_LITERALS: Final[dict[str, tuple[Kind, bool | None]]] = {
    "true": ("true", True),
    "false": ("false", False),
    "null": ("null", None),
    "NaN": ("null", None),
    "undefined": ("null", None),
}
_AFTER_LITERAL: Final = frozenset(("", *" ,}]:\n\r\t\f\b\x1a"))
_HEX4: Final = re.compile(r"[0-9A-Fa-f]{4}")
_HEX2: Final = re.compile(r"[0-9A-Fa-f]{2}")
_SURROGATES: Final = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")


class ParseError(ValueError):
    """Text that fastjson refuses. `offset` is where."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} at offset {offset}")
        self.offset = offset


class Node:
    """One value and its place.

    `value` is the scalar (numbers: int or float; `text` is how a number or a literal was written), `members`
    the (name, value) pairs of an object in their order, `elements` those of an array. A name is a Node of
    kind "string", or "number" where it was an unquoted number; `bare` says that a name had no quotes.
    """

    engine: ClassVar[Engine] = "fastjson"
    """Whose text this is, and so whose rules say what a field makes of it (`coerce`)."""

    __slots__ = ("bare", "elements", "end", "kind", "members", "start", "text", "value")

    def __init__(
        self, kind: Kind, start: int, end: int, value: bool | int | float | str | None = None
    ) -> None:
        self.kind: Kind = kind
        self.start = start
        self.end = end
        self.value = value
        self.members: list[tuple[Node, Node]] = []
        self.elements: list[Node] = []
        self.bare = False
        self.text = ""

    def to_value(self) -> Value:
        """The value as plain Python: of names that occur twice, the last wins; names are always str."""
        if self.kind == "object":
            return {str(name.value): member.to_value() for name, member in self.members}
        if self.kind == "array":
            return [element.to_value() for element in self.elements]
        return self.value


class Parser:
    """One text, read as fastjson 1 reads it."""

    node: type[Node] = Node
    escapes: Mapping[str, str] = ESCAPES
    """What may stand behind a backslash, and what it means; besides the numbers of characters."""

    def __init__(self, data: str | bytes, at_most: int | None) -> None:
        self.left = len(data) if at_most is None else at_most
        self.is_bytes = isinstance(data, bytes)
        self.text = data.decode("latin-1") if isinstance(data, bytes) else data
        self.replaced: list[tuple[int, int]] = []

    def document(self) -> Node:
        start = 0
        if self.is_bytes and self.text.startswith("\xef\xbb\xbf"):
            start = 3
        elif not self.is_bytes and self.text.startswith("\ufeff"):
            start = 1
        node = self.parse_value(self.skip(start), 0)
        end = self.skip(node.end)
        if end != len(self.text):
            raise ParseError("text after the value", end)
        return node

    def skip(self, at: int) -> int:
        found = _SKIP.match(self.text, at)
        return at if found is None else found.end()

    def skip_commas(self, at: int) -> int:
        found = _SKIP_COMMAS.match(self.text, at)
        return at if found is None else found.end()

    def parse_value(self, at: int, depth: int) -> Node:
        if depth > DEPTH_LIMIT:
            raise ParseError(f"nested deeper than {DEPTH_LIMIT}", at)
        self.left -= 1
        if self.left < 0:
            raise ParseError("too many values", at)
        char = self.text[at : at + 1]
        if char == "{":
            return self.object(at, depth)
        if char == "[":
            return self.array(at, depth)
        if char in ('"', "'") and char:
            return self.string(at)
        found = NUMBER.match(self.text, at)
        if found is not None:
            return self.number(found)
        word = _WORD.match(self.text, at)
        if word is not None:
            return self.literal(word)
        raise ParseError("no value", at)

    def literal(self, word: re.Match[str]) -> Node:
        text, start, end = word[0], word.start(), word.end()
        if text not in _LITERALS:
            raise ParseError(f"{text[:40]} is no value", start)
        after = self.text[end : end + 1]
        if after not in _AFTER_LITERAL and not (after == "/" and text != "null"):
            raise ParseError(f"{text} with {after!r} behind it", end)
        kind, value = _LITERALS[text]
        node = self.node(kind, start, end, value)
        node.text = text
        return node

    def object(self, at: int, depth: int) -> Node:
        node = self.node("object", at, at)
        at = self.skip_commas(at + 1)
        while self.text[at : at + 1] != "}":
            name = self.name(at)
            at = self.skip(name.end)
            if self.text[at : at + 1] != ":":
                raise ParseError("no colon after a name", at)
            member = self.parse_value(self.skip(at + 1), depth + 1)
            node.members.append((name, member))
            at = self.skip(member.end)
            if self.text[at : at + 1] not in (",", "}"):
                raise ParseError("neither comma nor end of object", at)
            at = self.skip_commas(at)
        node.end = at + 1
        return node

    def array(self, at: int, depth: int) -> Node:
        node = self.node("array", at, at)
        at = self.skip_commas(at + 1)
        while self.text[at : at + 1] != "]":
            element = self.parse_value(at, depth + 1)
            node.elements.append(element)
            at = self.skip_commas(element.end)
        node.end = at + 1
        return node

    def name(self, at: int) -> Node:
        if self.text[at : at + 1] in ('"', "'"):
            return self.string(at)
        found = _BARE_NUMBER.match(self.text, at)
        if found is not None:
            node = self.node("number", at, found.end(), found[0])
        else:
            found = _NAME.match(self.text, at)
            if found is None:
                raise ParseError("no name", at)
            node = self.node("string", at, found.end(), self.decoded(found[0], at))
        node.bare = True
        return node

    def number(self, found: re.Match[str]) -> Node:
        written = found[0].removeprefix("+")
        text = written.removesuffix(".")
        is_integer = text == written and len(text) <= DIGITS_LIMIT and text.lstrip("-").isdigit()
        value = int(text) if is_integer else float(text)
        suffix = _SUFFIX.match(self.text, found.end())
        end = found.end() if suffix is None else suffix.end()
        node = self.node("number", found.start(), end, value)
        node.text = text
        return node

    def string(self, start: int) -> Node:
        text = self.text
        closing = text[start]
        plain = _DOUBLE if closing == '"' else _SINGLE
        parts: list[str] = []
        at = start + 1
        while True:
            found = plain.match(text, at)
            end = at if found is None else found.end()
            if end > at:
                parts.append(self.decoded(text[at:end], at))
            mark = text[end : end + 1]
            if mark == closing:
                break
            if not mark:
                raise ParseError("string without end", start)
            at = self.escape(end + 1, parts)
        value = "".join(parts)
        if len(parts) > 1:
            value = _SURROGATES.sub(
                lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), value
            )
        return self.node("string", start, end + 1, value)

    def escape(self, at: int, parts: list[str]) -> int:
        char = self.text[at : at + 1]
        if char in self.escapes:
            parts.append(self.escapes[char])
            return at + 1
        pattern = _HEX4 if char == "u" else _HEX2 if char == "x" else None
        found = None if pattern is None else pattern.match(self.text, at + 1)
        if found is None:
            raise ParseError("unknown escape", at - 1)
        parts.append(chr(int(found[0], 16)))
        return found.end()

    def decoded(self, piece: str, at: int) -> str:
        if not self.is_bytes or piece.isascii():
            return piece
        raw = piece.encode("latin-1")
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            self.replaced.append((at + error.start, at + error.end))
            return java_text(raw)
