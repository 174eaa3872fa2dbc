"""Lengths of time as people write them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final, TypeAlias

from .problems import OptionError

Duration: TypeAlias = str | float | timedelta
"""`"90s"`, `"1h30m"`, `"500ms"`, seconds, or a timedelta."""

_UNITS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_PART: Final = r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*"
_MOST: Final = 2**53
_WHOLE: Final = re.compile(f"(?:{_PART})+")


def milliseconds(duration: Duration) -> int:
    """The length in ms, from 0 to 2**53. Raises OptionError."""
    if isinstance(duration, timedelta):
        found = duration.total_seconds() * 1_000
    elif isinstance(duration, str) and _WHOLE.fullmatch(duration.strip()):
        found = sum(float(number) * _UNITS[unit] for number, unit in re.findall(_PART, duration))
    elif isinstance(duration, int | float) and not isinstance(duration, bool) and duration < _MOST:
        found = duration * 1_000
    else:
        found = -1
    if not 0 <= found <= _MOST:
        raise OptionError(
            f"{duration!r} is no length of time: expected such as '90s', '1h30m', '500ms', seconds as a "
            "number, or a timedelta"
        )
    return round(found)
