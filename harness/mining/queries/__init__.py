"""Questions to the recorded runs, one file each: a frame in, a small frame of counts out.

Rules of this package:
- Built-in functions only: nothing is done row by row in Python, and nothing but DataFrames is used, so that
  all of it goes over Spark Connect too.
- A query counts. What is made of counts (rates, intervals, estimates) is made by `harness.mining.stats`, from
  the rows that were collected, in the functions beside the query.
- A query gives whole numbers; which row comes first where several would do is decided by values, never by the
  order or the place of rows.
- `RUN_COLUMNS` are what most questions need of a run. Those about steps read the columns that they name.
"""

from __future__ import annotations

from typing import Final

__all__ = ["FAILING", "POPULATION", "RUN_COLUMNS"]

POPULATION: Final = ("target", "version", "profile", "mutant", "generator")
"""Runs that agree in these may be counted together."""

FAILING: Final = ("fail", "died")
"""Outcomes that speak against a target."""

RUN_COLUMNS: Final = (
    *("run_id", "campaign", "source", "kind", "clock", "seed", "attempt", "started", "elapsed_us"),
    *("steps", "outcome", "statement", "goals"),
    *POPULATION,
)
