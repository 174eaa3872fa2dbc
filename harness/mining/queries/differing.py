"""Where two runs of one seed part: the first step at which they differ.

Invariants:
- Two runs are alike at a step if they did the same and got the same answer with the same code.
- Different outcomes of one seed are flakiness on one version of a target, a divergence between targets.
- What is compared is made small first, because it travels: a letter for each rule and for each kind of
  answer. Steps are compared one by one only where the whole differs.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from harness.mining.queries import POPULATION

STEPS = ("ops", "answers", "response_code")
"""What is compared: of `compact` runs."""

_ANSWERS = ("answered", "closed", "garbled", "silent", "none")
_SAME = (*POPULATION, "seed")


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


def compact(runs: DataFrame) -> DataFrame:
    """Runs with ``answers``: of each step the first letter of the kind of its answer."""
    answers = F.array_join("answer", ",")
    for kind in _ANSWERS:
        answers = F.replace(answers, F.lit(kind), F.lit(kind[0]))
    return runs.withColumn("answers", F.replace(answers, F.lit(","), F.lit("")))


def parted(pairs: DataFrame) -> DataFrame:
    """Of rows with the `STEPS` of two runs, suffixed ``_a`` and ``_b``: ``step``, ``differs``, ``letter`` (of
    the rule of a), ``code_a``, ``code_b``, beside all other columns.

    ``step`` counts from 0; null where they are alike for as long as both go on, and so is ``differs``.
    """
    both = F.least(F.length("ops_a"), F.length("ops_b"))

    def first(part: Callable[[str, Column], Column], listed: Callable[[Column], Column]) -> Column:
        a, b = part("a", both), part("b", both)
        unequal = F.zip_with(listed(a), listed(b), lambda one, other: ~one.eqNullSafe(other))
        return F.when(~a.eqNullSafe(b), F.array_position(unequal, True).cast("int") - 1)

    def letters(column: str) -> Column:
        return first(
            lambda side, most: F.substring(F.col(f"{column}_{side}"), F.lit(1), most),
            lambda one: F.split(one, ""),
        )

    found = (
        pairs.withColumn("at_op", letters("ops"))
        .withColumn("at_answer", letters("answers"))
        .withColumn(
            "at_code", first(lambda side, most: F.slice(f"response_code_{side}", 1, most), lambda one: one)
        )
        .withColumn("step", F.least("at_op", "at_answer", "at_code"))
    )
    differs = (
        F.when(F.col("at_op") == F.col("step"), "operation")
        .when(F.col("at_answer") == F.col("step"), "answer")
        .when(F.col("at_code") == F.col("step"), "response code")
    )
    return found.select(
        *(one for one in pairs.columns if one.removesuffix("_a").removesuffix("_b") not in STEPS),
        "step",
        differs.alias("differs"),
        F.substring(F.col("ops_a"), F.col("step") + 1, F.lit(1)).alias("letter"),
        F.get("response_code_a", "step").alias("code_a"),
        F.get("response_code_b", "step").alias("code_b"),
    )


def divergences(runs: DataFrame, reference: dict[str, str]) -> DataFrame:
    """Targets against their reference, by the kind of the first difference.

    Of a seed the first attempt counts. Seeds without a difference have a row with ``differs`` null.
    ``reference`` gives for each target what it is compared with.
    """
    chosen = F.coalesce(*(F.when(F.col("target") == t, F.lit(r)) for t, r in reference.items()))
    played = compact(runs.where("attempt = 0")).select(
        "profile", "generator", "seed", "target", "outcome", *STEPS, chosen.alias("reference")
    )
    left = played.where("target = reference").select(
        "profile", "generator", "seed", "reference", *_suffixed("a")
    )
    right = played.where("target != reference").select(
        "profile", "generator", "seed", "target", *_suffixed("b")
    )
    # Programs of a seed are long: to look them up takes less than to put both sides in order.
    found = parted(left.hint("shuffle_hash").join(right, ["profile", "generator", "seed"]))
    outcome = F.col("outcome_a") != F.col("outcome_b")
    differs = F.when(F.col("differs").isNull() & outcome, "outcome").otherwise(F.col("differs"))
    return (
        found.withColumn("differs", differs)
        .groupBy("reference", "target", "profile", "differs", "letter", "code_a", "code_b")
        .agg(F.count("*").alias("seeds"), F.min(F.struct("step", "seed")).alias("example"))
        .select(
            *("reference", "target", "profile", "differs", "letter", "code_a", "code_b", "seeds"),
            F.col("example.seed").alias("example_seed"),
            F.col("example.step").alias("example_step"),
        )
    )


def _suffixed(side: str) -> list[Column]:
    return [F.col(one).alias(f"{one}_{side}") for one in ("outcome", *STEPS)]
