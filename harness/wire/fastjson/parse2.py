"""Reading the dialect of fastjson2, the engine of 5.4 and later.

What differs from fastjson 1 (`parse.py`):
- Names must have quotes, except integers as keys of a map.
- The comma between two members or elements may be missing; one too many is accepted only before the closing
  bracket, and behind the whole text.
- Comments are allowed before and behind the text and before a name, nowhere else. A byte order mark is
  refused, and so are `NaN` and `undefined`.
- More signs may be escaped: some in every text, some more in names.
- Integers lose leading zeros and the sign of zero.
- Bytes that are no UTF-8 are refused.

Source: `JSONReaderUTF8` of fastjson2 2.0.59, run on the same text (`RemotingCommand#decode` of 5.5.0). Not
reproduced, and refused here: `Set[…]`, `x'0A'`, numbers without a digit before the point or in the exponent,
overlong UTF-8 and surrogates in UTF-8, hexadecimal escapes with other digits, two commas behind a map, and
what is tolerated only inside of members that are not read, as bytes that are no UTF-8. Not reproduced, and
accepted here: a comma that is missing inside of members that are not read, in names of members the signs that
may be escaped in keys of maps alone, and ÿ alone as the name of one. Not reproduced, and read as ordinary
text: `$ref`, the point that a suffix `D` or `F` gives to a number that becomes text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Final

from .parse import DEPTH_LIMIT, ESCAPES, NUMBER, Engine, Kind, Node, ParseError, Parser

_SKIP: Final = re.compile(r"[ \n\r\t\f\b]*+")
_SKIP_ZERO: Final = re.compile(r"[ \n\r\t\f\b\x00]*+")
_COMMENT: Final = re.compile(r"(?:/\*.*?\*/|//[^\n]*+(?:\n|$))[ \n\r\t\f\b]*+", re.DOTALL)
_ESCAPES: Final = {**ESCAPES, **{sign: sign for sign in " #&(),.@[]_~"}}
_ESCAPES_OF_NAMES: Final = {**_ESCAPES, **{sign: sign for sign in "*+-:<=>"}}
_LITERALS: Final[dict[str, tuple[Kind, bool | None]]] = {
    "true": ("true", True),
    "false": ("false", False),
    "null": ("null", None),
}


class Node2(Node):
    """A value in a text that fastjson2 reads."""

    __slots__ = ()

    engine: ClassVar[Engine] = "fastjson2"


class Parser2(Parser):
    """One text, read as fastjson2 reads it."""

    node = Node2
    escapes: Mapping[str, str] = _ESCAPES

    def document(self) -> Node:
        node = self.parse_value(self.comments(self.zeros(0)), 0)
        end = self.zeros(node.end)
        if self.text[end : end + 1] == ",":
            end = self.zeros(end + 1)
        end = self.comments(end)
        if end != len(self.text):
            raise ParseError("text after the value", end)
        if self.replaced:
            raise ParseError("bytes that are no UTF-8", self.replaced[0][0])
        return node

    def skip(self, at: int) -> int:
        found = _SKIP.match(self.text, at)
        return at if found is None else found.end()

    def zeros(self, at: int) -> int:
        found = _SKIP_ZERO.match(self.text, at)
        return at if found is None else found.end()

    def comments(self, at: int) -> int:
        while (found := _COMMENT.match(self.text, at)) is not None:
            at = found.end()
        return at

    def parse_value(self, at: int, depth: int) -> Node:
        if depth > DEPTH_LIMIT:
            raise ParseError(f"nested deeper than {DEPTH_LIMIT}", at)
        self.left -= 1
        if self.left < 0:
            raise ParseError("too many values", at)
        char = self.text[at : at + 1]
        match char:
            case "{":
                return self.object(at, depth)
            case "[":
                return self.array(at, depth)
            case '"' | "'":
                return self.string(at)
            case "t" | "f" | "n":
                return self.word(at)
        found = NUMBER.match(self.text, at)
        if found is None:
            raise ParseError("no value", at)
        return self.number(found)

    def word(self, at: int) -> Node:
        for text, (kind, value) in _LITERALS.items():
            if self.text.startswith(text, at):
                node = self.node(kind, at, at + len(text), value)
                node.text = text
                return node
        raise ParseError("no value", at)

    def object(self, at: int, depth: int) -> Node:
        node = self.node("object", at, at)
        at = self.comments(self.zeros(at + 1))
        while self.text[at : at + 1] != "}":
            name = self.name(at)
            if name.bare and name.kind != "number":
                raise ParseError("a name without quotes", at)
            at = self.skip(name.end)
            if self.text[at : at + 1] != ":":
                raise ParseError("no colon after a name", at)
            member = self.parse_value(self.skip(at + 1), depth + 1)
            node.members.append((name, member))
            at = self.after_value(member)
            behind = self.comments(at)
            if behind != at and self.text[behind : behind + 1] == "}":
                raise ParseError("a comment before the end of an object", at)
            at = behind
        node.end = at + 1
        return node

    def name(self, at: int) -> Node:
        self.escapes = _ESCAPES_OF_NAMES
        node = super().name(at)
        self.escapes = _ESCAPES
        return node

    def array(self, at: int, depth: int) -> Node:
        node = self.node("array", at, at)
        at = self.comments(self.zeros(at + 1))
        while self.text[at : at + 1] != "]":
            element = self.parse_value(at, depth + 1)
            node.elements.append(element)
            at = self.after_value(element)
        node.end = at + 1
        return node

    def after_value(self, node: Node) -> int:
        skip = self.zeros if node.kind in ("object", "array") else self.skip
        at = skip(node.end)
        if self.text[at : at + 1] == ",":
            at = skip(at + 1)
        return at

    def number(self, found: re.Match[str]) -> Node:
        node = super().number(found)
        if isinstance(node.value, int):
            node.text = str(node.value)
        return node
