"""Options of `explain`."""

from __future__ import annotations

import argparse

from harness.cli.options.shared import add_json


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument("id", metavar="ID", help="a statement, a case, a quirk, a mutant or a bug report")
    add_json(parser)
