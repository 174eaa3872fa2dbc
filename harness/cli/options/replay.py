"""Options of `replay`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.shared import TARGETS, add_json, add_nameserver


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument(
        "trace",
        type=Path,
        metavar="TRACE",
        help="a trace or a finding's folder from --out",
    )
    parser.add_argument(
        "target",
        nargs="*",
        metavar="TARGET",
        help=f"default: the recorded target; one for each of several NameServers; {TARGETS}",
    )
    add_nameserver(parser)
    parser.add_argument("--all", action="store_true", help="print keep-alives and probes too")
    add_json(parser)
