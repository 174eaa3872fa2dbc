"""The ways into a text: its value, its tree, the place of one value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .parse import Engine, Node, Parser, Value
from .parse2 import Parser2

_PARSERS: Final[dict[Engine, type[Parser]]] = {"fastjson": Parser, "fastjson2": Parser2}


def tree(
    data: str | bytes, engine: Engine = "fastjson", at_most: int | None = None
) -> tuple[Node, Sequence[tuple[int, int]]]:
    """The value with the place of everything, and the ranges of bytes (the first of each string) that are no
    UTF-8 (none for fastjson2, which refuses them).

    Raises `ParseError` for what does not parse, and for a document of more than `at_most` values.
    """
    parser = _PARSERS[engine](data, at_most)
    return parser.document(), parser.replaced


def parse(data: str | bytes) -> Value:
    """The value as plain Python; names are str, also numeric ones. Raises `ParseError`."""
    return tree(data)[0].to_value()


def locate(data: str | bytes, path: Sequence[str | int]) -> tuple[int, int] | None:
    """Where the value at `path` (names of members, indexes of elements) lies, or None where there is none.

    Of names that occur twice the last counts. Raises `ParseError` for what does not parse at all.
    """
    node = tree(data)[0]
    for step in path:
        found: Node | None = None
        if node.kind == "object":
            for name, member in node.members:
                if name.value == str(step):
                    found = member
        elif (
            node.kind == "array"
            and isinstance(step, int)
            and -len(node.elements) <= step < len(node.elements)
        ):
            found = node.elements[step]
        if found is None:
            return None
        node = found
    return node.start, node.end
