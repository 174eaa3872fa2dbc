"""`completion`: a script for a shell, made of the parser itself."""

from __future__ import annotations

import argparse
from pathlib import Path

import shtab

from harness.cli.output import say
from harness.cli.parser import CommandParser, build_parser


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    parser = build_parser()
    for command in _nested(parser):
        assert isinstance(command, CommandParser)
        command.take_options()
        _complete_paths(command)
    say(shtab.complete(parser, shell=options.shell))
    return 0


def _nested(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """The parsers of its commands."""
    commands = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return [one for action in commands for one in action.choices.values()]


def _complete_paths(parser: argparse.ArgumentParser) -> None:
    """Has options that take a path complete to paths, those of nested commands too."""
    for action in parser._actions:
        if action.type is Path:
            action.complete = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]
    for nested in _nested(parser):
        _complete_paths(nested)
