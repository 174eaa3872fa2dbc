"""One check for each of several targets, each in a process and a directory of its own.

A target whose complete record lies in its directory is not checked again. What a check prints is kept beside
its record. Ctrl-C goes on to the checks, so that each records what it had measured.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from harness.report.results import FILE_NAME, RecordError, Run, read_run
from harness.report.text import plural, seconds
from harness.session import RunningClock

OUTPUT = "output.txt"
NAME_FILE = "target.json"
_MAIN = "import sys; from harness.cli import main; sys.exit(main(sys.argv[1:]))"
_LOOK = 0.5  # real seconds between two looks at the checks
_SAY = 30.0  # real seconds between two lines about one that goes on
_LEAVE = 60.0  # real seconds for a check to end in after Ctrl-C


class Named(msgspec.Struct, frozen=True):
    """A target with the name that it has in the matrix; empty for its own."""

    name: str
    target: str

    @property
    def shown(self) -> str:
        """How people read of it."""
        return self.name or self.target

    @property
    def slug(self) -> str:
        """The name of its directory."""
        words = self.name or self.target.partition("?")[0]
        return re.sub(r"[^A-Za-z0-9.]+", "-", words).strip("-.")[:80] or "target"


class Outcome(msgspec.Struct, frozen=True):
    """What became of a target."""

    named: Named
    run: Run | None
    why: str = ""
    """Why there is no run, or none that is whole."""


class Sweep:
    """Checks targets; `say` prints a line."""

    def __init__(
        self,
        out: Path,
        options: Sequence[str],
        expected: Callable[[Run, Named], bool],
        say: Callable[[str], None],
    ) -> None:
        """`options` of `check`; `expected`: whether a record is one of these options."""
        self._out = out
        self._options = list(options)
        self._expected = expected
        self._say = say
        self._going: dict[Named, _Check] = {}
        self._stopwatch = RunningClock()
        self._pause = threading.Event()

    def run(self, targets: Iterable[Named], *, jobs: int, again: bool) -> list[Outcome]:
        """The outcomes in the order of the targets. Raises KeyboardInterrupt once all checks have ended."""
        wanted = list(targets)
        waiting = [one for one in wanted if again or not self._is_there(one)]
        if there := len(wanted) - len(waiting):
            self._say(f"{plural(there, 'target')} of {len(wanted)} measured before")
        try:
            while waiting or self._going:
                while waiting and len(self._going) < jobs:
                    one = waiting.pop(0)
                    self._going[one] = _Check(
                        one, self._out / one.slug, self._options, self._stopwatch.waiting()
                    )
                    self._say(f"{one.shown}: begins, {len(waiting)} to go")
                self._pause.wait(_LOOK)
                self._look()
        except KeyboardInterrupt:
            self._interrupt()
            raise
        return [self.outcome(one) for one in wanted]

    def outcome(self, one: Named) -> Outcome:
        """What lies in the directory of a target."""
        directory = self._out / one.slug
        try:
            run = read_run(directory)
        except RecordError:
            return Outcome(one, None, _last_words(directory) or "its check did not begin")
        return Outcome(one, run, incomplete(run))

    def _is_there(self, one: Named) -> bool:
        found = self.outcome(one)
        return found.run is not None and not found.why and self._expected(found.run, one)

    def _look(self) -> None:
        for one, check in list(self._going.items()):
            if check.process.poll() is not None:
                del self._going[one]
                self._say(f"{one.shown}: {self._ended(one, check)}")
            elif self._stopwatch.waiting() - check.said > _SAY:
                check.said = self._stopwatch.waiting()
                self._say(f"{one.shown}: {check.progress()}")

    def _ended(self, one: Named, check: _Check) -> str:
        found = self.outcome(one)
        took = seconds(self._stopwatch.waiting() - check.begun)
        if found.run is None:
            return brief(found.why)
        return f"{found.run.end.why if found.run.end else found.why}, {took}"

    def _interrupt(self) -> None:
        """Lets the checks end by themselves: each writes what it has measured. They ignore SIGINT where this
        process was started in the background.
        """
        for check in self._going.values():
            check.process.terminate()
        until = self._stopwatch.waiting() + _LEAVE
        for check in self._going.values():
            try:
                check.process.wait(max(0.1, until - self._stopwatch.waiting()))
            except subprocess.TimeoutExpired:
                check.process.kill()
                check.process.wait()


class _Check:
    """A check that goes on."""

    def __init__(self, named: Named, directory: Path, options: Sequence[str], begun: float) -> None:
        self.begun = self.said = begun
        self._record = directory / FILE_NAME
        directory.mkdir(parents=True, exist_ok=True)
        self._record.unlink(missing_ok=True)
        (directory / NAME_FILE).write_bytes(msgspec.json.encode(named))
        with (directory / OUTPUT).open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _MAIN, "check", named.target, "--out", str(directory), *options],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # else Ctrl-C reaches it twice
            )

    def progress(self) -> str:
        """How far it is."""
        try:
            run = read_run(self._record)
        except RecordError:
            return "starting"
        failed = sum(result.failure is not None and result.verdict == "fail" for result in run.results)
        return f"{len(run.results)} of {plural(len(run.header.cases), 'case')}, {failed} failed"


def incomplete(run: Run) -> str:
    """Why a record is not whole; empty where it is."""
    if run.end is None or run.truncated:
        return "the record was cut short"
    if run.end.interrupted or run.end.trouble or len(run.results) < len(run.header.cases):
        return run.end.why
    return ""


def brief(why: str) -> str:
    """The one line of a message that says why; its first one where none does."""
    lines = why.splitlines()
    reason = next((line for line in lines if line.startswith("why ")), lines[0])
    return reason.removeprefix("why").strip()


def _last_words(directory: Path) -> str:
    try:
        text = (directory / OUTPUT).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join(text.strip().splitlines()[-8:])
