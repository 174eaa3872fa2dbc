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
        help="in a capture, the connections to this port, whatever is on them (those that hold a frame)",
    )
    parser.add_argument(
        "--keylog",
        type=Path,
        metavar="FILE",
        help="secrets of TLS connections of a capture, as SSLKEYLOGFILE has them (TLS 1.2 and 1.3)",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one object on standard output; of a capture or a trace one for each command, and totals",
    )
