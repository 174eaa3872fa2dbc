"""Which messages pass a filter by SQL92.

- A comparison with a property that a message does not have is unknown, and what is unknown does not pass.
- A comparison of a property that is no number with a number fails, and with it the whole filter.
- Texts of numbers are read as far as Java's and Python's agree: programs send no others.

Source: ComparisonExpression, LogicExpression, UnaryExpression, ExpressionMessageFilter (4.9.8, 5.3.3).
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.program.broker.filters import (
    Alone,
    Between,
    Both,
    Compare,
    DeniedName,
    Either,
    Filter,
    HasText,
    Missing,
    Not,
    OneOf,
    Pair,
    Sign,
    Spelled,
)

_SMALL = range(-(1 << 31), 1 << 31)
_LARGE = range(-(1 << 63), 1 << 63)


class _FailedError(Exception):
    """A comparison cannot be made."""


def passes(one: Filter, properties: Mapping[str, str]) -> bool:
    """Whether a message with these properties passes a filter."""
    try:
        return _value(one, properties) is True
    except _FailedError:
        return False


def _value(one: Filter, properties: Mapping[str, str]) -> bool | None:
    """What a filter says of a message; None: it is unknown."""
    match one:
        case Both() | Either():
            return _joined(one, properties)
        case Spelled():
            return _value(one.of, properties)
        case Not():
            value = _value(one.of, properties)
            return None if value is None else not value
        case Missing():
            return (one.name not in properties) is not one.denied
        case Pair():
            return _pair(one, properties)
    found = properties.get(getattr(one, "name", ""))
    match one:
        case HasText():
            return found is not None and _has_text(one, found) is not one.denied
        case _ if found is None:
            return None
        case Compare():
            return _compared(one.sign, found, one.value)
        case Between():
            is_inside = _compared(">=", found, one.low) and _compared("<=", found, one.high)
            return is_inside is not one.denied
        case OneOf():
            return (found in one.texts) is not one.denied
        case Alone():
            return False
        case DeniedName():
            return _denied_name(one)
    return None


def _joined(one: Both | Either, properties: Mapping[str, str]) -> bool | None:
    """AND and OR: a side that decides is enough, and behind one nothing is evaluated."""
    decisive = isinstance(one, Either)
    left = _value(one.left, properties)
    if left is decisive:
        return decisive
    right = _value(one.right, properties)
    if right is decisive:
        return decisive
    return None if left is None or right is None else not decisive


def _denied_name(one: DeniedName) -> bool:
    """A property alone is false, so that NOT makes it true; and that compares with no text."""
    if isinstance(one.value, str):
        raise _FailedError
    return one.value


def _pair(one: Pair, properties: Mapping[str, str]) -> bool | None:
    left, right = properties.get(one.name), properties.get(one.other)
    if one.sign in ("=", "<>"):
        if left is None and right is not None:
            return None
        return (left == right) is (one.sign == "=")
    return None if left is None or right is None else _holds(one.sign, _double(left), _double(right))


def _compared(sign: Sign, found: str, value: bool | int | float | str) -> bool:
    if isinstance(value, bool):
        return _holds(sign, found.lower() == "true", value)
    if isinstance(value, str):
        return _holds(sign, found, value)
    if isinstance(value, float):
        return _holds(sign, _double(found), value)
    return _holds(sign, _whole(found, _SMALL if value in _SMALL else _LARGE), value)


def _holds(sign: Sign, left: float | str, right: float | str) -> bool:
    if sign in ("=", "<>"):
        return (left == right) is (sign == "=")
    if isinstance(left, str) or isinstance(right, str):
        raise _FailedError
    order = (left > right) - (left < right)
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[sign]


def _whole(text: str, bounds: range) -> int:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()) or int(text) not in bounds:
        raise _FailedError
    return int(text)


def _double(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _FailedError from None


def _has_text(one: HasText, found: str) -> bool:
    if one.word == "CONTAINS":
        return one.text in found
    return found.startswith(one.text) if one.word == "STARTSWITH" else found.endswith(one.text)
