"""Options of `docs`."""

from __future__ import annotations

import argparse

from harness.cli.options.shared import add_role


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument("--check", action="store_true", help="only check whether they are up to date")
    parser.add_argument(
        "--record",
        metavar="TARGET",
        help="record the examples of requests and answers first, from an Apache server (apache:VERSION)",
    )
    add_role(parser)
    parser.add_argument(
        "--scenes", action="store_true", help="record the scenes of the document, not the examples"
    )
    parser.add_argument(
        "--codes", type=_codes, metavar="N,…", default=[], help="record only these request codes: 103,105"
    )


def _codes(text: str) -> list[int]:
    try:
        return [int(one) for one in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected request codes with commas between them (103,105); got {text!r}"
        ) from None
