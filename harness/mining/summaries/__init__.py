"""From the counts of queries to rows of `harness.mining.tables`, in the order of the table.

Pure functions of rows (mappings by column), no Spark; formulas are in `harness.mining.stats`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.mining.stats.proportions import rule_of_three, wilson

__all__ = ["Row", "Rows", "bounded", "rated"]

Row = Mapping[str, Any]
Rows = list[dict[str, Any]]


def rated(hits: int, of: int, name: str = "rate", low: str = "low", high: str = "high") -> dict[str, Any]:
    """A share and its interval."""
    interval = wilson(hits, of)
    return {name: hits / of if of else 0.0, low: interval.low, high: interval.high}


def bounded(hits: int, of: int, name: str = "rate") -> dict[str, Any]:
    """A share, its interval, and the rule of three where there was nothing."""
    return {**rated(hits, of, name), "at_most": None if hits else rule_of_three(of)}
