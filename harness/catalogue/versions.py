"""Versions and ranges of them: of servers (`5.3.3`) and of release lines (`5.3`)."""

from __future__ import annotations

import re

Version = tuple[int, ...]


def numbers(version: str) -> Version:
    """`5.3.3` -> (5, 3, 3). What follows the numbers (`-SNAPSHOT`) is left out."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def within(version: str, first: str | None, last: str | None) -> bool:
    """Whether a version lies between two others, both of them included; a bound that is None is open."""
    number = numbers(version)
    return (first is None or numbers(first) <= number) and (last is None or number <= numbers(last))
