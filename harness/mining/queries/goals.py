"""Which goals were reached, in how many runs."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812


def reached(index: DataFrame) -> DataFrame:
    """Runs that reached a goal, by target, profile, generator."""
    return (
        index.select("target", "profile", "generator", F.explode(F.array_distinct("goals")).alias("goal"))
        .groupBy("target", "profile", "generator", "goal")
        .agg(F.count("*").alias("reached"))
    )
