"""What a server wrote while a case ran: the few lines that a report quotes.

The server of a run is shared, so lines of cases that ran at the same time are among them.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path

MOST = 20
"""Lines that are quoted."""
_FIRST = 8
"""Of those, lines from the first one that speaks of trouble. The others are the last ones: Go says first what
went wrong, Python last.
"""
_WIDEST = 300
_READ = 256 * 1024
"""Bytes of the end of the log that are looked at."""
_TROUBLE = re.compile(
    r"panic|fatal|error|exception|traceback|assert|abort|segmentation|unhandled", re.IGNORECASE
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""What makes a terminal change the colour or weight of letters."""


class ServerLog:
    """The log of a server, from now on. ``path`` is None where its output is not ours to read."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._begin = 0
        if path is not None:
            with contextlib.suppress(OSError):
                self._begin = path.stat().st_size

    def quoted(self) -> tuple[str, ...]:
        """What was written since, at most ``MOST`` lines."""
        if self._path is None:
            return ()
        try:
            with self._path.open("rb") as file:
                end = file.seek(0, 2)
                file.seek(max(self._begin, end - _READ))
                text = file.read(_READ).decode("utf-8", "replace")
        except OSError:
            return ()
        return excerpt([line.rstrip().expandtabs(4) for line in _lines(text)])


def last_words(text: str) -> str:
    """The line that says most of why a server ended: the last that speaks of trouble, else the last."""
    lines = [line.strip() for line in _lines(text)]
    at = next((n for n in reversed(range(len(lines))) if _TROUBLE.search(lines[n])), len(lines) - 1)
    words = lines[at : at + (2 if lines and lines[at].endswith(":") else 1)]  # (Rust) it goes on below
    return excerpt([" ".join(words)])[0] if words else ""


def _lines(text: str) -> list[str]:
    """The lines that are not empty, without their colours."""
    return [line for line in _COLOUR.sub("", text).splitlines() if line.strip()]


def excerpt(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines; of more than ``MOST`` those from the first that speaks of trouble on, no middle."""
    cut = [line if len(line) <= _WIDEST else f"{line[:_WIDEST]}…" for line in lines]
    if len(cut) <= MOST:
        return tuple(cut)
    begin = next((number for number, line in enumerate(cut) if _TROUBLE.search(line)), len(cut) - MOST)
    telling = cut[begin:]
    if len(telling) <= MOST:
        return tuple(telling)
    last = MOST - _FIRST - 1
    return (*telling[:_FIRST], f"… {len(telling) - _FIRST - last} lines …", *telling[-last:])
