"""Options of `decode`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.values import port


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument(
        "frames",
        metavar="HEX|FILE",
        help="hexadecimal digits; a file with frames (raw or hexadecimal), or -; a capture (pcap, pcapng), a "
        "trace, the folder of a finding",
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
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one object on standard output; for a capture or a trace, one per command, then totals",
    )
