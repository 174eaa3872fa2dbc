"""Questions to the recorded runs, one file each: a frame in, a small frame of counts out.

Invariants:
- Built-in functions and DataFrames only, nothing row by row in Python: all of it works over Spark Connect
  too.
- A query counts. `harness.mining.stats` makes rates, intervals and estimates of the collected counts, in
  `harness.mining.summaries`.
- A query gives whole numbers; values decide which row comes first, never the order or the place of rows.
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
