"""Which statements were judged, in how many runs."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

__all__ = ["judged"]


def judged(runs: DataFrame) -> DataFrame:
    """Runs in which a statement was judged at least once, by target and profile."""
    return (
        runs.select(
            "target",
            "profile",
            F.explode(F.array_distinct(F.flatten("statements"))).alias("statement"),
        )
        .groupBy("target", "profile", "statement")
        .agg(F.count("*").alias("runs"))
    )
