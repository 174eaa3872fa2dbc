"""The JSON header, read the way fastjson reads it into a RemotingCommand.

- Names match whatever their case, `_` and `-`; of names that occur twice the last counts, but a name that
  matches only that way replaces nothing and is replaced by nothing; unknown names are ignored.
- Numbers may come as text, booleans, fractions or null (which leaves what was there). Text of any other kind
  closes the connection, as does an integer outside int32. Values of `extFields` become text.
- `serializeTypeCurrentRPC` and `body` are ignored, because the frame decides about both; but what cannot
  become a value of their type closes the connection.

Source: `RemotingCommand#headerDecode`, `RemotingSerializable`; fastjson 1.2.69 and 1.2.83 run on the
same text. Not reproduced: constructors
such as `new Date(…)`, `Set[…]` and `x'0A'` (refused here), lone signs as numbers, `$ref` inside `extFields`,
and `extFields` as an empty string (null on 5.x, refused on 4.9; refused here).
"""

from __future__ import annotations

import re
from typing import Final

from harness.wire.codes import LANGUAGES, Serialization

from .command import Command
from .fastjson import VALUES_LIMIT, Engine, Node, ParseError, tree
from .fastjson.coerce import CoercionError, as_enum, as_int32, as_string, smart_name
from .report import Field, Reading

INVALID_UTF8_IN_JSON: Final = "json-invalid-utf8"

_NUMBERS: Final = ("code", "flag", "opaque", "version")
_KNOWN: Final = (*_NUMBERS, "body", "extFields", "language", "remark", "serializeTypeCurrentRPC")
_CLOSED: Final = re.compile(rb"\s*+(?:\}|,(?!\s*+\}))")
"""What follows a member that means nothing; fastjson2 forgives a comma too many or too few only elsewhere."""
_FOLDED: Final = {name.lower(): name for name in _KNOWN}
_OWN_CLASS: Final = "org.apache.rocketmq.remoting.protocol.RemotingCommand"


def read_json_header(reading: Reading, start: int, end: int, engine: Engine = "fastjson") -> Command:
    """The command without its body, from the bytes `start` to `end` of the frame, as `engine` reads it."""
    if start == end:
        reading.refuse("header-empty", "a header of no bytes", 5, 8)
    reader = _JsonReader(reading, start, end, engine)
    try:
        return reader.read()
    except CoercionError as error:
        reading.refuse("value-malformed", f"{reader.current} has {error}", *reader.place(error.node))


def _is_bytes(node: Node) -> bool:
    if node.kind == "array":
        return all(map(_is_byte, node.elements))
    if node.engine == "fastjson2":
        return node.kind == "null" or node.value == ""
    return node.kind == "string" or node.text == "null"


def _is_byte(node: Node) -> bool:
    """To fastjson2, every number of 32 bits is a byte. (To fastjson 1.2.69, true is none.)"""
    try:
        number = as_int32(node)
    except CoercionError:
        return False
    return number is None or node.engine == "fastjson2" or -(1 << 7) <= number < 1 << 7


class _JsonReader:
    def __init__(self, reading: Reading, start: int, end: int, engine: Engine) -> None:
        self.reading = reading
        self.engine: Engine = engine
        self.folded = {} if engine == "fastjson2" else _FOLDED
        self.base = start
        self.end = end
        self.raw = reading.data[start:end]
        self.command = Command(serialization=Serialization.JSON)
        self.seen: set[str] = set()
        self.folded_first: set[str] = set()
        """Members that a name has set which matches only whatever its case."""
        self.current = "the header"

    def read(self) -> Command:
        reading, base = self.reading, self.base
        try:
            root, replaced = tree(self.raw, self.engine, VALUES_LIMIT)
        except ParseError as error:
            at = base + min(error.offset, len(self.raw) - 1)
            reading.refuse("json-malformed", f"the header is no JSON: {error}", at, self.end)
        for first, last in replaced:
            reading.odd(
                INVALID_UTF8_IN_JSON, "the header is no UTF-8; 5.x refuses it", base + first, base + last
            )
        if root.kind != "object":
            reading.refuse("json-not-an-object", f"the header is {root.kind}", *self.place(root))
        for name, value in root.members:
            self.member(name, value)
        for missing in ("code", "opaque"):
            if missing not in self.seen:
                reading.odd(f"{missing}-missing", f"no {missing}; it is read as 0", *self.place(root))
        return self.command

    def place(self, first: Node, last: Node | None = None) -> tuple[int, int]:
        return self.base + first.start, self.base + (first if last is None else last).end

    def member(self, name: Node, value: Node) -> None:
        reading = self.reading
        text = str(name.value)
        at = self.place(name)
        if name.kind == "number":
            reading.refuse("json-malformed", f"the unquoted number {text} as a name", *at)
        if b"/" in self.raw[name.end : value.start].partition(b":")[0]:
            reading.refuse("json-malformed", "a comment between a name and its colon", *at)
        if text == "@type" and value.value != _OWN_CLASS and self.engine == "fastjson":
            reading.refuse(
                "json-type-refused", "a class is named that is not RemotingCommand", *self.place(value)
            )
        if name.bare:
            reading.odd("json-name-unquoted", f"{text} has no quotes", *at)
        known = text if text in _KNOWN else self.folded.get(smart_name(text))
        if known is None:
            if self.engine == "fastjson2" and not _CLOSED.match(self.raw, value.end):
                reading.refuse("json-malformed", f"neither comma nor end behind {text}", *self.place(value))
            reading.odd("member-unknown", f"{text} means nothing here and is ignored", *at)
            return
        if text != known:
            reading.odd("member-case", f"{text} is read as {known}", *at)
        if known in self.seen:
            if (text != known or known in self.folded_first) and known != "extFields":
                reading.odd("member-duplicate", f"{known} is set already; {text} is ignored", *at)
                return
            reading.odd("member-duplicate", f"{known} occurs again; the last one counts", *at)
        elif text != known:
            self.folded_first.add(known)
        self.current = known
        self.known_member(known, value)

    def known_member(self, name: str, value: Node) -> None:
        command = self.command
        match name:
            case "code" | "flag" | "opaque" | "version":
                self.number(name, value)
                return
            case "language":
                command.language = self.language(value)
            case "remark":
                command.remark = self.text(name, value)
            case "extFields":
                command.ext = self.ext(value)
            case "serializeTypeCurrentRPC":
                self.note(name, value, as_enum(value, ("JSON", "ROCKETMQ")))
            case _:
                if not _is_bytes(value):
                    raise CoercionError(f"{value.kind} instead of bytes", value)
                self.reading.odd("member-unknown", f"{name} in a header is ignored", *self.place(value))
        self.seen.add(name)

    def note(self, name: str, node: Node, value: int | str | None) -> None:
        self.reading.fields.append(Field(name, *self.place(node), value))

    def source(self, node: Node) -> str:
        return self.raw[node.start : node.end].decode("utf-8", "replace")

    def coerced(self, name: str, node: Node, value: int | str | None) -> None:
        shown = "null" if value is None else value
        self.reading.odd("value-coerced", f"{name} {self.source(node)} is read as {shown}", *self.place(node))

    def number(self, name: str, node: Node) -> None:
        value = as_int32(node)
        if value is None:
            self.coerced(name, node, value)
            return
        if node.kind != "number" or str(value) != self.source(node):
            self.coerced(name, node, value)
        setattr(self.command, name, value)
        self.seen.add(name)
        self.note(name, node, value)

    def language(self, node: Node) -> str | None:
        name = as_enum(node, LANGUAGES)
        if name is None:
            self.reading.odd(
                "language-unknown", f"language {self.source(node)} is read as null", *self.place(node)
            )
        elif name != node.value:
            self.coerced("language", node, name)
        self.note("language", node, name)
        return name

    def text(self, name: str, node: Node) -> str | None:
        value = as_string(node)
        if node.kind != "string":
            self.coerced(name, node, value)
        self.note(name, node, value)
        return value

    def ext(self, node: Node) -> dict[str, str | None] | None:
        reading = self.reading
        if node.text == "null" or (self.engine == "fastjson2" and node.value in ("", "null")):
            self.coerced("extFields", node, None)
            return None
        if self.engine == "fastjson2" and [element.kind for element in node.elements] == ["object"]:
            node = node.elements[0]
        if node.kind != "object":
            reading.refuse("ext-not-an-object", f"extFields is {node.kind}", *self.place(node))
        ext: dict[str, str | None] = {}
        for name, value in node.members:
            key = str(name.value)
            if name.kind == "number":
                reading.refuse(
                    "ext-key-number", f"extFields has the unquoted number {key} as a name", *self.place(name)
                )
            if name.bare:
                reading.odd("json-name-unquoted", f"{key} has no quotes", *self.place(name))
            if name.bare and key == "null":
                reading.odd(
                    "ext-key-empty", "an entry with a null key cannot be asked for", *self.place(name, value)
                )
                continue
            if key in ext:
                reading.odd(
                    "ext-duplicate", f"{key} occurs again; the last one counts", *self.place(name, value)
                )
            ext[key] = self.text(f"extFields.{key}", value)
        return ext
