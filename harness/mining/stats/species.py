"""Estimates of what was not seen yet, from what was seen once and twice. A sample is a run.

Valid for independent runs, each counted once: a seed that was played twice makes
species seen once look as if they were seen twice, and the estimates far too low.
"""

from __future__ import annotations


def new_per_run(once: int, runs: int) -> float:
    """States that the next run is expected to add: those that one run has seen, for each run (Good 1953, for
    incidence).
    """
    _possible(runs, once)
    return once / runs if runs else 0.0


def chao2(seen: int, once: int, twice: int, runs: int) -> float:
    """A lower bound of the number of states (Chao 1987), where ``once`` and ``twice`` were seen by one
    and by two runs; the bias-corrected form where none was seen twice.
    """
    _possible(runs, once, twice, seen - once - twice)
    if runs == 0:
        return 0.0
    more = once * once / (2 * twice) if twice else once * (once - 1) / 2
    return seen + (runs - 1) / runs * more


def unseen(once: int, twice: int, met: int, runs: int) -> float:
    """The part of what runs meet that belongs to states not seen yet (Chao and Jost 2012, for incidence).

    ``met`` counts pairs of a run and a state that it has seen.
    """
    _possible(runs, once, twice, met - once - 2 * twice)
    if runs == 0 or met == 0:
        return 1.0
    if once == 0:
        return 0.0
    more = (runs - 1) * once
    return once / met * (more / (more + 2 * twice) if more + twice else 1.0)


def _possible(*counts: int) -> None:
    if min(counts) < 0:
        raise ValueError(f"expected counts of at least 0 that fit together, got {counts}")
