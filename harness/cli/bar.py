"""One line on a terminal that says how far a long command is; elsewhere, lines of a log.

The line is what is there now and goes when the command is done; `log` is for what a log should have of it.
"""

from __future__ import annotations

from rich.console import Console
from rich.progress import Progress, ProgressColumn, TextColumn, TimeElapsedColumn

LOG_EVERY = 30.0
"""Real seconds after which a log of a run that goes on has a new line."""


class Line:
    """A context manager. ``columns`` stand before what is said and the time that has passed."""

    def __init__(self, console: Console, *columns: ProgressColumn, said: str = "starting") -> None:
        self._console = console
        self._bar = Progress(
            *columns,
            TextColumn("{task.fields[said]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None, said=said)

    def __enter__(self) -> Line:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, said: str, done: int = 0, of: int | None = None) -> None:
        """What is going on, and so much of so much is done."""
        self._bar.update(self._task, said=said, completed=done, total=of)

    def log(self, said: str, *, always: bool = False) -> None:
        """A line that stays: where there is no terminal, or ``always``."""
        if always or not self._console.is_terminal:
            self._console.print(said)
