"""How many runs there are, of what, and what came of them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from harness.mining.queries import POPULATION

TALLY = ("campaign", *POPULATION, "source", "kind", "clock", "outcome", "statement")
"""What runs are counted by."""

BLOCKS = 32
"""Number of blocks of about one size into which the runs of a population are dealt, ordered by seed."""


def pop_of() -> Column:
    """A number of the population of a run: one number is grouped by faster than five texts."""
    return F.xxhash64(*POPULATION)


def tallies(index: DataFrame) -> DataFrame:
    """Runs, their steps and times, by all of `TALLY`; and ``pop``, the number of their population."""
    return (
        index.groupBy(*TALLY)
        .agg(
            F.count("*").alias("runs"),
            F.sum("steps").alias("steps"),
            F.sum("elapsed_us").alias("elapsed_us"),
            F.min("started").alias("started"),
            F.max("started").alias("ended"),
        )
        .withColumn("pop", pop_of())
    )


def seeds(index: DataFrame) -> DataFrame:
    """Each seed of a population: how often it was played, the steps of all that, and the least and the
    greatest digest of what came of it. Numbers alone, since there are as many rows as seeds.
    """
    outcome = F.xxhash64("outcome", F.coalesce("statement", F.lit("")))
    return (
        index.select(pop_of().alias("pop"), "seed", "steps", outcome.alias("outcome"))
        .groupBy("pop", "seed")
        .agg(
            F.count("*").alias("times"),
            F.sum("steps").alias("steps"),
            F.min("outcome").alias("one"),
            F.max("outcome").alias("other"),
        )
    )


def populations(seeds: DataFrame) -> DataFrame:
    """Of `seeds`, by population: seeds (``runs``, since a seed counts once); steps; runs that do not count
    (``dropped``); seeds that were played more than once, and those of them that came out differently; and
    where the blocks of seeds end, the last one aside.
    """
    shares = F.array(*(F.lit(number / BLOCKS) for number in range(1, BLOCKS)))
    return seeds.groupBy("pop").agg(
        F.count("*").alias("runs"),
        F.sum("steps").alias("steps"),
        F.sum(F.col("times") - 1).alias("dropped"),
        F.sum((F.col("times") > 1).cast("int")).alias("repeated"),
        F.sum((F.col("one") != F.col("other")).cast("int")).alias("differing"),
        F.percentile("seed", shares).alias("cuts"),
    )


def campaign_seeds(index: DataFrame) -> DataFrame:
    """Different seeds of a campaign in each population."""
    return index.groupBy("campaign", *POPULATION, "source", "kind", "clock").agg(
        F.countDistinct("seed").alias("seeds")
    )
