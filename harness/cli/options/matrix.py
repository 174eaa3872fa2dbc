"""Options of `matrix`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.shared import TARGETS, add_json, add_role
from harness.cli.options.values import several, workers

_STATUS = """\
A target may have a name: 'NAME=TARGET'. apache:FIRST..LAST?warp=60 is every release of Apache's from FIRST to
LAST (to the newest without LAST).

exit status: 0 every target was measured, whatever its verdict; 2 a record is incomplete, as of a check that
was interrupted; 3 usage; 4 a target could not be measured at all; 130 interrupted, the pages have what was
measured"""


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _STATUS
    parser.add_argument("targets", nargs="*", metavar="[NAME=]TARGET", help=TARGETS.replace("%", "%%"))
    parser.add_argument(
        "--records",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="compare recorded runs too: --out directories of check or of matrix",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out/matrix"), metavar="DIR", help="output directory (out/matrix)"
    )
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the Markdown to this file as well"
    )
    add_role(parser)
    parser.add_argument(
        "--profile", metavar="P", default="", help="judge every target by it (the one that fits each)"
    )
    for option, which in (("--select", "only these"), ("--exclude", "not these")):
        parser.add_argument(
            option,
            metavar="ID",
            type=several("an id, a prefix, a chapter, a glob or tag:…"),
            action="extend",
            default=[],
            help=f"{which}: as of check",
        )
    parser.add_argument(
        "--again", action="store_true", help="check every target again, also those whose record is complete"
    )
    parser.add_argument(
        "--jobs",
        type=workers,
        default=1,
        metavar="N",
        help="checks at once, or auto: one for each processor (1)",
    )
    add_json(parser)
