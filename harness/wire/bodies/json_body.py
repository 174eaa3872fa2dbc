"""What all JSON bodies share: the fast path and the lenient path of reading, and the writing.

- Fast: msgspec, which knows every member and takes nothing for granted; anything it refuses goes to the
  lenient path.
- Lenient: the fastjson dialect and its coercions, member by member.
- What the lenient path refuses, Apache's server refuses: `WireError`. A body that says `null` is
  `NullBodyError`: Apache decodes it to null and stumbles over that later, elsewhere.
- Bytes that are no UTF-8 are replaced (4.9) or make the whole body null (5.3), as `invalid_utf8` says;
  fastjson2 refuses them.

Source: `RemotingSerializable#decode`, fastjson 1.2.69 and 1.2.83, fastjson2 2.0.59.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeVar

import msgspec

from harness.wire.errors import WireError
from harness.wire.fastjson import VALUES_LIMIT, Engine, Node, ParseError, tree
from harness.wire.fastjson.coerce import CoercionError, as_int32, as_int64, as_string, members

T = TypeVar("T")
InvalidUtf8 = Literal["refuse", "replace"]


_NUMERIC_MAP: Final = re.compile(
    rb'((?<!\\)"(?:brokerAddrs|currIdMap)":\{)'
    rb'((?:-?[0-9]++:(?:"[^"\\]*+"|-?[0-9]++)(?:,(?=-?[0-9])|(?=\})))++)\}'
)
_NUMERIC_ENTRY: Final = re.compile(rb'(-?[0-9]++):("[^"]*+"|-?[0-9]++)')


_NOT_PLAIN: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class NullBodyError(WireError):
    """The body is JSON `null` (or, on 5.x, no UTF-8), which Apache takes for no object at all."""


def read(
    data: bytes,
    fast: Callable[[bytes], T],
    lenient: Callable[[Node], T],
    invalid_utf8: InvalidUtf8 = "replace",
    engine: Engine = "fastjson",
) -> T:
    """Decodes a body. Raises `WireError` where Apache fails to, `NullBodyError` where it gets null."""
    try:
        return fast(data)
    except _NOT_PLAIN:
        pass
    try:
        return fast(_with_quoted_keys(data))
    except _NOT_PLAIN:
        pass
    if not data.strip() and engine == "fastjson":
        raise NullBodyError("the body is blank")
    try:
        root, replaced = tree(data, engine, VALUES_LIMIT)
        if is_null(root) or (replaced and invalid_utf8 == "refuse"):
            raise NullBodyError("the body is null")
        return lenient(root)
    except ParseError as error:
        raise WireError(f"the body is no JSON: {error}") from error
    except CoercionError as error:
        raise WireError(f"the body has {error} at offset {error.node.start}") from error


def _with_quoted_keys(data: bytes) -> bytes:
    """Compact text of the legacy dialect with the keys of its two numeric maps in quotes: ordinary JSON."""
    return _NUMERIC_MAP.sub(lambda found: found[1] + _NUMERIC_ENTRY.sub(rb'"\1":\2', found[2]) + b"}", data)


def is_null(node: Node) -> bool:
    """Empty text and, to fastjson 1, an empty array are null too where an object is wanted."""
    if node.kind == "array":
        return not node.elements and node.engine == "fastjson"
    return node.kind == "null" or node.value == ""


def is_no_collection(node: Node) -> bool:
    """Whether a list or a map is null: empty text is, to fastjson2."""
    return node.kind == "null" or (node.value == "" and node.engine == "fastjson2")


def without_none(members: dict[str, Any]) -> dict[str, Any]:
    """The members that fastjson writes: null is left out."""
    return {name: value for name, value in members.items() if value is not None}


def not_null(reader: Callable[[Node], T | None]) -> Callable[[Node], T]:
    """For what a Java collection or a primitive cannot hold as null."""

    def read_value(node: Node) -> T:
        value = reader(node)
        if value is None:
            raise CoercionError("null where none can be", node)
        return value

    return read_value


def list_of(element: Callable[[Node], T], *, in_map: bool = False) -> Callable[[Node], list[T] | None]:
    """A list field, or a value of a map. An object is a list of one; fastjson 1 refuses it in a map."""

    def read_list(node: Node) -> list[T] | None:
        if is_no_collection(node):
            return None
        if node.kind == "object" and not (in_map and node.engine == "fastjson"):
            return [element(node)]
        if node.kind != "array":
            raise CoercionError(f"{node.kind} instead of a list", node)
        return [element(item) for item in node.elements]

    return read_list


def listed(found: Mapping[str, list[T] | None], name: str, node: Node) -> list[T]:
    """The list in a member of `node`; empty if there is none. Null, on which handlers fail, is refused."""
    value = found.get(name, [])
    if value is None:
        raise CoercionError(f"{name} is null", node)
    return value


def only_list(node: Node, name: str, value: Callable[[Node], T]) -> list[T]:
    """The list that is all there is in an object: it must be there, and not be null."""
    found = members(node, {name: list_of(value)})
    if name not in found:
        raise CoercionError(f"no {name}", node)
    return listed(found, name, node)


def map_of(value: Callable[[Node], T]) -> Callable[[Node], dict[str, T] | None]:
    """A map field with text as keys. To fastjson 1, an unquoted number is no text."""

    def read_map(node: Node) -> dict[str, T] | None:
        if is_no_collection(node):
            return None
        if node.kind != "object":
            raise CoercionError(f"{node.kind} instead of a map", node)
        found: dict[str, T] = {}
        for name, member in node.members:
            if node.engine == "fastjson" and (name.kind == "number" or (name.bare and name.value == "null")):
                raise CoercionError(f"{name.value} without quotes instead of a name", name)
            found[str(name.value)] = value(member)
        return found

    return read_map


def by_integer(node: Node, value: Callable[[Node], T]) -> dict[int, T]:
    """A map whose keys are numbers; null is an empty one."""
    if is_no_collection(node):
        return {}
    if node.kind != "object":
        raise CoercionError(f"{node.kind} instead of a map", node)
    found: dict[int, T] = {}
    for name, member in node.members:
        try:
            found[int(str(name.value))] = value(member)
        except ValueError as error:
            raise CoercionError(f"{str(name.value)[:40]!r} instead of a number as a key", name) from error
    return found


def strings_by_id(node: Node) -> dict[int, str]:
    """`brokerAddrs`: addresses by broker id."""
    return by_integer(node, not_null(as_string))


def integers_by_integer(node: Node) -> dict[int, int]:
    """`currIdMap`: physical queue ids by logical ones."""
    return by_integer(node, not_null(lambda queue: None if queue.kind == "null" else as_int32(queue)))


def longs_by_integer(node: Node) -> dict[int, int]:
    """`offsetTable`: offsets by queue id or delay level."""
    return by_integer(node, not_null(as_int64))


def strings(node: Node) -> list[str] | None:
    """A list of text."""
    return list_of(not_null(as_string))(node)


def strings_by_name(node: Node) -> dict[str, str] | None:
    """A map of text; entries that are null are left out."""
    found = map_of(as_string)(node)
    return None if found is None else {name: value for name, value in found.items() if value is not None}
