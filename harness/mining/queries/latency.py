"""How long answers take: histograms with logarithmic bins, and sums for slopes.

All that is asked of rules is counted in one pass, `by_rule`: its answer is small however many runs there are.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from harness.mining.stats.histograms import BINS
from harness.mining.stats.trends import BATCHES

WIDTH = 10
"""Steps that are taken together where latency is shown over the run."""


def _bin(duration: Column) -> Column:
    return F.when(duration < 1, F.lit(-1)).otherwise(F.floor(F.log(duration) * BINS).cast("int"))


def by_rule(runs: DataFrame) -> DataFrame:
    """Answered steps by target, rule, batch of runs and bin of the latency, with the sums that a slope over
    the number of the step needs.
    """
    steps = runs.select(
        "target",
        F.pmod(F.xxhash64("run_id"), F.lit(BATCHES)).cast("int").alias("batch"),
        "rule",
        F.posexplode("latency_us").alias("at", "us"),
    ).where(F.col("us").isNotNull())
    at = F.col("at").cast("long")
    return (
        steps.select(
            "target",
            "batch",
            F.get("rule", "at").alias("rule"),
            _bin(F.col("us")).alias("bin"),
            at.alias("x"),
            "us",
        )
        .groupBy("target", "rule", "batch", "bin")
        .agg(
            F.count("*").alias("n"),
            F.sum("x").alias("x"),
            F.sum("us").alias("y"),
            F.sum(F.col("x") * F.col("x")).alias("xx"),
            F.sum(F.col("x") * F.col("us")).alias("xy"),
        )
    )


def bins(counted: pa.Table) -> pa.Table:
    """Of the answer of `by_rule`: steps by target, rule and bin."""
    return _summed(counted, ("target", "rule", "bin"), ("n",))


def sums(counted: pa.Table) -> pa.Table:
    """Of the answer of `by_rule`: what slopes need, by target, rule and batch."""
    return _summed(counted, ("target", "rule", "batch"), ("n", "x", "y", "xx", "xy"))


def _summed(counted: pa.Table, by: Sequence[str], columns: Sequence[str]) -> pa.Table:
    grouped = counted.group_by(list(by)).aggregate([(one, "sum") for one in columns])
    return grouped.rename_columns([one.removesuffix("_sum") for one in grouped.column_names])


def over_run(runs: DataFrame) -> DataFrame:
    """Answered steps by target, part of the run and bin of the latency; steps with a fault among them."""
    steps = runs.select("target", "fault", F.posexplode("latency_us").alias("at", "us")).where(
        F.col("us").isNotNull()
    )
    return (
        steps.select(
            "target",
            F.floor(F.col("at") / WIDTH).cast("int").alias("part"),
            _bin(F.col("us")).alias("bin"),
            F.get("fault", "at").isNotNull().cast("int").alias("fault"),
        )
        .groupBy("target", "part", "bin")
        .agg(F.count("*").alias("n"), F.sum("fault").alias("faults"))
    )
