"""Options of `fields`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options.shared import add_json, add_nameserver, add_role, add_target

_STATUS = """\
The ordinary request of each code is sent again and again, each time with one ext field in an unusual form:
absent, empty, blank, in other letters, a number beyond its type, and so on; and once without any ext field.

exit status: 0 every form is answered as Apache's servers answer it; 1 some are not; 2 some requests could not
be asked; 3 usage; 4 none could be asked; 130 interrupted, the file has what was seen"""


def add(parser: argparse.ArgumentParser) -> None:
    """Adds them."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _STATUS
    add_target(parser)
    add_role(parser)
    add_nameserver(parser)
    parser.add_argument("--profile", metavar="P", default="", help="whose rules hold (the target's)")
    parser.add_argument(
        "--allow-remote", action="store_true", help="the target may be on another machine, and may be stopped"
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="write the answers of an Apache server into specs/fields, for maintainers of the catalogue",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out/fields"), metavar="DIR", help="output directory (out/fields)"
    )
    add_json(parser)
