"""Where the command line writes: answers on standard output, everything else on standard error."""

from __future__ import annotations

import sys

import msgspec


def say(text: str) -> None:
    """A line of the answer."""
    sys.stdout.write(text + "\n")


def complain(text: str) -> None:
    """A line about what is wrong."""
    sys.stderr.write(text + "\n")


def say_json(answer: object) -> None:
    """The answer for a machine: one object, one line."""
    say(msgspec.json.encode(answer).decode())
