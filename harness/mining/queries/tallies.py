"""How many runs there are, of what, and what came of them."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from harness.mining.queries import POPULATION

__all__ = ["TALLY", "campaign_seeds", "tallies"]

TALLY = ("campaign", *POPULATION, "source", "kind", "clock", "outcome", "statement")
"""What runs are counted by."""


def tallies(index: DataFrame) -> DataFrame:
    """Runs, their steps and times, by all of `TALLY`."""
    return index.groupBy(*TALLY).agg(
        F.count("*").alias("runs"),
        F.sum("steps").alias("steps"),
        F.sum("elapsed_us").alias("elapsed_us"),
        F.min("started").alias("started"),
        F.max("started").alias("ended"),
    )


def campaign_seeds(index: DataFrame) -> DataFrame:
    """Different seeds of a campaign in each population."""
    return index.groupBy("campaign", *POPULATION, "source", "kind", "clock").agg(
        F.countDistinct("seed").alias("seeds")
    )
