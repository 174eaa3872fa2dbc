"""Which statements were judged and which cases were run, in how many runs."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from harness.mining.queries import FAILING


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


def cases(runs: DataFrame) -> DataFrame:
    """Runs of each case that was recorded from `check`, and those that were not passed, by target."""
    bad = F.col("outcome").isin(*FAILING, "quirk").cast("int")
    return (
        runs.where("kind = 'case'")
        .select("target", F.get_json_object(F.get("args", F.lit(0)), "$.case").alias("id"), bad.alias("bad"))
        .groupBy("target", "id")
        .agg(F.count("*").alias("runs"), F.sum("bad").alias("failed"))
    )
