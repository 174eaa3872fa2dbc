"""Patterns for the parts of a reply, and the first difference between a pattern and a value.

* A pattern is a plain value (equality), a matcher, or a dict, list or tuple of patterns.
* `difference(pattern, actual)` is the only comparison: None, or the path to the first place that differs.
* Every pattern renders itself in one line (`show`), because that line is the "expected" of a report.
* A matcher refuses an argument that could never match anything: a case with a mistake must not load.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

import msgspec

from harness.trace import LINE_BREAK

Path: TypeAlias = tuple[Any, ...]  # keys of mappings and places in sequences

WIDTH = 400  # characters of one rendered value; longer ones are cut in the middle, with the number left out


@runtime_checkable
class Matcher(Protocol):
    """A pattern with a rule of its own."""

    def differs(self, actual: object) -> Path | None:
        """None if it matches, else the path to what does not."""

    def __str__(self) -> str:
        """One line for "expected"."""


_matchers: dict[type, bool] = {}  # the look at a protocol's methods is slow, and cases compare many values


def _is_matcher(value: object) -> TypeGuard[Matcher]:
    kind = type(value)
    if kind not in _matchers:
        _matchers[kind] = issubclass(kind, Matcher)
    return _matchers[kind]


class _Anything:
    def differs(self, actual: object) -> Path | None:
        return None

    def __str__(self) -> str:
        return "anything"

    __repr__ = __str__


class _Absent:
    """Matches what is not there: null, a missing key, no ext fields, no body."""

    def differs(self, actual: object) -> Path | None:
        return None if actual is None or actual in ({}, b"", _MISSING) else ()

    def __str__(self) -> str:
        return "absent"

    __repr__ = __str__


class _Missing:
    """Stands for a key that is not there, where a matcher is asked about it."""

    def __repr__(self) -> str:
        return "absent"


_MISSING = _Missing()
ANYTHING = _Anything()
ABSENT = _Absent()


class Matching:
    """A string in which the regular expression is found (anchor it for the whole string)."""

    def __init__(self, pattern: str) -> None:
        try:
            self._regex = re.compile(pattern)
        except re.error as error:
            raise ValueError(f"Matching({pattern!r}): not a regular expression: {error}") from error

    def differs(self, actual: object) -> Path | None:
        return None if isinstance(actual, str) and self._regex.search(actual) else ()

    def __str__(self) -> str:
        return f"text matching /{self._regex.pattern}/"

    __repr__ = __str__


class Containing:
    """A string that contains the text, or bytes that contain the bytes (a str is looked for in UTF-8)."""

    def __init__(self, text: str | bytes) -> None:
        if not text:
            raise ValueError("Containing: everything contains the empty text; say what must be in it")
        self._text = text

    def differs(self, actual: object) -> Path | None:
        wanted = self._text
        if isinstance(actual, bytes | bytearray | memoryview):
            wanted = wanted.encode() if isinstance(wanted, str) else wanted
            return None if wanted in bytes(actual) else ()
        if isinstance(actual, str) and isinstance(wanted, str):
            return None if wanted in actual else ()
        return ()

    def __str__(self) -> str:
        return f"containing {show(self._text)}"

    __repr__ = __str__


class Between:
    """A number from `least` to `most`, such as a time that passes while it is measured."""

    def __init__(self, least: float, most: float) -> None:
        if not least <= most:
            raise ValueError(f"Between: no number is from {least:g} to {most:g}")
        self._least, self._most = least, most

    def differs(self, actual: object) -> Path | None:
        if not isinstance(actual, int | float) or isinstance(actual, bool):
            return ()
        return None if self._least <= actual <= self._most else ()

    def __str__(self) -> str:
        return f"from {self._least:g} to {self._most:g}"

    __repr__ = __str__


class Including:
    """A mapping with at least these entries, or a collection with at least these items, in any order.

    An entry may be ABSENT: the key must then not be there.
    """

    def __init__(self, items: Mapping[Any, object] | Iterable[object]) -> None:
        if isinstance(items, str | bytes):
            raise ValueError("Including: takes a mapping or a collection; use Containing for text")
        self.items: dict[Any, object] | list[object] = (
            dict(items) if isinstance(items, Mapping) else list(items)
        )
        if not self.items:
            raise ValueError("Including: everything includes nothing; say what must be in it")

    def differs(self, actual: object) -> Path | None:
        if isinstance(self.items, dict):
            if not isinstance(actual, Mapping):
                return ()
            return _first(((key, item) for key, item in self.items.items()), actual)
        if isinstance(actual, str | bytes | Mapping) or not isinstance(actual, Iterable):
            return ()
        present = list(actual)
        for item in self.items:
            if not any(difference(item, one) is None for one in present):
                return ()
        return None

    def __str__(self) -> str:
        return show(self)

    __repr__ = __str__


def difference(pattern: object, actual: object) -> Path | None:
    """None if `actual` is as `pattern` says, else the path to the first difference (empty: the value itself).

    Numbers of different kinds are not equal here: True is not 1, because on the wire they are not.
    """
    if _is_matcher(pattern):
        return pattern.differs(actual)
    if isinstance(pattern, Mapping):
        if not isinstance(actual, Mapping):
            return ()
        for key in actual:
            if key not in pattern:
                return (key,)
        return _first(pattern.items(), actual)
    if isinstance(pattern, list | tuple):
        if not isinstance(actual, list | tuple):
            return ()
        for index, item in enumerate(pattern):
            if index >= len(actual):
                return (index,)
            deeper = difference(item, actual[index])
            if deeper is not None:
                return (index, *deeper)
        return None if len(actual) == len(pattern) else (len(pattern),)
    if isinstance(pattern, bool) is not isinstance(actual, bool):
        return ()
    return None if pattern == actual else ()


def _first(items: Iterable[tuple[Any, object]], actual: Mapping[Any, object]) -> Path | None:
    for key, item in items:
        found = actual.get(key, _MISSING)
        if found is _MISSING and item is not ABSENT:
            return (key,)
        deeper = difference(item, found)
        if deeper is not None:
            return (key, *deeper)
    return None


def show(value: object, added: Path = (), columns: tuple[str, ...] = ()) -> str:
    """A pattern or a value in one line, never longer than about WIDTH characters.

    ``added`` is the path to what should not be there: if that is null, it is called so, and not absent.
    ``columns`` are the names of what tuples of this length contain.
    """
    return _cut(_plain(value, added, columns))


def is_cut(value: object, columns: tuple[str, ...] = ()) -> bool:
    """Whether `show` leaves something out."""
    return len(_plain(value, (), columns)) > WIDTH


def below(value: object, step: object, nothing: object = ABSENT) -> object:
    """What a step leads to in a pattern or a value; ``nothing`` where that is not there."""
    if isinstance(value, Including):
        value = value.items
    if isinstance(value, Mapping):
        return value.get(step, nothing)
    if isinstance(value, list | tuple) and isinstance(step, int) and step < len(value):
        return value[step]
    return nothing


def _plain(value: object, added: Path = (), columns: tuple[str, ...] = ()) -> str:
    if isinstance(value, Including):
        return f"including {_plain(value.items, (), columns)}"
    if _is_matcher(value):
        return str(value)
    if value is None:
        return "absent"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r")
        return '"' + escaped.replace("\n", LINE_BREAK) + '"'
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes(bytes(value))
    if isinstance(value, msgspec.Struct):
        names = value.__struct_encode_fields__
        value = dict(zip(names, (getattr(value, name) for name in value.__struct_fields__), strict=True))
    if isinstance(value, tuple) and columns and len(value) == len(columns):
        return (
            "{" + ", ".join(f"{name}: {_plain(one)}" for name, one in zip(columns, value, strict=True)) + "}"
        )
    if isinstance(value, Mapping):
        inner = ", ".join(
            f"{key if isinstance(key, str | int) else _plain(key)}: {_item(key, item, added, columns)}"
            for key, item in value.items()
        )
        return "{" + inner + "}"
    if isinstance(value, list | tuple):
        items = (_item(index, item, added, columns) for index, item in enumerate(value))
        return "[" + ", ".join(items) + "]"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(_plain(item) for item in value)) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Enum):
        return f"{value.name} ({value.value})"
    return str(value)


def _item(step: object, item: object, added: Path, columns: tuple[str, ...]) -> str:
    if item is None and added == (step,):
        return "null"
    return _plain(item, added[1:] if added[:1] == (step,) else (), columns)


def _bytes(data: bytes) -> str:
    if not data:
        return "no bytes"
    try:
        text = data.decode().replace("\n", LINE_BREAK)
    except UnicodeDecodeError:
        return f"{len(data)} bytes {data.hex()}"
    return text if text.isprintable() else f"{len(data)} bytes {data!r}"


def _cut(text: str) -> str:
    if len(text) <= WIDTH:
        return text
    half = WIDTH // 2
    return f"{text[:half]} …({len(text) - 2 * half} more characters)… {text[-half:]}"


def at(path: Path) -> str:
    """A path as people write it: `brokers["b-1"][0]`; empty for the empty path."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif isinstance(step, str) and step.isidentifier():
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f'["{step}"]')
    return "".join(parts)
