"""Slopes, with an interval that knows that the steps of a run are no independent measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from harness.mining.stats.proportions import Interval

__all__ = ["BATCHES", "Sums", "slope", "slope_of_batches"]

BATCHES = 16
"""Runs are dealt into so many batches; a slope is measured in each."""
_T = 4.0727651959037905
"""Student's t at 99.95 % with one degree of freedom fewer than there are batches."""


class Sums(NamedTuple):
    """Of pairs (x, y): all that a least-squares line needs."""

    n: int
    x: float
    y: float
    xx: float
    xy: float


def slope(sums: Sums) -> float | None:
    """Of the least-squares line; None where all x are one."""
    if sums.n < 2:
        return None
    spread = sums.xx - sums.x * sums.x / sums.n
    if spread <= 1e-9 * abs(sums.xx):
        return None
    return (sums.xy - sums.x * sums.y / sums.n) / spread


def slope_of_batches(batches: Sequence[Sums]) -> tuple[float, Interval] | None:
    """The mean slope of `BATCHES` batches of runs and its interval (the method of batch means, Student's t),
    at 99.9 %, since there are many rules to ask of.

    None where there are not as many batches with a slope: too few runs to say how sure it is.
    """
    slopes = [one for one in map(slope, batches) if one is not None]
    if len(slopes) != BATCHES:
        return None
    mean = math.fsum(slopes) / BATCHES
    variance = math.fsum((one - mean) ** 2 for one in slopes) / (BATCHES - 1)
    half = _T * math.sqrt(variance / BATCHES)
    return mean, Interval(mean - half, mean + half)
