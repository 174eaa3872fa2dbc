"""From what the text says to what a Java field of a given type becomes.

- Each function takes a Node and gives the value that fastjson stores in a field of that type, or raises
  `CoercionError`.
- Null is None; whether a field keeps None, 0 or its default is decided by the reader of the field.

Source: `TypeUtils` and the deserializers of fastjson 1.2.69 and 1.2.83, run on the same text. Where fastjson2
differs: `coerce2`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from . import coerce2
from .emit import quote
from .parse import Node

_DECIMAL: Final = re.compile(r"[+-]?[0-9]+")
_TRAILING_ZEROS: Final = re.compile(r"\.0*$")
_NULL_TEXTS: Final = ("", "null", "NULL")


class CoercionError(ValueError):
    """A value that cannot become what the field holds; `node` is that value."""

    def __init__(self, message: str, node: Node) -> None:
        super().__init__(message)
        self.node = node


def as_int32(node: Node) -> int | None:
    """An `int` field. Fractions are cut, numeric text is read, true is 1."""
    return _integer(node, 32)


def as_int64(node: Node) -> int | None:
    """A `long` field."""
    return _integer(node, 64)


def _integer(node: Node, bits: int) -> int | None:
    if node.engine == "fastjson2":
        try:
            return coerce2.integer(node, bits)
        except ValueError as error:
            raise CoercionError(str(error), node) from error
    result: int
    match node.kind:
        case "null":
            return None
        case "true" | "false":
            return int(node.kind == "true")
        case "number":
            if not isinstance(node.value, int):
                return _wrapped(node, bits)
            result = node.value
        case "string":
            text = str(node.value)
            if text in _NULL_TEXTS:
                return None
            text = _TRAILING_ZEROS.sub("", text.replace(",", ""))
            if not _DECIMAL.fullmatch(text):
                raise CoercionError(f"{text[:40]!r} is no number", node)
            result = coerce2.whole(text)
        case _:
            raise CoercionError(f"{node.kind} instead of a number", node)
    if not -(1 << bits - 1) <= result < 1 << bits - 1:
        raise CoercionError(f"{node.text or node.value} does not fit into int{bits}", node)
    return result


def _wrapped(node: Node, bits: int) -> int:
    """A fraction loses what is behind the point, and its high bits when it is too large: no error."""
    number = Decimal(node.text)
    if abs(int(number.as_tuple().exponent)) > 100:  # Java's scale, whatever the digits before it
        raise CoercionError(f"{node.text[:40]} is too large a number", node)
    half = 1 << bits - 1
    return (int(number) + half) % (2 * half) - half


def as_boolean(node: Node) -> bool | None:
    """A `boolean` field. Numbers are true when they are 1; text is true, false, 1, 0, or a letter: Y and N to
    both engines, and others to fastjson 1.
    """
    match node.kind:
        case "null":
            return None
        case "true" | "false":
            return node.kind == "true"
        case "number":
            if node.engine == "fastjson2":
                return isinstance(node.value, int) and node.value == 1
            return as_int32(node) == 1
        case "string":
            text = str(node.value)
            if text in _NULL_TEXTS:
                return None
            is_older = node.engine == "fastjson"
            if text.lower() == "true" or text in ("1", "Y") or (is_older and text in ("y", "T")):
                return True
            if text.lower() == "false" or text in ("0", "N") or (is_older and text in ("f", "F")):
                return False
    raise CoercionError("no boolean", node)


def as_string(node: Node) -> str | None:
    """A `String` field. Anything that is not text becomes the text of itself."""
    match node.kind:
        case "null":
            return None
        case "string":
            return str(node.value)
        case "number":
            if node.engine == "fastjson2":
                return coerce2.number_text(node)
            return node.text if isinstance(node.value, int) else coerce2.decimal_text(node.text)
        case "object" | "array":
            return _compact(node)
        case _:
            return node.kind


def _compact(node: Node) -> str:
    """The JSON text that Java makes of a nested value; numbers keep their digits, null members go."""
    match node.kind:
        case "object":
            pairs = [
                f"{quote(str(name.value)).decode()}:{_compact(value)}"
                for name, value in node.members
                if value.kind != "null"
            ]
            return "{" + ",".join(pairs) + "}"
        case "array":
            return "[" + ",".join(map(_compact, node.elements)) + "]"
        case "string":
            return quote(str(node.value)).decode()
        case _:
            return as_string(node) or "null"


def as_enum(node: Node, names: Sequence[str]) -> str | None:
    """An enum field: by name whatever its case (an unknown name is null), or by ordinal (an unknown one is an
    error).
    """
    if node.engine == "fastjson2":
        try:
            return coerce2.enum_name(node, names)
        except ValueError as error:
            raise CoercionError(str(error), node) from error
    match node.kind:
        case "null" if node.text == "null":
            return None
        case "string":
            text = str(node.value)
            if text in names:
                return text
            folded = text.lower()
            return next((name for name in names if name.lower() == folded), None)
        case "number" if isinstance(node.value, int):
            if 0 <= node.value < len(names):
                return names[node.value]
            raise CoercionError(f"ordinal {node.value} has no name", node)
        case _:
            raise CoercionError(f"{node.kind} instead of a name", node)


def smart_name(name: str) -> str:
    """Names are matched whatever their case, `_` and `-`."""
    return name.replace("_", "").replace("-", "").lower()


def members(node: Node, known: Mapping[str, Callable[[Node], object]]) -> dict[str, Any]:
    """The members of an object that a class knows, each read by its function.

    Of two with the same name the last counts; where one of them matches by `smart_name` only, the first.
    fastjson2 knows a name only as it is written.
    """
    if node.kind != "object":
        raise CoercionError(f"{node.kind} instead of an object", node)
    folded = {} if node.engine == "fastjson2" else {smart_name(name): name for name in known}
    found: dict[str, Any] = {}
    smartly: set[str] = set()
    for name, member in node.members:
        if name.bare and node.engine == "fastjson2":
            raise CoercionError(f"{name.value} without quotes instead of a name", name)
        text = str(name.value)
        exact = text if text in known else folded.get(smart_name(text))
        if exact is None or (exact in found and (exact != text or exact in smartly)):
            continue
        if exact != text:
            smartly.add(exact)
        found[exact] = known[exact](member)
    return found
