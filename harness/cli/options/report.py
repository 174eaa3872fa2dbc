"""Options of `report`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.shared import add_json
from harness.cli.options.values import listed
from harness.report.write import FORMATS

_REPORTS = ("console", *FORMATS)


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument("run_dir", type=Path, metavar="RUN_DIR", help="the --out directory of a run")
    parser.add_argument(
        "--format",
        type=listed(_REPORTS, "report"),
        default=("console",),
        metavar="LIST",
        help=f"some of {','.join(_REPORTS)} (console); files are written to RUN_DIR",
    )
    add_json(parser)
