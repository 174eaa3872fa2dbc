"""The command line: `rmq-harness COMMAND …`.

* A module for each command; it is imported when the command is used, so that a start costs what the command
  needs.
* Standard output is the answer, standard error is for people where `--json` wants the output for a machine.
* A mistake of the user ends in a message that says what was expected and what to do, never in a stack trace.
  A mistake of ours ends in one line that names the file with the trace.
* The exit status is 0, 1, 2, 3, 4 or 130 and means the same for every command (see
  `harness.report.verdicts`).
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING

from harness.cli.output import complain, take_any_text
from harness.cli.parser import Usage, build_parser
from harness.cli.status import HARNESS_FAILED, INTERRUPTED, USAGE

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = ["main"]

OF_SPARK = ("pyspark", "py4j", "pyarrow", "pandas", "matplotlib")
"""What the extra of that name brings."""
_BEHIND = 0.05
"""Seconds after which an interrupt that was dropped comes again."""
SHOWN = 20  # problems of a catalogue; who is in the middle of writing one has hundreds


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    take_any_text(sys.stdout, sys.stderr)
    try:
        options = build_parser().parse_args(arguments)
        options.command_line = ("rmq-harness", *arguments)
        if options.settings:
            complain(f"rmq-harness {options.command}: {options.settings}")
        with _interruptible():
            status: int = options.run(options)
        sys.stdout.flush()
    except Usage as problem:
        complain(str(problem))
        return USAGE
    except KeyboardInterrupt:
        complain("rmq-harness: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has left, as `head` does. What remains in the buffer must not fail at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return HARNESS_FAILED
    except SystemExit as end:  # --help and --version of argparse
        return end.code if isinstance(end.code, int) else USAGE
    except Exception as error:
        return _known(error) or _unknown(error)
    return status


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C and SIGTERM end a command: targets are stopped, and what was measured is reported.

    Python drops an exception that is raised in a callback of the garbage collector (Hypothesis has one) or in
    a finalizer. An interrupt that comes in such a moment is raised again behind it.
    """

    def terminated(_signum: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def again() -> None:
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(main, signal.SIGTERM)  # ends a wait of the main thread, too
        else:
            _thread.interrupt_main(signal.SIGTERM)

    def dropped(what: UnraisableHookArgs) -> None:
        if what.exc_type is KeyboardInterrupt:
            threading.Timer(_BEHIND, again).start()
        else:
            reported(what)

    main = threading.main_thread().ident or 0
    before = signal.signal(signal.SIGTERM, terminated)
    reported, sys.unraisablehook = sys.unraisablehook, dropped
    try:
        yield
    finally:
        sys.unraisablehook = reported
        signal.signal(signal.SIGTERM, before)


def _known(error: Exception) -> int | None:
    """Mistakes that have a message for people; None for any other."""
    try:
        from harness.catalogue import CatalogueError, CatalogueProblems
        from harness.mining.errors import MiningError
        from harness.report.results import RecordError
        from harness.targets import TargetError
    except Exception:  # a broken installation: then it is no known mistake of anybody's
        return None

    if isinstance(error, TargetError):
        complain(f"rmq-harness: {error}")
        return HARNESS_FAILED
    if isinstance(error, MiningError):
        complain(f"rmq-harness: {error}")
        return error.status
    if isinstance(error, ModuleNotFoundError) and str(error.name).partition(".")[0] in OF_SPARK:
        complain(
            f"rmq-harness: {error.name} is not installed, which this needs: pip install 'rmq-harness[spark]'"
        )
        return HARNESS_FAILED
    if isinstance(error, RecordError):
        complain(f"rmq-harness: {error}")
        return USAGE
    if isinstance(error, CatalogueError | CatalogueProblems):
        wrong = error.problems if isinstance(error, CatalogueProblems) else [error]
        complain(f"rmq-harness: {len(wrong)} problems in catalogue and cases; nothing was run")
        for problem in wrong[:SHOWN]:
            complain(f"  {problem}")
        if len(wrong) > SHOWN:
            complain(f"  … and {len(wrong) - SHOWN} more")
        return HARNESS_FAILED
    return None


def _unknown(error: Exception) -> int:
    import tempfile

    with tempfile.NamedTemporaryFile(
        "w", prefix="rmq-harness-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        file.write("".join(traceback.format_exception(error)))
    complain(
        f"rmq-harness: internal error: {type(error).__name__}: {error}. "
        f"This is no mistake of yours; please report it with {file.name}"
    )
    return HARNESS_FAILED
