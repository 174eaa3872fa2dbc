"""Options of `docs`."""

from __future__ import annotations

import argparse


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument("--check", action="store_true", help="only check whether they are up to date")
