"""Options of `explain`."""

from __future__ import annotations

import argparse

from harness.cli.options.shared import add_json

_WHAT = (
    "a statement, case, chapter, tag, quirk, mutant or bug report; a request or response by code or name "
    "(322, QUERY_DATA_VERSION); a setting"
)


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.add_argument("id", metavar="NAME", help=_WHAT)
    add_json(parser)
