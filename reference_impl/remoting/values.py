"""Settings as they stand in a `.properties` file: text to value and back, as Java does it.

Source: MixAll#properties2Object of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

import re
from typing import Any, TypeAlias

import msgspec

from .errors import ConfigError

Value: TypeAlias = str | int | bool

_WHITE = "".join(map(chr, range(ord(" ") + 1)))
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NUMBER = re.compile(r"[+-]?\d{1,400}")


class Limits(msgspec.Struct, frozen=True):
    """What a number may be."""

    bits: int = 31
    least: int | None = None


def number(text: str, bits: int = 31) -> int | None:
    """What Java's `parseInt` (31 bits) or `parseLong` (63) makes of a text; None: it refuses it."""
    if not _NUMBER.fullmatch(text):
        return None
    value = int(text)
    return value if -(1 << bits) <= value < 1 << bits else None


def trimmed(text: str) -> str:
    """What Java's `String#trim` leaves."""
    return text.strip(_WHITE)


def retold(kind: str, text: str, *, trims: bool) -> str | None:
    """How a setting of a kind (see `harness.wire.broker_settings`) is shown once it is changed to a text;
    None: the old value stays.
    """
    word = trimmed(text)
    match kind:
        case "text":
            return word if trims else text
        case "boolean":
            return shown(text.lower() == "true")
        case "int" | "long":
            whole = number(text, 31 if kind == "int" else 63)
            return None if whole is None else str(whole)
        case "double":
            return str(float(word)) if _DECIMAL.fullmatch(word) else None
        case _:
            return word if word in kind.split("|") else None


def shown(value: Value) -> str:
    """A value as Java prints it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_value(key: str, given: str, kind: Any, *, trims: bool, limits: Limits) -> Value:
    """The value of one setting. Raises ConfigError for what is not of its kind or beyond its limits.

    `kind` is bool, int or anything else for a string; `trims` is whether the line trims strings.
    """
    text = trimmed(given)
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise ConfigError(f"{key}={text}: expected true or false")
        return text.lower() == "true"
    if kind is int:
        found = number(text, limits.bits)
        if found is None:
            raise ConfigError(f"{key}={text}: expected a whole number of {limits.bits} bits")
        if limits.least is not None and found < limits.least:
            raise ConfigError(f"{key}={text}: expected at least {limits.least}")
        if key == "listenPort" and found > 65535:
            raise ConfigError(f"{key}={text}: expected a port from 0 to 65535")
        return found
    return text if trims else given
