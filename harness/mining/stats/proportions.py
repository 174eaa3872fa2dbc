"""One proportion, two proportions, and many of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

__all__ = ["Interval", "fisher", "holm", "mcnemar", "newcombe", "rule_of_three", "wilson"]

_TIE = 1e-7
"""Two probabilities that differ by less than this part of them are taken for equal."""
_NOTHING = 1e-18
"""What is smaller than this part of a sum is not added any more."""


class Interval(NamedTuple):
    """From low to high, both included."""

    low: float
    high: float


def wilson(hits: int, of: int, confidence: float = 0.95) -> Interval:
    """Score interval of a proportion (Wilson 1927); all of 0 to 1 where nothing was tried."""
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
    """What a rate is at most, at 95 %, where none of so many failed (Hanley and Lippman-Hand 1983)."""
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
    """Exact two-sided p of as many pairs that failed only before, and only after (McNemar 1947; the binomial
    test of the pairs that differ).
    """
    if only_a < 0 or only_b < 0:
        raise ValueError(f"pairs cannot be fewer than none: {only_a} and {only_b}")
    pairs, least = only_a + only_b, min(only_a, only_b)
    if pairs == 0:
        return 1.0
    term = math.exp(_log_choose(pairs, least) - pairs * math.log(2))
    total = 0.0
    for count in range(least, -1, -1):
        total += term
        if term <= total * _NOTHING:
            break
        term *= count / (pairs - count + 1)
    return min(1.0, 2 * total)


def fisher(hits_a: int, of_a: int, hits_b: int, of_b: int) -> float:
    """Exact two-sided p of two proportions being one (Fisher 1934): the tables with these margins that are no
    likelier than this one.
    """
    _counted(hits_a, of_a)
    _counted(hits_b, of_b)
    hits, of = hits_a + hits_b, of_a + of_b
    least, most = max(0, hits - of_b), min(hits, of_a)
    whole = _log_choose(of, hits)

    logs = [
        _log_choose(of_a, count) + _log_choose(of_b, hits - count) - whole for count in range(least, most + 1)
    ]
    limit = logs[hits_a - least] + _TIE
    return min(1.0, math.fsum(math.exp(log) for log in logs if log <= limit))


def holm(chances: Sequence[float]) -> list[float]:
    """The p-values corrected for being so many (Holm 1979), in the order in which they are given."""
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


def _log_choose(of: int, count: int) -> float:
    return math.lgamma(of + 1) - math.lgamma(count + 1) - math.lgamma(of - count + 1)
