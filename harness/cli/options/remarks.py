"""Options of `remarks`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.shared import add_json
from harness.cli.options.values import port


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="traces of servers that ran at the same time, folders with such traces, captures (pcap, pcapng)",
    )
    parser.add_argument(
        "--port",
        type=port,
        metavar="N",
        help="in a capture, all connections to this port (default: connections that contain a frame)",
    )
    parser.add_argument(
        "--keylog",
        type=Path,
        metavar="FILE",
        help="TLS secrets for a capture, in the format of SSLKEYLOGFILE (TLS 1.2 and 1.3)",
    )
    add_json(parser)
