"""Two campaigns, seed by seed."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from harness.mining.queries import FAILING

_KEY = ("target", "profile", "generator", "seed")


def verdicts(before: DataFrame, after: DataFrame) -> DataFrame:
    """Seeds that both have played, by target, profile, and the statement that failed before and after (null:
    none). The first attempt of a seed counts.
    """
    return (
        _first(before, "before")
        .join(_first(after, "after"), list(_KEY))
        .groupBy("target", "profile", "before", "after")
        .agg(F.count("*").alias("seeds"))
    )


def _first(index: DataFrame, name: str) -> DataFrame:
    failed = F.when(F.col("outcome").isin(*FAILING), F.coalesce("statement", F.lit("?")))
    order = F.struct("attempt", "campaign", "run_id")
    return index.groupBy(*_KEY).agg(F.min_by(failed, order).alias(name))
