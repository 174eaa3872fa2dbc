"""Slopes, with an interval that allows for the steps of a run not being independent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from scipy.stats import t

from harness.mining.stats.proportions import Interval

BATCHES = 16
"""The number of batches that runs are dealt into; a slope is measured in each."""


class Sums(NamedTuple):
    """Sums of pairs (x, y): all that a least-squares line needs."""

    n: int
    x: float
    y: float
    xx: float
    xy: float


def slope(sums: Sums) -> float | None:
    """Slope of the least-squares line; None where all x are equal."""
    if sums.n < 2:
        return None
    spread = sums.xx - sums.x * sums.x / sums.n
    if spread <= 1e-9 * abs(sums.xx):
        return None
    return (sums.xy - sums.x * sums.y / sums.n) / spread


def slope_of_batches(batches: Sequence[Sums]) -> tuple[float, Interval] | None:
    """The mean slope of `BATCHES` batches of runs and its interval (the method of batch means, Student's t),
    at 99.9 %, since many rules are tested.

    None where a batch has no slope: too few runs for an interval.
    """
    slopes = [one for one in map(slope, batches) if one is not None]
    if len(slopes) != BATCHES:
        return None
    mean = math.fsum(slopes) / BATCHES
    variance = math.fsum((one - mean) ** 2 for one in slopes) / (BATCHES - 1)
    half = t.ppf(0.9995, BATCHES - 1) * math.sqrt(variance / BATCHES)
    return mean, Interval(float(mean - half), float(mean + half))
