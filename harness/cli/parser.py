"""The commands. Every mistake ends in `Usage`, which says what was expected and what was nearest."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

COMMANDS = {
    "check": "judge a target by the catalogue",
    "fields": "try every ext field in unusual forms, beside what Apache does",
    "matrix": "check several targets and compare them: a page, Markdown, JSON",
    "diff": "compare two targets under the same random operations",
    "replay": "replay a recorded trace on any target, old answers beside new ones",
    "fuzz": "run random programs; minimise and store failures",
    "campaign": "execute many runs on Spark; store them as Parquet for mine",
    "mine": "find patterns in recorded runs, on Spark: tables and a page",
    "selftest": "run the cases against every mutant of the reference",
    "explain": "show where a statement comes from and what proves it",
    "serve": "run the reference as a server",
    "report": "write the reports of a recorded run again",
    "decode": "decode frames and captures",
    "remarks": "judge the clients in recorded traffic",
    "record": "forward connections to a server and record all traffic",
    "docs": "render the catalogue to specs/rendered",
    "init": "write settings and a job of your CI into a project",
    "completion": "print a script that completes commands and options in your shell",
}
"""What each does. Its options are those of `harness.cli.options`, its code is a module of `harness.cli`."""


class Usage(Exception):  # noqa: N818 - said to people, not raised as a fault
    """A mistake on the command line. The text is complete."""


class Parser(argparse.ArgumentParser):
    """Reports mistakes by `Usage`, with hints. Abbreviations are refused: a new option would break them."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs["allow_abbrev"] = False
        super().__init__(**kwargs)

    def error(self, message: str) -> NoReturn:
        # Who gave one argument a wrong value knows the command.
        usage = "" if message.startswith("argument ") else f"{self.format_usage()}\n"
        raise Usage(f"{self.prog}: {message}\n\n{usage}{self.prog} --help says more.")

    def unknown(self, words: Sequence[str]) -> NoReturn:
        """Refuses words that no option and no argument took."""
        options = [name for name in self._option_string_actions if name.startswith("--")]
        parts = []
        for word in words:
            kind = "option" if word.startswith("-") else "argument"
            parts.append(f"unknown {kind} {word}{_hint(word.split('=')[0], options)}")
        self.error("; ".join(parts))


class CommandParser(Parser):
    """A command. What it takes is imported when it is used."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        from harness.cli.settings import apply_settings

        self.take_options()
        settings = apply_settings(self, self._name)
        self.set_defaults(run=_runner(self._name), parser=self)
        options, rest = super().parse_known_args(args, namespace)
        options.settings = settings.taken(options) if settings else ""
        return options, rest

    def take_options(self) -> None:
        """Adds its options."""
        importlib.import_module(f"harness.cli.options.{self._name}").add(self)

    @property
    def _name(self) -> str:
        return self.prog.rpartition(" ")[2]


class _Version(argparse.Action):
    """Prints the version and which catalogue this is, and ends."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        text = "print the version and which catalogue it has"
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=text)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from harness.catalogue import catalogue
        from harness.version import version

        sys.stdout.write(f"rmq-harness {version()}, catalogue {catalogue().digest}\n")
        parser.exit()


class _Whole(Parser):
    """All commands: refuses what is left over in the words of the command that did not take it."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        options, rest = self.parse_known_args(args, namespace)
        if rest:
            getattr(options, "parser", self).unknown(rest)
        return options

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            names = list(action.choices)
            self.error(f"unknown command {value!r}{_hint(value, names)}; expected {', '.join(names)}")


def build_parser() -> Parser:
    """The parser of everything."""
    parser = _Whole(
        prog="rmq-harness",
        description="A conformance and test harness for Apache RocketMQ's remoting protocol.",
        epilog="exit status: 0 conformant, 1 not conformant, 2 inconclusive, 3 usage, "
        "4 target or harness failed, 130 interrupted",
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True, parser_class=CommandParser
    )
    for name, summary in COMMANDS.items():
        commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
    return parser


def _runner(name: str) -> Callable[[argparse.Namespace], int]:
    def run(options: argparse.Namespace) -> int:
        status: int = importlib.import_module(f"harness.cli.{name}").run(options)
        return status

    return run


def _hint(word: str, known: Sequence[str]) -> str:
    from harness.catalogue import did_you_mean

    hint = did_you_mean(word, known)
    return hint and f", {hint}"
