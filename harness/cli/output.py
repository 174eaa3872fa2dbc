"""Where the command line writes: answers on standard output, everything else on standard error."""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Any, TextIO, cast

import msgspec


class _Watched:
    """A stream whose reader may leave, as `head` does: the run ends, and what comes then goes nowhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._interrupt()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._interrupt()

    def _interrupt(self) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
        # In the main thread, whichever thread writes. What was started in the background ignores SIGINT.
        signal.raise_signal(signal.SIGTERM)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def watched(stream: TextIO) -> TextIO:
    """The stream; when its reader leaves, the run ends as Ctrl-C ends it."""
    return cast("TextIO", _Watched(stream))


def take_any_text(*streams: TextIO) -> None:
    """Has streams write a question mark for what their encoding lacks, as Windows' own lack much."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str) -> None:
    """A line of the answer."""
    sys.stdout.write(text + "\n")


def complain(text: str) -> None:
    """A line about what is wrong."""
    sys.stderr.write(text + "\n")


def say_json(answer: object) -> None:
    """The answer for a machine: one object, one line."""
    say(msgspec.json.encode(answer).decode())
