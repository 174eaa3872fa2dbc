"""Options of `init`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.shared import TARGETS, add_nameserver, add_role, either, lines

CI = ("github", "gitlab", "jenkins", "none")


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument(
        "directory",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the project (the current directory)",
    )
    parser.add_argument("--target", metavar="TARGET", help=f"what is judged: {TARGETS}")
    add_role(parser)
    add_nameserver(parser)
    parser.add_argument(
        "--profile", metavar="P", default="", help=f"which statements apply: {either(lines())}"
    )
    parser.add_argument("--ci", choices=CI, default=CI[0], help=f"whose job to write: {either(CI)} ({CI[0]})")
    parser.add_argument("--force", action="store_true", help="replace files that exist")
