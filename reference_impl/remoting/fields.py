"""Reading ext fields the way that Apache's server reads them into its header classes.

1. A field that is absent, null, or cannot be read as its type is None: nothing is refused here.
2. Numbers follow Java's `parseInt`/`parseLong`: an optional sign, digits, no blanks, in range. Booleans:
   `true` in any case is true, every other text is false.

Source: RemotingCommand#decodeCommandCustomHeader of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

import re
from collections.abc import Mapping
from typing import TypeAlias

Ext: TypeAlias = Mapping[str, str | None]

_NUMBER = re.compile(r"[+-]?[0-9]{1,400}")


def text(ext: Ext | None, name: str) -> str | None:
    """A string field."""
    return None if ext is None else ext.get(name)


def part_of_key(ext: Ext | None, name: str) -> str:
    """A string field that becomes part of a key: Java writes a missing one as `null`."""
    value = text(ext, name)
    return "null" if value is None else value


def int32(ext: Ext | None, name: str) -> int | None:
    """An `int` or `Integer` field."""
    return _number(text(ext, name), 31)


def int64(ext: Ext | None, name: str) -> int | None:
    """A `long` or `Long` field."""
    return _number(text(ext, name), 63)


def boolean(ext: Ext | None, name: str) -> bool | None:
    """A `boolean` or `Boolean` field."""
    value = text(ext, name)
    return None if value is None else value.lower() == "true"


def _number(value: str | None, bits: int) -> int | None:
    if value is None or not _NUMBER.fullmatch(value):
        return None
    number = int(value)
    return number if -(1 << bits) <= number < 1 << bits else None
