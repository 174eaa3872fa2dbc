"""States and transitions: how many were seen, when first, and how many by one run only.

Invariants:
- A seed counts once in a population, however often it was played: see `harness.mining.stats.species`.
- Runs are ordered by seed, which says nothing about them, and dealt into blocks of about one size: see
  `harness.mining.queries.tallies`.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from harness.mining.queries import POPULATION
from harness.mining.queries.tallies import pop_of

CHECKED = (1, 2, 4, 8, 16)
"""Blocks after which the estimate is made, and compared with the block that follows."""


def again(index: DataFrame) -> DataFrame:
    """Of seeds of a population that were played more than once, the run that counts, ``counting``, and the
    steps of the others. Needed only where there are such seeds: texts are compared, and that is slow.
    """
    first = F.min(F.struct("campaign", "attempt", "run_id", "steps"))
    return (
        index.groupBy(*POPULATION, "seed")
        .agg(F.count("*").alias("times"), first.alias("first"), F.sum("steps").alias("steps"))
        .where("times > 1")
        .select(
            pop_of().alias("pop"),
            "seed",
            F.col("first.run_id").alias("counting"),
            (F.col("steps") - F.col("first.steps")).alias("steps"),
        )
    )


def uncounted(again: DataFrame) -> DataFrame:
    """Of `again`: steps of runs that do not count, by population."""
    return again.groupBy("pop").agg(F.sum("steps").alias("steps"))


def placed(runs: DataFrame, ends: DataFrame, again: DataFrame | None) -> DataFrame:
    """Runs that count, with ``pop`` and ``block``. ``ends`` has ``pop`` and ``cuts``, as `populations` gives
    them; ``again`` is None where no seed was played twice.
    """
    found = runs.withColumn("pop", pop_of()).join(F.broadcast(ends), "pop")
    if again is not None:
        found = found.join(again.select("pop", "seed", "counting"), ["pop", "seed"], "left").where(
            F.col("counting").isNull() | (F.col("counting") == F.col("run_id"))
        )
    return found.withColumn("block", F.size(F.filter("cuts", lambda cut: cut < F.col("seed"))))


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


def _number(condition: Column) -> Column:
    return F.sum(condition.cast("int"))
