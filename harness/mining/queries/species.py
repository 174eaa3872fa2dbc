"""States and transitions: how many were seen, when for the first time, and how many by one run only.

Rules of this module:
- A seed counts once in a population, however often it was played: see `harness.mining.stats.species`.
- Runs are put in the order of their seeds, which says nothing about them, and dealt into `BLOCKS` blocks of
  about one size.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from harness.mining.queries import POPULATION

__all__ = ["BLOCKS", "CHECKED", "blocks", "cuts", "once", "placed", "states", "transitions"]

BLOCKS = 32
"""Points of the curve of saturation."""
CHECKED = (1, 2, 4, 8, 16)
"""After so many blocks the estimate is made, and compared with the block that follows."""


def once(index: DataFrame) -> DataFrame:
    """Each seed of a population, how often it was played, and the run that counts."""
    return index.groupBy(*POPULATION, "seed").agg(
        F.count("*").alias("times"),
        F.min(F.struct("campaign", "attempt", "run_id", "steps")).alias("first"),
    )


def cuts(seeds: DataFrame) -> DataFrame:
    """Of `once`: where the blocks of a population end, the last one aside; runs that count, their steps, and
    runs that do not count.
    """
    shares = F.array(*(F.lit(number / BLOCKS) for number in range(1, BLOCKS)))
    return seeds.groupBy(*POPULATION).agg(
        F.min(_pop()).alias("pop"),
        F.count("*").alias("runs"),
        F.sum("first.steps").alias("steps"),
        F.sum(F.col("times") - 1).alias("dropped"),
        F.percentile("seed", shares).alias("cuts"),
    )


def placed(runs: DataFrame, ends: DataFrame, again: DataFrame | None) -> DataFrame:
    """Runs that count, with ``pop`` and ``block``. ``ends`` has `POPULATION` and ``cuts``; ``again`` are the
    rows of `once` with more than one run, None where there are none.
    """
    keys = ends.select(_pop().alias("pop"), "cuts")
    found = runs.withColumn("pop", _pop()).join(F.broadcast(keys), "pop")
    if again is not None:
        counting = again.select(_pop().alias("pop"), "seed", F.col("first.run_id").alias("counting"))
        found = found.join(counting, ["pop", "seed"], "left").where(
            F.col("counting").isNull() | (F.col("counting") == F.col("run_id"))
        )
    return found.withColumn("block", F.size(F.filter("cuts", lambda cut: cut < F.col("seed"))))


def blocks(seeds: DataFrame, ends: DataFrame) -> DataFrame:
    """Runs in each block."""
    return placed(seeds, ends, None).groupBy("pop", "block").agg(F.count("*").alias("runs"))


def states(runs: DataFrame) -> DataFrame:
    """Of runs that were `placed`: states by the block in which they were seen for the first time.

    ``once_N`` counts those of them that exactly one run of the first N blocks has seen; ``once``, ``twice``,
    ``met`` are of all blocks: seen by one run, by two, by how many together.
    """
    seen = runs.select("pop", "block", F.explode(F.array_distinct("fp")).alias("fp"))
    within = [F.sum((F.col("block") < n).cast("int")).alias(f"in_{n}") for n in CHECKED]
    each = seen.groupBy("pop", "fp").agg(F.min("block").alias("block"), F.count("*").alias("met"), *within)
    return each.groupBy("pop", "block").agg(
        F.count("*").alias("states"),
        _number(F.col("met") == 1).alias("once"),
        _number(F.col("met") == 2).alias("twice"),
        F.sum("met").alias("met"),
        *(_number(F.col(f"in_{n}") == 1).alias(f"once_{n}") for n in CHECKED),
    )


def transitions(runs: DataFrame) -> DataFrame:
    """Of runs that were `placed`: different triples of state, rule, state after, by the block in which they
    were seen for the first time.
    """
    steps = runs.select("pop", "block", "fp_initial", "fp", "rule", F.posexplode("fp").alias("at", "after"))
    before = F.when(F.col("at") == 0, F.col("fp_initial")).otherwise(F.get("fp", F.col("at") - 1))
    key = F.xxhash64(before, F.get("rule", "at"), "after")
    return (
        steps.select("pop", "block", key.alias("key"))
        .groupBy("pop", "key")
        .agg(F.min("block").alias("block"))
        .groupBy("pop", "block")
        .agg(F.count("*").alias("transitions"))
    )


def _pop() -> Column:
    return F.xxhash64(*POPULATION)


def _number(condition: Column) -> Column:
    return F.sum(condition.cast("int"))
