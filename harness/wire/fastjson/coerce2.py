"""What fastjson2 makes of a value for a Java field of a given type, where it differs from fastjson 1.

Same contract as `coerce`, which sends values of fastjson2 here. Source: `JSONReaderUTF8#readInt32Value`,
`#readString`, `ObjectReaderImplEnum` of fastjson2 2.0.59, run on the same text. Not reproduced: objects
that stand for a number by a member `val` or `value` (0 here), and texts that begin with a number. Those are
refused here; fastjson2 refuses some ("1_", "123_4") and reads others as far as the number goes ("1_0", "12x",
"1e"): their length decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from .parse import Node

_WRITTEN: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_LONGEST: Final = 40
"""More digits than any integer has; zeros before them do not count."""


def whole(text: str) -> int:
    """What decimal digits say; of very many, a number that no Java integer can hold."""
    number = int(text.lstrip("+-0")[:_LONGEST] or "0")
    return -number if text.startswith("-") else number


def integer(node: Node, bits: int) -> int | None:
    """The integer, None for what leaves nothing; raises ValueError with what is wrong."""
    match node.kind:
        case "null":
            return 0
        case "true" | "false":
            return int(node.kind == "true")
        case "number":
            return _from_text(node.text, bits)
        case "string":
            text = str(node.value)
            if text in ("", "null"):
                return 0
            if text in ("true", "false"):
                return int(text == "true")
            if "," in text:
                return _grouped(text, bits)
            if not _WRITTEN.fullmatch(text) or len(text.lstrip("+-0")) > _LONGEST:
                raise ValueError(f"{text[:40]!r} is no number")
            return _from_text(text, bits)
        case "array" if len(node.elements) == 1 and node.elements[0].kind in ("number", "string"):
            return integer(node.elements[0], bits)
        case "object" if bits == 32:
            return 0
        case _:
            raise ValueError(f"{node.kind} instead of a number")


def _grouped(text: str, bits: int) -> int:
    """An integer with commas in it, the last of which is before its last three digits."""
    digits = text.replace(",", "")
    if text[-4:-3] != "," or not _WHOLE.fullmatch(digits):
        raise ValueError(f"{text[:40]!r} is no number")
    return _from_text(digits, bits)


def _from_text(text: str, bits: int) -> int:
    least, most = -(1 << bits - 1), (1 << bits - 1) - 1
    if _WHOLE.fullmatch(text):
        number = whole(text)
        if not least <= number <= most:
            raise ValueError(f"{text[:40]} does not fit into int{bits}")
        return number
    mantissa, _, exponent = text.lower().partition("e")
    if exponent:
        value = float(text)
        return max(least, min(most, int(value))) if math.isfinite(value) else (most if value > 0 else least)
    half = 1 << bits - 1
    return (int(Decimal(mantissa)) + half) % (2 * half) - half


def enum_name(node: Node, names: Sequence[str]) -> str | None:
    """The name of an enum constant; raises ValueError with what is wrong."""
    match node.kind:
        case "null":
            return None
        case "string":
            text = str(node.value)
            if text in names:
                return text
            folded = _folded(text)
            found = next((name for name in names if _folded(name) == folded), None)
            if found is None and _WHOLE.fullmatch(text) and 0 <= _from_text(text, 32) < len(names):
                return names[_from_text(text, 32)]
            return found
        case "number":
            ordinal = _from_text(node.text, 32)
            if 0 <= ordinal < len(names):
                return names[ordinal]
            raise ValueError(f"ordinal {ordinal} has no name")
        case _:
            raise ValueError(f"{node.kind} instead of a name")


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def number_text(node: Node) -> str:
    """The text of a number: digits as they are written, but a number with an exponent other than 0 is a
    double.
    """
    mantissa, _, exponent = node.text.lower().partition("e")
    if exponent.strip("+-0"):
        return _java_double(float(node.text) + 0.0)  # a zero loses its sign
    return decimal_text(mantissa)


def decimal_text(text: str) -> str:
    """As `BigDecimal.toString` writes it: a zero has no sign."""
    number = Decimal(text)
    return str(number if number else number.copy_abs())


def _java_double(value: float) -> str:
    """As `Double.toString` writes it."""
    if not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        text = f"{Decimal(repr(value)):f}"
        return text if "." in text else text + ".0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    fraction = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{fraction}E{exponent + len(digits) - 1}"
