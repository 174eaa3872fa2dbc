"""Whether two things go together: a pattern and failing."""

from __future__ import annotations

import math


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
