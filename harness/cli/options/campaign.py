"""Options of `campaign`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.shared import (
    PROGRAM_KINDS,
    TARGETS,
    add_json,
    add_max_time,
    add_nameserver,
    add_role_of_data,
    add_rules,
    add_spark,
)
from harness.cli.options.values import amount, count, duration, several


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument(
        "target", nargs="*", metavar="TARGET", help=f"one or more targets; default builtin:; {TARGETS}"
    )
    add_role_of_data(parser, "nameserver; --from: that of the record")
    add_nameserver(parser)
    parser.add_argument("--runs", type=count, metavar="N", help="runs of each kind, for each target")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="S", help="seed of the first run; seeds count up (1)"
    )
    parser.add_argument(
        "--out", default="out/campaign", metavar="DIR", help="directory or URL of the data set (out/campaign)"
    )
    parser.add_argument("--name", metavar="NAME", help="name of the campaign in the data set (seed-S)")
    parser.add_argument(
        "--kind",
        type=several("a kind of programs"),
        default=("stateful",),
        metavar="LIST",
        help=f"{PROGRAM_KINDS}; of a Broker: stateful, history, pair (stateful)",
    )
    add_rules(parser, "those of each target")
    parser.add_argument(
        "--mutant",
        type=several("a mutant of the reference"),
        action="extend",
        default=[],
        metavar="NAME",
        help="also run this mutant of the reference (repeatable, or comma-separated)",
    )
    parser.add_argument(
        "--from",
        dest="recorded",
        action="extend",
        nargs="+",
        default=[],
        type=Path,
        metavar="DIR",
        help="import the records of check, fuzz or diff (their --out) into the data set, and run nothing",
    )
    add_max_time(parser)
    parser.add_argument(
        "--deadline",
        type=duration,
        default=120.0,
        metavar="T",
        help="time limit of a run, excluding its own waits (120s)",
    )
    parser.add_argument(
        "--chunk", type=count, metavar="N", help="runs per file (1000; 100 for started targets)"
    )
    parser.add_argument(
        "--shrink",
        type=amount,
        default=2,
        metavar="N",
        help="failures to minimise per signature and chunk (2)",
    )
    parser.add_argument(
        "--attempts", type=count, default=200, metavar="N", help="attempts to minimise each failure (200)"
    )
    parser.add_argument(
        "--sample",
        type=amount,
        default=500,
        metavar="N",
        help="keep the trace of one in N passing runs; 0: none (500)",
    )
    parser.add_argument("--allow-remote", action="store_true", help="allow targets on other machines")
    add_spark(parser)
    add_json(parser)
