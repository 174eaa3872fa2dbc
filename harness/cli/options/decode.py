"""Options of `decode`."""

from __future__ import annotations

import argparse

from harness.cli.options.shared import add_capture


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument(
        "frames",
        metavar="HEX|FILE",
        help="hexadecimal digits; a file with frames (raw or hexadecimal), or -; a capture (pcap, pcapng), a "
        "trace, the folder of a finding",
    )
    add_capture(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one object on standard output; for a capture or a trace, one per command, then totals",
    )
