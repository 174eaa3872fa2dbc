"""What two normal forms say differently: facts, and the kinds of difference that they come to.

- A fact is a path of words, the value last; names are given by their symbols, so that it can be seen which
  names it is about. Values have types: the text ``"1"`` is not the number ``1``.
- A kind is what is left of facts without names, numbers and values: two differences of one kind are news
  once. An answer of another code is another answer altogether, so a code is the only kind beside nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from harness.program.names import Names
from harness.wire.code_names import response_name

Normal = dict[str, Any]
"""An answer: ``outcome``, ``code``, ``remark``, ``ext``, ``flag``, ``language``, ``version``,
``serialization``, ``dialect``, ``body``.
"""
Fact = tuple[str, ...]

FIELDS = (
    "outcome",
    "code",
    "remark",
    "ext",
    "flag",
    "language",
    "version",
    "serialization",
    "dialect",
    "body",
)
_EMPTY = ("{}", "[]", "nothing")
_NOTHING = ("nothing",)
_AGAIN = "again"
"""Ends a fact about one of equal members of a list, from the second on."""
_READS_AS_ANOTHER = re.compile(r"-?\d+(\.\d+)?|true|false|nothing|\{\}|\[\]")
"""Texts that would read as values of another type."""
_NUMBER = re.compile(r"-?\d+")
_ADDRESS = re.compile(r"a\d+\b.*")


class Difference(msgspec.Struct, frozen=True):
    """One field that is not the same. ``a`` and ``b`` hold what only that side says."""

    field: str
    a: tuple[Fact, ...]
    b: tuple[Fact, ...]
    kinds: tuple[str, ...] = ()

    def facts(self) -> Iterator[Fact]:
        """Everything that only one side says."""
        yield from self.a
        yield from self.b


def differences(a: Normal, b: Normal, names: Names) -> tuple[Difference, ...]:
    """What the two sides say differently, field by field."""
    if a == b:
        return ()
    found = []
    for field in FIELDS:
        ours, theirs = a.get(field), b.get(field)
        if ours == theirs and type(ours) is type(theirs):
            continue
        left, right = set(_facts(ours, (), names)), set(_facts(theirs, (), names))
        only_a, only_b = _said_only(left, right), _said_only(right, left)
        if only_a or only_b:
            kinds = _pair(field, ours, theirs) or _kinds(field, left, right, set(names.made.values()))
            found.append(Difference(field, only_a, only_b, kinds))
        elif ours != theirs:  # equal but for an order that counts
            both = ((names.symbols(str(ours)),),), ((names.symbols(str(theirs)),),)
            found.append(Difference(field, *both, (f"{field} in another order",)))
    return tuple(found)


def kinds_of(found: Iterable[Difference]) -> tuple[str, ...]:
    """The kinds of all that differs in one answer."""
    by_field = {one.field: one.kinds for one in found}
    for field in ("outcome", "code"):
        if field in by_field:
            return by_field[field]
    kinds = dict.fromkeys(kind for kinds in by_field.values() for kind in kinds)
    return tuple(kinds) or tuple(f"another {field}" for field in by_field)


# --- facts --------------------------------------------------------------------------------------------------


def _said_only(by: set[Fact], other: set[Fact]) -> tuple[Fact, ...]:
    """That something is empty is no fact of its own where the other side says what is in it."""
    rest = other - by
    return tuple(
        sorted(
            fact
            for fact in by - other
            if fact[-1] not in _EMPTY or not any(one[: len(fact) - 1] == fact[:-1] for one in rest)
        )
    )


def _facts(value: Any, path: Fact, names: Names) -> Iterator[Fact]:
    match value:
        case dict():
            if not value:
                yield (*path, "{}")
            for name, item in value.items():
                yield from _facts(item, (*path, names.symbols(str(name))), names)
        case list():
            yield from _facts_of_list(value, path, names)
        case None:
            yield (*path, "nothing")
        case bool():
            yield (*path, "true" if value else "false")
        case str():
            text = names.symbols(value)
            yield (*path, f'"{text}"' if _READS_AS_ANOTHER.fullmatch(text) else text)
        case _:
            yield (*path, names.symbols(str(value)))


def _facts_of_list(value: list[Any], path: Fact, names: Names) -> Iterator[Fact]:
    if not value:
        yield (*path, "[]")
    seen: set[Fact] = set()
    for item in value:
        inside = (*path, names.symbols(_broker_name(item))) if isinstance(item, dict) else path
        for fact in _facts(item, inside, names):
            yield (*fact, _AGAIN) if fact in seen else fact
            seen.add(fact)


def _broker_name(item: Any) -> str:
    return str(item.get("brokerName")) if isinstance(item, dict) else ""


# --- kinds --------------------------------------------------------------------------------------------------


def _pair(field: str, a: Any, b: Any) -> tuple[str, ...]:
    """The kind of a field that is one value on both sides."""
    if field == "code":
        return (f"A {said_code(a)} / B {said_code(b)}",) if a is not None and b is not None else ("code",)
    if field == "outcome":
        return (f"A {a} / B {b}",)
    return () if field in ("ext", "body") else (f"another {field}",)


def said_code(code: int) -> str:
    """``TOPIC_NOT_EXIST (17)``."""
    name = response_name(code)
    return f"{name} ({code})" if name else f"code {code}"


def _kinds(field: str, a: set[Fact], b: set[Fact], symbols: set[str]) -> tuple[str, ...]:
    found = {
        **dict.fromkeys(_one_sided(a, b, "A", symbols)),
        **dict.fromkeys(_one_sided(b, a, "B", symbols)),
    }
    return tuple(f"{field} {kind}".replace(" : ", ": ") for kind in sorted(found))


def _one_sided(by: set[Fact], other: set[Fact], letter: str, symbols: set[str]) -> Iterator[str]:
    """What the facts of one side that the other does not have come to."""
    known = {fact[:length] for fact in other - {_NOTHING} for length in range(len(fact) + 1)}
    leaves: dict[Fact, int] = {}
    for fact in by:
        leaves[fact[:-1]] = leaves.get(fact[:-1], 0) + 1
    for fact in by - other - {_NOTHING}:
        whole = next((length for length in range(len(fact)) if fact[:length] not in known), len(fact))
        if whole < len(fact):
            where = _without_names(fact[:whole], symbols)
            yield f"{where}: only {letter} has it" if where else f": only {letter} has one"
        elif fact[-1] == _AGAIN:
            yield f"{_without_names(fact[:-2], symbols)}: {letter} has one twice"
        elif leaves[fact[:-1]] == 1 and fact[-1] not in _EMPTY and not _is_named(fact[-1], symbols):
            yield f"{_without_names(fact[:-1], symbols)}: another value"
        elif fact[-1] in _EMPTY:
            yield f"{_without_names(fact[:-1], symbols)}: {letter} has {fact[-1]}"
        else:
            yield f"{_without_names(fact, symbols)}: only {letter} has it"


def _is_named(word: str, symbols: set[str]) -> bool:
    return word in symbols or _ADDRESS.fullmatch(word) is not None


def _without_names(path: Fact, symbols: set[str]) -> str:
    return "/".join(
        "*" if _is_named(word, symbols) else "n" if _NUMBER.fullmatch(word) else word for word in path
    )
