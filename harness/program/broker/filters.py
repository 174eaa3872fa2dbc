"""Filters by SQL92 in programs: what they say as values, and the text that says it to a Broker.

The text has parentheses only where they are needed: AND binds closer than OR.
"""

from __future__ import annotations

import re
from typing import ClassVar, Literal, TypeAlias

import msgspec

_WORDS = re.compile(r"\b[A-Z]{2,}\b")
Sign: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]


class _Part(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="is", tag="part"):
    """A part of a filter."""


class Compare(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="compare"):
    """A property is compared with a constant."""

    name: str = "a"
    sign: Sign = "="
    value: bool | int | float | str = 1


class Pair(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="pair"):
    """Two properties are compared."""

    name: str = "a"
    sign: Sign = "="
    other: str = "b"


class Between(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="between"):
    name: str = "a"
    low: int = 1
    high: int = 5
    denied: bool = False


class OneOf(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="one-of"):
    name: str = "a"
    texts: tuple[str, ...] = ("1",)
    denied: bool = False


class Missing(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="missing"):
    """IS NULL."""

    name: str = "a"
    denied: bool = False


class HasText(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="has-text"):
    """A property has a text in it, or at one of its ends (5.x)."""

    name: str = "a"
    word: Literal["CONTAINS", "STARTSWITH", "ENDSWITH"] = "CONTAINS"
    text: str = "1"
    denied: bool = False


class Not(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="not"):
    of: Filter = Compare()


class Both(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="both"):
    """AND."""

    word: ClassVar = "AND"
    left: Filter = Compare()
    right: Filter = Compare()


class Either(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="either"):
    """OR."""

    word: ClassVar = "OR"
    left: Filter = Compare()
    right: Filter = Compare()


class Alone(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="alone"):
    """A property in the place of a condition."""

    name: str = "a"


class DeniedName(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="denied-name"):
    """NOT before a comparison without parentheses, which denies its property alone."""

    name: str = "a"
    value: bool | str = True


class Spelled(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="spelled"):
    """A filter whose words are in small letters, that has comments, or behind which something stands."""

    how: Literal["small", "comments", "rest"] = "small"
    of: Filter = Compare()


class Empty(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="empty"):
    """No text: a group that says it has no filter of that version."""


class Unreadable(_Part, frozen=True, omit_defaults=True, tag_field="is", tag="unreadable"):
    """A text that no Broker can compile."""

    text: str = "a = = 1"


_Simple: TypeAlias = Compare | Pair | Between | OneOf | Missing | HasText | Alone | DeniedName
Filter: TypeAlias = _Simple | Not | Both | Either | Spelled | Empty | Unreadable


def parts_of(one: Filter) -> tuple[Filter, ...]:
    """The filters that a filter is made of; none where it has no parts."""
    match one:
        case Not() | Spelled():
            return (one.of,)
        case Both() | Either():
            return (one.left, one.right)
    return ()


def text_of(one: Filter) -> str:
    """The expression that a request carries."""
    match one:
        case Compare():
            return f"{one.name} {one.sign} {_constant(one.value)}"
        case Pair():
            return f"{one.name} {one.sign} {one.other}"
        case Between():
            return f"{one.name} {_not(one.denied)}BETWEEN {one.low} AND {one.high}"
        case OneOf():
            return f"{one.name} {_not(one.denied)}IN ({', '.join(map(_constant, one.texts))})"
        case Missing():
            return f"{one.name} IS {_not(one.denied)}NULL"
        case HasText():
            return f"{one.name} {_not(one.denied)}{one.word} {_constant(one.text)}"
        case Not():
            return f"NOT ({text_of(one.of)})"
        case Both() | Either():
            return f"{_side(one, one.left)} {one.word} {_side(one, one.right)}"
        case Alone():
            return one.name
        case DeniedName():
            return f"NOT {one.name} = {_constant(one.value)}"
        case Spelled():
            return _spelled(one)
        case Empty():
            return ""
        case Unreadable():
            return one.text


def _side(whole: Both | Either, side: Filter) -> str:
    """A side of AND or OR: an OR below an AND has parentheses."""
    is_looser = isinstance(whole, Both) and isinstance(side, Either)
    return f"({text_of(side)})" if is_looser else text_of(side)


def _spelled(one: Spelled) -> str:
    text = text_of(one.of)
    if one.how == "rest":
        return f"{text} b = 1"
    if one.how == "comments":
        return f"/* b = 2 */\t{text} -- or not\n"
    return "'".join(part if at % 2 else _WORDS.sub(_small, part) for at, part in enumerate(text.split("'")))


def _small(word: re.Match[str]) -> str:
    return word[0].lower()


def _not(denied: bool) -> str:
    return "NOT " if denied else ""


def _constant(value: bool | int | float | str) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
