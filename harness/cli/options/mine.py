"""Options of `mine`."""

from __future__ import annotations

import argparse

from harness.cli.options.shared import add_json, add_role_of_data, add_spark
from harness.cli.options.values import listed


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument(
        "root", metavar="DIR", help="directory or URL of the data set: the --out of a campaign"
    )
    add_role_of_data(parser, "that of the data set")
    parser.add_argument("--against", metavar="DIR", help="an earlier data set to compare with")
    parser.add_argument(
        "--out",
        default="out/mine",
        metavar="DIR",
        help="output directory for report.html and tables/ (out/mine)",
    )
    parser.add_argument(
        "--fail-on",
        type=listed(("findings", "worse"), "reason"),
        default=(),
        metavar="LIST",
        help="what makes the exit status 1: findings, worse, or findings,worse (nothing)",
    )
    add_spark(parser)
    add_json(parser)
