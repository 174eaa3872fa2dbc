"""Which rule follows which."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812


def pairs(runs: DataFrame) -> DataFrame:
    """Steps and the steps behind them, by target, profile and both rules."""
    steps = runs.select("target", "profile", "rule", F.posexplode("rule").alias("at", "first"))
    return (
        steps.select(
            "target",
            "profile",
            F.col("first").alias("rule"),
            F.get("rule", F.col("at") + 1).alias("next_rule"),
        )
        .where(F.col("next_rule").isNotNull())
        .groupBy("target", "profile", "rule", "next_rule")
        .agg(F.count("*").alias("times"))
    )
