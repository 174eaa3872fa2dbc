"""One proportion, two proportions, and many of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

from scipy.stats import binomtest, fisher_exact


class Interval(NamedTuple):
    """From low to high, both included."""

    low: float
    high: float


def wilson(hits: int, of: int, confidence: float = 0.95) -> Interval:
    """Score interval of a proportion (Wilson 1927); all of 0 to 1 where nothing was tried.

    By hand, because a table has tens of thousands: SciPy takes a millisecond for each.
    """
    _counted(hits, of)
    if of == 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, square = hits / of, z * z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    high = 1.0 if hits == of else min(1.0, middle + half)
    return Interval(low, high)


def rule_of_three(of: int) -> float:
    """Upper bound of a rate, at 95 %, where none of ``of`` failed (Hanley and Lippman-Hand 1983)."""
    _counted(0, of)
    return min(1.0, 3 / of) if of else 1.0


def newcombe(hits_a: int, of_a: int, hits_b: int, of_b: int) -> Interval:
    """Interval of the proportion of b less that of a, unpaired (Newcombe 1998, method 10)."""
    if of_a == 0 or of_b == 0:
        return Interval(-1.0, 1.0)
    a, b = hits_a / of_a, hits_b / of_b
    low_a, high_a = wilson(hits_a, of_a)
    low_b, high_b = wilson(hits_b, of_b)
    return Interval(
        b - a - math.hypot(b - low_b, high_a - a),
        b - a + math.hypot(high_b - b, a - low_a),
    )


def mcnemar(only_a: int, only_b: int) -> float:
    """Exact two-sided p of as many pairs that failed only before, and only after (McNemar 1947): the binomial
    test of the pairs that differ.
    """
    if only_a < 0 or only_b < 0:
        raise ValueError(f"expected counts of at least 0, got {only_a} and {only_b}")
    return float(binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0


def fisher(hits_a: int, of_a: int, hits_b: int, of_b: int) -> float:
    """Exact two-sided p of two proportions being equal (Fisher 1934)."""
    _counted(hits_a, of_a)
    _counted(hits_b, of_b)
    return float(fisher_exact([[hits_a, of_a - hits_a], [hits_b, of_b - hits_b]]).pvalue)


def holm(chances: Sequence[float]) -> list[float]:
    """The p-values corrected for their number (Holm 1979), in the given order."""
    order = sorted(range(len(chances)), key=lambda index: chances[index])
    corrected = [0.0] * len(chances)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, chances[index] * (len(chances) - rank)))
        corrected[index] = highest
    return corrected


def _counted(hits: int, of: int) -> None:
    if not 0 <= hits <= of:
        raise ValueError(f"expected a count of at least 0 and at most {of}, got {hits}")
