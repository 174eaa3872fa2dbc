"""Options of `check`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.catalogue import CLASSES
from harness.cli.options.shared import (
    add_json,
    add_nameserver,
    add_quirks,
    add_role,
    add_selection,
    add_target,
    either,
)
from harness.cli.options.values import Collected, listed, seconds, workers
from harness.report.write import FORMATS

_REPORTS = ("console", *FORMATS, "allure")


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    add_target(parser)
    add_role(parser)
    add_nameserver(parser)
    add_selection(parser)
    parser.add_argument(
        "--failed",
        nargs="?",
        const="",
        metavar="DIR",
        help="only the cases that failed, were blocked or flaky in the last run recorded in --out, or in DIR",
    )
    parser.add_argument(
        "--fast", action="store_true", help="leave out the cases that wait for time to pass; says how many"
    )
    parser.add_argument("-x", action="store_true", dest="stop_at_failure", help="stop at the first failure")
    parser.add_argument(
        "--class",
        dest="classes",
        metavar="CLASS",
        type=listed(CLASSES, "class"),
        action=Collected,
        default=[],
        help=f"only cases of this class: {either([*CLASSES])} (repeatable, or comma-separated)",
    )
    parser.add_argument(
        "--strict", action="store_true", help="a broken SHOULD or an unseen quirk fails the run"
    )
    parser.add_argument(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="run the cases in another order; no verdict may depend on it",
    )
    parser.add_argument(
        "--baseline", type=Path, metavar="FILE", help="known failures, with reason, link and expiry date"
    )
    parser.add_argument(
        "--write-baseline",
        type=Path,
        metavar="FILE",
        help="write a baseline of the current failures, to be completed",
    )
    add_quirks(parser)
    parser.add_argument(
        "--report",
        type=listed(_REPORTS, "report"),
        default=(),
        metavar="LIST",
        help=f"reports to write to --out besides the record: {','.join(_REPORTS[1:])}",
    )
    parser.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="output directory (out)")
    parser.add_argument("-n", type=workers, default=1, metavar="N", dest="workers", help="processes, or auto")
    parser.add_argument(
        "--deadline",
        type=seconds,
        default=30.0,
        metavar="S",
        help="real-time limit of a case in seconds (30)",
    )
    parser.add_argument(
        "--list", action="store_true", dest="listing", help="print the cases instead of running them"
    )
    add_json(parser)
