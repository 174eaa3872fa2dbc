"""How long it takes until a fault is found."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from harness.mining.queries import FAILING

_BY = ("mutant", "target", "profile", "kind", "generator")


def hunts(index: DataFrame) -> DataFrame:
    """Of each mutant: runs and failures, and runs and steps up to the first failure, that one included, in
    the order of the seeds; null where nothing failed. The first attempt of a seed counts.
    """
    order = Window.partitionBy(*_BY).orderBy("seed", "campaign", "run_id")
    failed = F.col("outcome").isin(*FAILING)
    counted = (
        index.where("mutant is not null and attempt = 0")
        .withColumn("number", F.row_number().over(order))
        .withColumn("so_far", F.sum("steps").over(order.rowsBetween(Window.unboundedPreceding, 0)))
    )
    first = F.struct("number", "so_far", "seed")
    return (
        counted.groupBy(*_BY)
        .agg(
            F.count("*").alias("runs"),
            F.sum(failed.cast("int")).alias("failed"),
            F.min(F.when(failed, first)).alias("first"),
        )
        .select(
            *_BY,
            "runs",
            "failed",
            F.col("first.seed").alias("first_seed"),
            F.col("first.number").cast("long").alias("runs_to_first"),
            F.col("first.so_far").alias("steps_to_first"),
        )
    )
