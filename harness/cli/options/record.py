"""Options of `record`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.shared import add_json
from harness.cli.options.values import address, duration


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument(
        "listen", metavar="LISTEN", type=address, help="HOST:PORT or PORT, 0 for any free one"
    )
    parser.add_argument("upstream", metavar="UPSTREAM", type=address, help="HOST:PORT of the server")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="output directory for trace and capture"
    )
    parser.add_argument("--max-time", type=duration, metavar="T", help="end after 90, 90s, 10m, 2h")
    add_json(parser)
