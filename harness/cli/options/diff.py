"""Options of `diff`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.shared import TARGETS, add_json, add_rules, add_run
from harness.cli.options.values import count


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument("a", metavar="TARGET_A", help=TARGETS)
    parser.add_argument("b", metavar="TARGET_B", help="the target to compare it with")
    add_rules(parser, "that of the targets")
    parser.add_argument(
        "--steps", type=count, default=10_000, metavar="N", help="total number of operations (10000)"
    )
    add_run(parser, "operations")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="directory for journal, findings and page (none)"
    )
    parser.add_argument("--program", type=Path, metavar="FILE", help="run only this program, once")
    parser.add_argument(
        "--compare",
        choices=("meaning", "exact"),
        default="meaning",
        help="what must be equal: meaning (code, outcome, fields, decoded body; default), or exact (also "
        "remark, flag, language, serialization and dialect)",
    )
    add_json(parser)
