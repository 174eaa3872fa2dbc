"""Options of `remarks`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.shared import add_capture, add_json


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="traces of servers that ran at the same time, folders with such traces, captures (pcap, pcapng)",
    )
    add_capture(parser)
    add_json(parser)
