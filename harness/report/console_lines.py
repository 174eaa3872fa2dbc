"""Lines of a report on a terminal: wrapped, escaped, coloured where that is wanted.

Invariants:

1. At most 120 columns: longer text wraps under its own column. A fact of more than a thousand characters is
   cut, and says of how many.
2. ``NO_COLOR``, a dumb terminal or no terminal leave no escape code of style.
3. Text that a target chose is escaped, so that it cannot steer the terminal.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Mapping
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console as RichConsole
from rich.text import Text

from harness.report.text import visible
from harness.trace import LINE_BREAK

WIDTH = 120
_LABEL = 11
_LONGEST = 1000

_ASCII = str.maketrans(
    {
        "✔": "+",
        "✘": "x",
        "≠": "/",
        "≈": "~",
        "×": "x",
        LINE_BREAK: r"\n",
        "·": "|",
        "←": "<-",
        "→": "->",
        "–": "-",
        "…": "...",
    }
)


class _Encodable:
    """A stream that never fails on a character that its encoding lacks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._encoding = getattr(stream, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        try:
            text.encode(self._encoding)
        except UnicodeEncodeError:
            text = text.translate(_ASCII).encode(self._encoding, "backslashreplace").decode(self._encoding)
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()


class Lines:
    """Prints lines to a stream; ``animated`` where it can take them back."""

    def __init__(
        self, stream: TextIO, *, environ: Mapping[str, str] = os.environ, width: int | None = None
    ) -> None:
        terminal = stream.isatty() and environ.get("TERM", "") != "dumb"
        colour = terminal and not environ.get("NO_COLOR")
        self.rich = RichConsole(
            file=_Encodable(stream),  # type: ignore[arg-type]  # has all that rich asks of a stream
            force_terminal=terminal,
            color_system="auto" if colour else None,
            width=width if terminal or width else WIDTH,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            _environ={
                name: value for name, value in environ.items() if name not in ("COLUMNS", "FORCE_COLOR")
            },
        )
        self.width = min(self.rich.width, WIDTH)
        self.animated = terminal
        self.printed: Callable[[], None] = lambda: None
        """Called after each line."""

    def ends(self, left: Text, right: str, at: int = WIDTH, indent: str = "") -> None:
        """A line with one text at its left and one that ends at column ``at``, or on a line below; a longer
        text goes on behind the ``indent``.
        """
        at = min(at, self.width)
        room = at - left.cell_len - cell_len(right)
        if room < 2 and left.cell_len + 2 + cell_len(right) <= self.width:
            room = 2
        if room < 2:
            self.wrapped(left.plain, style=str(left.style), indent=indent, first="")
            self.print(Text(" " * max(0, at - cell_len(right)) + right))
            return
        self.print(Text.assemble(left, " " * room, right))

    def fact(self, label: str, value: str, continued: str = "") -> None:
        """A label and its value. ``continued`` ends each line that goes on: a command can then be copied."""
        if len(value) > _LONGEST:
            value = f"{value[:_LONGEST]}… ({_LONGEST} of {len(value)} characters; the report has all)"
        for line in visible(value, keep_lines=True).splitlines():
            self.wrapped(line, indent=" " * (2 + _LABEL), first=f"  {label:<{_LABEL}}", continued=continued)
            label = ""

    def wrapped(
        self, text: str, *, indent: str = "", first: str | None = None, style: str = "", continued: str = ""
    ) -> None:
        lines = textwrap.wrap(
            text,
            width=max(24, self.width - len(continued)),
            initial_indent=indent if first is None else first,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )
        for line in lines[:-1]:
            self.line(line + continued, style)
        self.line(lines[-1] if lines else "", style)

    def line(self, text: str, style: str = "") -> None:
        self.print(Text(text, style))

    def print(self, text: Text) -> None:
        self.rich.print(text, soft_wrap=True)
        self.printed()
