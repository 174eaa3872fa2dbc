"""Where two runs of one seed part: the first step at which they are not alike.

Rules of this module:
- Two runs are alike at a step where they did the same, and got the same answer with the same code.
- Of one seed, target and version, different outcomes are flakiness; of different targets, a divergence.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from harness.mining.queries import POPULATION

__all__ = ["PARTED", "STEPS", "divergences", "parted", "repeated", "unlike"]

STEPS = ("ops", "rule", "response_code", "answer")
"""What is compared."""
PARTED = ("differs", "step", "rule", "code_a", "code_b")

_SAME = (*POPULATION, "kind", "seed")


def repeated(index: DataFrame) -> DataFrame:
    """By target and version: seeds that were played more than once, and those whose outcomes differ."""
    seeds = index.groupBy(*_SAME).agg(F.count("*").alias("times"), _kinds().alias("kinds"))
    return (
        seeds.where("times > 1")
        .groupBy("target", "version")
        .agg(
            F.count("*").alias("repeated"),
            F.sum((F.col("kinds") > 1).cast("int")).alias("differing"),
        )
    )


def unlike(index: DataFrame) -> DataFrame:
    """Seeds with different outcomes, and two runs that have them."""
    seeds = index.groupBy(*_SAME).agg(
        F.count("*").alias("attempts"),
        _kinds().alias("kinds"),
        F.array_join(F.sort_array(F.collect_set("outcome")), ", ").alias("outcomes"),
        F.min(_run()).alias("a"),
        F.max(_run()).alias("b"),
        F.max("statement").alias("statement"),
    )
    return seeds.where("kinds > 1").select(
        *_SAME,
        "attempts",
        "outcomes",
        "statement",
        F.col("a.run_id").alias("run_a"),
        F.col("b.run_id").alias("run_b"),
    )


def _kinds() -> Column:
    return F.countDistinct("outcome", F.coalesce("statement", F.lit("")))


def _run() -> Column:
    return F.struct("outcome", F.coalesce("statement", F.lit("")), "campaign", "attempt", "run_id")


def parted(pairs: DataFrame) -> DataFrame:
    """Of rows with the `STEPS` of two runs, suffixed ``_a`` and ``_b``: all of `PARTED`.

    ``step`` counts from 0; null where they are alike for as long as both go on, and so is ``differs``.
    """
    found = pairs
    for name, column in (("at_op", "rule"), ("at_code", "response_code"), ("at_answer", "answer")):
        unequal = F.zip_with(f"{column}_a", f"{column}_b", lambda a, b: ~a.eqNullSafe(b))
        at = F.array_position(F.slice(unequal, 1, F.least(F.length("ops_a"), F.length("ops_b"))), True)
        if name == "at_op":
            at = F.when(F.col("ops_a") != F.col("ops_b"), at)
        found = found.withColumn(name, F.when(at > 0, at.cast("int") - 1))
    step = F.least("at_op", "at_code", "at_answer")
    differs = (
        F.when(F.col("at_op") == step, "operation")
        .when(F.col("at_answer") == step, "answer")
        .when(F.col("at_code") == step, "response code")
    )
    return (
        found.withColumn("step", step)
        .withColumn("differs", differs)
        .select(
            *(one for one in pairs.columns if one.removesuffix("_a").removesuffix("_b") not in STEPS),
            "step",
            "differs",
            F.get("rule_a", "step").alias("rule"),
            F.get("response_code_a", "step").alias("code_a"),
            F.get("response_code_b", "step").alias("code_b"),
        )
    )


def divergences(runs: DataFrame, reference: dict[str, str]) -> DataFrame:
    """Targets against their reference, by the kind of the first difference.

    Of a seed the first attempt counts. Seeds without a difference have a row with ``differs`` null.
    ``reference`` gives for each target what it is compared with.
    """
    chosen = F.coalesce(*(F.when(F.col("target") == t, F.lit(r)) for t, r in reference.items()))
    played = runs.where("attempt = 0").select(
        "profile", "generator", "seed", "target", "campaign", "outcome", *STEPS, chosen.alias("reference")
    )
    left = played.where("target = reference").select(
        "profile", "generator", "seed", "reference", *_suffixed("a")
    )
    right = played.where("target != reference").select(
        "profile", "generator", "seed", "target", *_suffixed("b")
    )
    found = parted(left.join(right, ["profile", "generator", "seed"]))
    outcome = F.col("outcome_a") != F.col("outcome_b")
    differs = F.when(F.col("differs").isNull() & outcome, "outcome").otherwise(F.col("differs"))
    return (
        found.withColumn("differs", differs)
        .groupBy("reference", "target", "profile", "differs", "rule", "code_a", "code_b")
        .agg(F.count("*").alias("seeds"), F.min(F.struct("step", "seed")).alias("example"))
        .select(
            *("reference", "target", "profile", "differs", "rule", "code_a", "code_b", "seeds"),
            F.col("example.seed").alias("example_seed"),
            F.col("example.step").alias("example_step"),
        )
    )


def _suffixed(side: str) -> list[Column]:
    return [F.col(one).alias(f"{one}_{side}") for one in ("outcome", *STEPS)]
