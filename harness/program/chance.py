"""Chance that can be had again: the one place that makes pseudo-random sources for others.

Equal words give equal sources, on every machine and in every process.
"""

from __future__ import annotations

from random import Random

Chance = Random
"""The type, for annotations."""


def chance(*words: str | int) -> Chance:
    """A source that is decided by ``words`` alone."""
    return Random("/".join(map(str, words)))
