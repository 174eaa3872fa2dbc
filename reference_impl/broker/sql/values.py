"""What expressions of filters compare: text, numbers and truth, as Apache's Broker compares them.

1. A property is text. Compared with a number it must be one of the same kind, else the comparison fails, and
   with it the whole expression.
2. A whole number is an int of 32 bits if it fits, else one of 64 bits; so must be the text that is compared
   with it.

Source: ComparisonExpression#__compare of rocketmq-all-4.9.8 and rocketmq-all-5.3.3; Java's Integer#parseInt,
Long#parseLong, Double#valueOf, Double#compareTo, Boolean#valueOf.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Final, TypeAlias

Value: TypeAlias = str | bool | int | float

LONGEST: Final = 2**63 - 1
_LARGEST_INT: Final = 2**31 - 1
_BELOW: Final = -1
"""How values compare that cannot be compared."""
_BLANKS: Final = "".join(map(chr, range(0x21)))
_FLOAT: Final = re.compile(
    r"[+-]?(NaN|Infinity|((0[xX]([0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)"
    r"|([0-9]+\.?|[0-9]*\.[0-9]+)([eE][+-]?[0-9]+)?)[fFdD]?)"
)


class IncomparableError(Exception):
    """Values of which Apache's Broker makes an exception: the whole expression comes to nothing."""


def compare(left: Value, right: Value) -> int:
    """Below 0, 0 or above 0. Raises IncomparableError."""
    if isinstance(left, str):
        if isinstance(right, str):
            return (left > right) - (left < right)
        return _compare(_read(left, right), right)
    if not isinstance(right, str):
        return _compare(left, right)
    if isinstance(left, bool):
        raise IncomparableError(f"{left} and {right!r}")
    return _compare(left, _read(right, left))


def _compare(left: bool | int | float, right: bool | int | float) -> int:
    if isinstance(left, bool) is not isinstance(right, bool):
        return _BELOW
    if isinstance(left, int) and isinstance(right, int):
        return (left > right) - (left < right)
    return _compare_floats(float(left), float(right))


def compare_as_floats(left: str, right: str) -> int:
    """The order of two properties. Raises IncomparableError."""
    return _compare_floats(_float(left), _float(right))


def whole(text: str, largest: int) -> int:
    """A whole number in decimal digits of any script. Raises IncomparableError."""
    sign, digits = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    found = 0
    for digit in digits:
        value = unicodedata.decimal(digit, None) if digit <= "\uffff" else None
        if value is None or found > largest:
            raise IncomparableError(f"{text!r} is no whole number")
        found = found * 10 + value
    if not digits or found > largest + (sign == "-"):
        raise IncomparableError(f"{text!r} is no whole number up to {largest}")
    return -found if sign == "-" else found


def _read(text: str, beside: bool | int | float) -> bool | int | float:
    """A property as a value of the kind that it is compared with. Raises IncomparableError."""
    if isinstance(beside, bool):
        return text.lower() == "true"
    if isinstance(beside, float):
        return _float(text)
    return whole(text, _LARGEST_INT if abs(beside) <= _LARGEST_INT else LONGEST)


def _float(text: str) -> float:
    number = text.strip(_BLANKS)
    if not _FLOAT.fullmatch(number):
        raise IncomparableError(f"{text!r} is no number")
    if "x" not in number.lower():
        return float(number.rstrip("fFdD") if number[-1:] in "fFdD" else number)
    try:
        return float.fromhex(number.rstrip("fFdD"))
    except OverflowError:
        return -math.inf if number.startswith("-") else math.inf


def _compare_floats(left: float, right: float) -> int:
    """Java's total order: -0.0 is below 0.0, and nothing is above NaN."""
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) - math.isnan(right)
    if left == right == 0:
        left, right = math.copysign(1, left), math.copysign(1, right)
    return (left > right) - (left < right)
