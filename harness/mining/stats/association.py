"""Whether two things go together: a pattern and failing, one grouping and another."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence

__all__ = ["adjusted_rand", "chance_of_g2", "signed_g2"]


def signed_g2(hits_a: int, of_a: int, hits_b: int, of_b: int) -> float:
    """Log-likelihood ratio of two proportions against one (Dunning 1993); negative where a's is the smaller.

    0 where they are equal, or nothing was tried in one of them.
    """
    if not (0 <= hits_a <= of_a and 0 <= hits_b <= of_b):
        raise ValueError(f"expected counts within what was tried: {hits_a} of {of_a}, {hits_b} of {of_b}")
    if of_a == 0 or of_b == 0:
        return 0.0
    of = of_a + of_b
    total = 0.0
    for count, row, column in (
        (hits_a, of_a, hits_a + hits_b),
        (of_a - hits_a, of_a, of - hits_a - hits_b),
        (hits_b, of_b, hits_a + hits_b),
        (of_b - hits_b, of_b, of - hits_a - hits_b),
    ):
        if count:
            total += count * math.log(count * of / (row * column))
    return math.copysign(max(0.0, 2 * total), hits_a * of_b - hits_b * of_a)


def chance_of_g2(g2: float) -> float:
    """Two-sided p of a signed G² by chi-squared with one degree of freedom."""
    return math.erfc(math.sqrt(abs(g2) / 2))


def adjusted_rand(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """How far two groupings of the same things agree, corrected for chance (Hubert and Arabie 1985): 1 is the
    same grouping, 0 what chance gives.
    """
    if len(one) != len(other):
        raise ValueError(f"expected two groupings of the same things, got {len(one)} and {len(other)}")
    both = _pairs(Counter(zip(one, other, strict=True)))
    in_one, in_other = _pairs(Counter(one)), _pairs(Counter(other))
    pairs = math.comb(len(one), 2)
    expected = in_one * in_other / pairs if pairs else 0.0
    most = (in_one + in_other) / 2
    if most == expected:
        return 1.0
    return (both - expected) / (most - expected)


def _pairs(sizes: Counter[Hashable]) -> int:
    return sum(math.comb(size, 2) for size in sizes.values())
