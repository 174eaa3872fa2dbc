"""Options of `selftest`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.shared import add_json, add_role, add_selection
from harness.cli.options.values import count, workers


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
        "--generated",
        type=count,
        metavar="N",
        help="N faults that a program makes, one small change of the code each, instead of the mutants",
    )
    parser.add_argument(
        "--coverage",
        action="store_true",
        help="which statements of the reference's protocol code no case runs, instead of the mutants",
    )
    parser.add_argument(
        "--replies",
        action="store_true",
        help="each member of each frame that the server sends, left out or changed, instead of the mutants",
    )
    parser.add_argument(
        "--values",
        action="store_true",
        help="which kinds of values no case sends in a field of a request, instead of the mutants",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which faults are drawn (1)")
    parser.add_argument(
        "--explained",
        type=Path,
        metavar="FILE",
        help="what --generated, --coverage, --replies or --values finds and is no miss, each with its reason",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out"), metavar="DIR", help="output directory for the matrix (out)"
    )
    parser.add_argument(
        "-n", type=workers, default=2, metavar="N", dest="workers", help="processes (2), or auto"
    )
    add_json(parser)
