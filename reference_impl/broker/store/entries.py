"""What consume queues and key index are made of: entries of 20 bytes that begin with an offset of the log.

Entries are in the order of the log, so that one is found by halving.
"""

from __future__ import annotations

from bisect import bisect_left

from .segments import Segments

ENTRY_SIZE = 20


def physical_at(segments: Segments, number: int) -> int:
    """The offset of the log in the entry with that number (from the first that there ever was)."""
    return int.from_bytes(segments.read(number * ENTRY_SIZE, 8), "big")


def first_from(segments: Segments, low: int, high: int, physical_offset: int) -> int:
    """The first entry from `low` on with that offset of the log or a later one; `high` if there is none."""
    numbers = range(low, high)
    return low + bisect_left(numbers, physical_offset, key=lambda number: physical_at(segments, number))
