"""Addresses that are let in, as the files of access control write them.

    192.168.0.7                 one address
    192.168.0.7,192.168.1.8     several
    192.168.0.{7,8}             several that differ in their last part
    192.168.0-3.*               ranges; * is every number
    *                           all

IPv6 addresses have parts between colons, in hexadecimal. A pattern of blanks is no address.

Source: RemoteAddressStrategyFactory of rocketmq-all-4.9.8.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final, TypeAlias

_ALL: Final = frozenset({"*", "*.*.*.*", "*:*:*:*:*:*:*:*"})
_SET: Final = re.compile(r"(.*[.:])\{([^{}]*)\}")

Parts: TypeAlias = tuple[range, ...]
"""The numbers that each part of an address may be: of 4 parts, or of 8."""


class Addresses:
    """A set of IP addresses. Raises ValueError for a pattern that cannot be read."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._all = pattern.strip() in _ALL
        self._several = [] if self._all else [_parts(one) for one in _split(pattern.strip())]

    def __contains__(self, address: object) -> bool:
        """Whether an IP address is among them."""
        if self._all:
            return True
        try:
            numbers = _numbers(str(address))
        except ValueError:
            return False
        return any(
            len(parts) == len(numbers) and all(map(range.__contains__, parts, numbers))
            for parts in self._several
        )


def _split(pattern: str) -> list[str]:
    """The patterns that one stands for."""
    if not pattern:
        return []
    if found := _SET.fullmatch(pattern):
        return [found[1] + last.strip() for last in found[2].split(",")]
    return [one.strip() for one in pattern.split(",")]


def _numbers(address: str) -> list[int]:
    found = ipaddress.ip_address(address)
    size = 1 if found.version == 4 else 2
    data = found.packed
    return [int.from_bytes(data[at : at + size]) for at in range(0, len(data), size)]


def _parts(pattern: str) -> Parts:
    try:
        if ":" not in pattern:
            return _ranges(pattern.split("."), 4, 10)
        head, double, tail = pattern.partition("::")
        words = head.split(":") if head else []
        if double:
            rest = tail.split(":") if tail else []
            words += ["0"] * (8 - len(words) - len(rest)) + rest
        return _ranges(words, 8, 16)
    except ValueError:
        raise ValueError(
            f"{pattern}: expected an address such as 10.0.0.7, 10.0.0.{{7,8}}, 10.0.0-3.* or *"
        ) from None


def _ranges(words: list[str], count: int, base: int) -> Parts:
    if len(words) != count:
        raise ValueError(words)
    return tuple(_range(word.strip(), 256 if count == 4 else 65536, base) for word in words)


def _range(word: str, end: int, base: int) -> range:
    if word == "*":
        return range(end)
    least, dash, most = word.partition("-")
    found = range(int(least, base), int(most if dash else least, base) + 1)
    if not (0 <= found.start < found.stop <= end):
        raise ValueError(word)
    return found
