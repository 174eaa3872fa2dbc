"""Histograms with bins of equal width on a logarithmic scale: small, mergeable by adding, exact to 1 %.

Bin b holds the durations from e^(b/50) up to e^((b+1)/50) microseconds; bin -1 holds those below one. A
histogram maps bins to counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import accumulate
from typing import Literal

BINS = 50
"""Bins in which a duration grows by the factor e."""

Histogram = Mapping[int, int]
Size = Literal["none", "small", "medium", "large"]

_SIZES: tuple[tuple[float, Size], ...] = ((0.714, "large"), (0.638, "medium"), (0.556, "small"))


def bin_of(microseconds: float) -> int:
    """The bin of a duration."""
    return -1 if microseconds < 1 else math.floor(BINS * math.log(microseconds))


def edges(number: int) -> tuple[float, float]:
    """Where a bin begins and where the next one does, in microseconds."""
    if number < 0:
        return 0.0, 1.0
    return math.exp(number / BINS), math.exp((number + 1) / BINS)


def quantile(histogram: Histogram, share: float) -> float:
    """The duration, in microseconds, that this share does not exceed: the middle of the bin of the nearest
    rank, at most 1 % off.
    """
    total = sum(histogram.values())
    if not total or not 0 <= share <= 1:
        raise ValueError(f"expected a share of 0 to 1 of something, got {share} of {total}")
    rank = max(1, math.ceil(share * total))
    bins = sorted(histogram)
    for number, below in zip(bins, accumulate(histogram[one] for one in bins), strict=True):
        if below >= rank:
            return 0.5 if number < 0 else math.exp((number + 0.5) / BINS)
    raise AssertionError("counts of a histogram are at least 0")


def a12(one: Histogram, other: Histogram) -> float:
    """The chance that a duration of ``one`` is longer than one of ``other``, ties by half (Vargha and Delaney
    2000). Durations in one bin are ties.
    """
    of_one, of_other = sum(one.values()), sum(other.values())
    if not of_one or not of_other:
        raise ValueError("expected two histograms with something in each")
    shorter, twice = 0, 0
    for number in sorted(one.keys() | other.keys()):
        ties = other.get(number, 0)
        twice += one.get(number, 0) * (2 * shorter + ties)
        shorter += ties
    return twice / (2 * of_one * of_other)


def size_of(effect: float) -> Size:
    """The name of an A12 (Vargha and Delaney 2000, table 1)."""
    return next((size for limit, size in _SIZES if max(effect, 1 - effect) >= limit), "none")
