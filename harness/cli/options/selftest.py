"""Options of `selftest`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.shared import add_json, add_role, add_selection
from harness.cli.options.values import workers


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    add_role(parser)
    add_selection(parser)
    parser.add_argument(
        "--mutant", action="append", default=[], metavar="NAME", help="only this mutant (repeatable)"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="every case against every mutant, not only where the case says that it kills the mutant",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out"), metavar="DIR", help="output directory for the matrix (out)"
    )
    parser.add_argument(
        "-n", type=workers, default=2, metavar="N", dest="workers", help="processes (2), or auto"
    )
    add_json(parser)
