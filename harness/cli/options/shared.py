"""Options that several commands have."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from harness.catalogue import LEVELS, ROLES, Role, profiles
from harness.cli.options.values import Collected, duration, port, several

TARGETS = (
    "builtin:[PROFILE]  tcp://HOST:PORT  exec:COMMAND (with {port} and {dir})  apache:VERSION[?warp=60]  "
    "docker:IMAGE[?warp=60]"
)

PROGRAM_KINDS = "stateful, frames, history, controller, pair"
"""In words; `harness.engine.kinds` has them by role."""
SCHEMES = ("builtin", "tcp", "exec", "apache", "docker")
DEFAULT_TARGET = "builtin:"


def add_json(parser: argparse.ArgumentParser) -> None:
    """Adds `--json`."""
    parser.add_argument("--json", action="store_true", help="print one result object on standard output")


def add_capture(parser: argparse.ArgumentParser) -> None:
    """What must be known to find the frames of a capture."""
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


def add_role(parser: argparse.ArgumentParser) -> None:
    """Adds `--role`."""
    parser.add_argument(
        "--role",
        choices=ROLES,
        default=ROLES[0],
        help=f"what the target is: {ROLES[0]} (default), {', '.join(ROLES[1:])}",
    )


def add_role_of_data(parser: argparse.ArgumentParser, otherwise: str) -> None:
    """Adds `--role` of a command that reads runs, which know their role: it is None where it was not said."""
    parser.add_argument("--role", choices=ROLES, help=f"what the target is: {either(ROLES)} ({otherwise})")


def add_target(parser: argparse.ArgumentParser) -> None:
    """Adds `TARGET`, the reference by default."""
    parser.add_argument(
        "target", nargs="?", default=DEFAULT_TARGET, metavar="TARGET", help=f"default builtin:; {TARGETS}"
    )


def add_quirks(parser: argparse.ArgumentParser) -> None:
    """Adds `--quirks`."""
    parser.add_argument(
        "--quirks",
        metavar="NAME@VERSION",
        default="",
        help="known server whose defects count as quirks (apache-nameserver@5.3.3), or none",
    )


def add_nameserver(parser: argparse.ArgumentParser) -> None:
    """Adds `--nameserver`."""
    parser.add_argument(
        "--nameserver",
        metavar="HOST:PORT",
        default="",
        help="for a running Broker (tcp://): its NameServer address, on which the harness listens",
    )


def add_rules(parser: argparse.ArgumentParser, whose: str) -> None:
    """Adds `--profile` and `--quirks` of a command that plays programs."""
    parser.add_argument("--profile", metavar="P", default="", help=f"whose rules hold ({whose})")
    add_quirks(parser)


def add_run(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds `--seed`, `--max-time` and `--resume` of a command that plays what a seed decides."""
    parser.add_argument("--seed", metavar="S", help=f"what decides the {what} (a new one, printed)")
    add_max_time(parser)
    parser.add_argument("--resume", action="store_true", help="resume the run in --out with this --seed")


def add_max_time(parser: argparse.ArgumentParser) -> None:
    """Adds `--max-time`."""
    parser.add_argument("--max-time", type=duration, metavar="T", help="real-time limit: 90, 90s, 10m, 2h")


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Adds `--profile`, `--select`, `--exclude` and `--level`."""
    parser.add_argument(
        "--profile", metavar="P", default="", help=f"which statements apply: {either(lines())}"
    )
    for option, which in (("--select", "only these"), ("--exclude", "not these")):
        parser.add_argument(
            option,
            metavar="ID",
            type=several("an id, a prefix, a chapter, a glob or tag:…"),
            action=Collected,
            default=[],
            help=f"{which}: ids, prefixes, chapters, globs, tag:… or cases (repeatable, or comma-separated)",
        )
    parser.add_argument(
        "--level",
        choices=[level.lower() for level in LEVELS],
        help="only statements of this level or stricter",
    )


def add_spark(parser: argparse.ArgumentParser) -> None:
    """Adds `--master` and `--memory`."""
    parser.add_argument("--master", metavar="M", help="Spark's master (Spark's own setting, else local[*,4])")
    parser.add_argument("--memory", default="2g", metavar="M", help="memory of Spark's driver (2g)")


def lines(role: Role = "nameserver") -> list[str]:
    """The names of the profiles of a role, oldest first."""
    return [profile.name for profile in profiles(role)]


def either(names: Sequence[str]) -> str:
    """`a, b or c`."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
