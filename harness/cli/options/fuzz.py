"""Options of `fuzz`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.shared import (
    PROGRAM_KINDS,
    add_json,
    add_nameserver,
    add_role,
    add_rules,
    add_run,
    add_target,
)
from harness.cli.options.values import count, duration


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    add_target(parser)
    add_role(parser)
    add_nameserver(parser)
    add_rules(parser, "that of the target")
    parser.add_argument("--kind", metavar="KIND", default="all", help=f"{PROGRAM_KINDS}, or all (all)")
    add_run(parser, "programs")
    parser.add_argument("--max-examples", type=count, metavar="N", help="maximum number of programs")
    parser.add_argument(
        "--out", type=Path, default=Path("out/fuzz"), metavar="DIR", help="directory for findings (out/fuzz)"
    )
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="frames: corpus kept between runs (OUT/corpus)"
    )
    parser.add_argument("--strict", action="store_true", help="a broken SHOULD fails, too")
    parser.add_argument(
        "--known", type=Path, metavar="FILE", help="known findings, in the form of a baseline of `check`"
    )
    parser.add_argument(
        "--after",
        type=Path,
        metavar="DIR",
        help="the --out of a `check` of the target: what failed there is known",
    )
    parser.add_argument(
        "--memory",
        type=count,
        default=1024,
        metavar="MIB",
        help="frames: limit on the resident memory of a target started here (1024)",
    )
    parser.add_argument("--allow-remote", action="store_true", help="allow a target on another machine")
    parser.add_argument(
        "--attempts", type=count, default=400, metavar="N", help="attempts to minimise a finding (400)"
    )
    parser.add_argument(
        "--shrink-time",
        type=duration,
        default=60.0,
        metavar="T",
        help="real-time limit for minimising a finding (60s)",
    )
    add_json(parser)
