"""`python -m bench.campaign`: a campaign on two workers of Spark beside the same runs in one process.

How it is measured:
- *Alone*: this process plays the seeds with the same machines and judges (`harness.engine.kinds`), and
  keeps nothing.
- *Kept*: this process plays and writes the same chunks (`harness.mining.worker.carry_out`), without Spark.
- *Campaign*: ``local[2,4]`` plays and writes them as `rmq-harness campaign` does. Spark and its workers run
  already, what that took is printed by itself.
All three have the same seeds in a round, new ones in each, and take turns. What is printed is the median of
the rounds, with the lowest and the highest ratio of a round: two workers at the most make 2.0, where this
process had a core for itself.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from harness.catalogue import ROLES, Role
from harness.engine.kinds import KINDS, Setting
from harness.mining.campaign import Campaign, Plan, settings_of
from harness.mining.spark import session
from harness.mining.worker import carry_out
from harness.targets import parse

__all__ = ["main"]

TARGET, PROFILE = "builtin:5.3", "5.3"
GOAL = 1.6


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns 0."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.campaign", description=str(__doc__).partition("\n")[0]
    )
    parser.add_argument("--role", choices=ROLES, help=f"{' or '.join(ROLES)} (each in turn)")
    parser.add_argument("--runs", type=int, default=800, help="in a round (800)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds (3)")
    options = parser.parse_args([] if arguments is None else arguments)
    began = time.perf_counter()
    spark = session("bench", master="local[2,4]")
    for role in ROLES if options.role is None else (options.role,):
        _measure(spark.sparkContext, role, options, began)
    spark.stop()
    return 0


def _measure(spark: Any, role: Role, options: argparse.Namespace, began: float) -> None:
    with tempfile.TemporaryDirectory() as root:
        warm = _campaign(role, f"{root}/warm", 1, 20, chunk=10)
        warm.run(spark)
        print(f"Spark and its workers are there after {time.perf_counter() - began:.1f} s")
        rates: dict[str, list[float]] = {"alone": [], "kept": [], "campaign": []}
        steps = 0
        for number in range(options.rounds):
            first = 1 + number * options.runs
            steps, seconds = _timed(lambda first=first: _alone(role, first, options.runs))
            rates["alone"].append(options.runs / seconds)
            kept = _campaign(role, f"{root}/kept{number}", first, options.runs, chunk=options.runs // 4)
            _, seconds = _timed(lambda kept=kept: sum(carry_out(order).tally.steps for order in kept.orders))
            rates["kept"].append(options.runs / seconds)
            made = _campaign(role, f"{root}/made{number}", first, options.runs, chunk=options.runs // 4)
            made.run(spark)
            rates["campaign"].append(options.runs / made.seconds)
    load = os.getloadavg()[0]
    print(
        f"{role}: {options.runs} runs of {steps / options.runs:.0f} steps in a round, "
        f"{options.rounds} rounds, load {load:.1f}"
    )
    for name, found in rates.items():
        rate = statistics.median(found)
        print(f"  {name:<9} {rate:8.1f} runs/s {rate * steps / options.runs:9.0f} steps/s")
    for name in ("alone", "kept"):
        ratios = [one / other for one, other in zip(rates["campaign"], rates[name], strict=True)]
        goal = f"; goal {GOAL}" if name == "alone" else ""
        print(
            f"  campaign / {name}: {statistics.median(ratios):.2f} "
            f"({min(ratios):.2f} to {max(ratios):.2f}{goal})"
        )


def _timed(work: Callable[[], int]) -> tuple[int, float]:
    began = time.perf_counter()
    return work(), time.perf_counter() - began


def _alone(role: Role, first: int, runs: int) -> int:
    setting = Setting(target=parse(TARGET, role), role=role, profile=PROFILE, words="bench")
    kind = KINDS[role]["stateful"](setting)
    return sum(len(kind.run(seed).program) for seed in range(first, first + runs))


def _campaign(role: Role, root: str, first: int, runs: int, *, chunk: int) -> Campaign:
    plan = Plan(
        root=root,
        campaign="bench",
        targets=((TARGET, PROFILE),),
        kinds=("stateful",),
        seed=first,
        runs=runs,
        settings=settings_of(role, chunk=chunk, shrink=2, attempts=200, deadline=120.0, sample=500),
    )
    return Campaign(plan, now=time.perf_counter)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
