"""A target that is a process of ours.

- A started process is always stopped: by ``stop``, at the exit of the interpreter, and by its watchdog when
  this process is killed. The whole process group goes.
- Its output goes to one file over all restarts; the end of it is part of every error. With ``kept_in`` the
  file stays there when the process has ended.
- Ports are found by trying: another program may take one in between, so a start that fails for that is tried
  again.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from harness.session import (
    Clock,
    Ending,
    RunningClock,
    SocketListening,
    SocketTransport,
    TargetDied,
    connect,
    free_port,
)
from harness.targets.errors import TargetError
from harness.targets.posix import require_posix_to_start
from harness.targets.reach import SILENT, answers, refuses, takes_connections
from harness.targets.server_log import last_words
from harness.targets.settings import CONTROLLER, put_file
from harness.targets.starting import Starting
from harness.targets.warp import ahead

_HOST = "127.0.0.1"
_TRIES = 3
_ATTEMPT = 0.5
_GRACE = 3.0
"""Real seconds that it gets to end if what it leaves behind does not matter."""
_ENDS_WITHIN = 40.0
"""Real seconds in which it must have ended where that is asked: Apache's Broker 5.3.3 takes 13 to 16."""
_WATCHDOG_TELLS_WITHIN = 2.0
_TAIL = 4000
LOGS = "target*.log"
"""The files with output: target.log, target-2.log, … in the order of starts."""
_USAGE = re.compile(
    r"usage:|(unknown|unrecognized|unexpected|invalid|no such|not defined)[\w: ]*(option|flag|argument)|"
    r"flag provided but not defined",
    re.IGNORECASE,
)
_PORT_TAKEN = re.compile(
    r"already in use|BindException|EADDRINUSE|[Ff]ailed to bind|cannot bind", re.IGNORECASE
)


def status_words(status: int) -> str:
    """``status 9``, or ``status 137 (SIGKILL)``: beyond 128, as in a shell, the signal that ended it."""
    with contextlib.suppress(ValueError):
        return f"status {status} ({signal.Signals(status - 128).name})"
    return f"status {status}"


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What to run, once a port and a directory are known."""

    name: str
    """How errors call it."""
    description: str = ""
    arguments: Callable[[int, Path], Sequence[str]]
    """Makes the command line from port and directory. It may also write files into the directory."""
    environment: Callable[[Path], Mapping[str, str]]
    """Additions to the environment."""
    warp: float
    start_within: float
    """Real seconds until it must take connections; those in which it works (compiles) do not count."""
    at_most: float = 0.0
    """Real seconds until it must take connections, whatever it does; 0: ``start_within``."""
    answer_within: float
    """Real seconds from then on in which an answered request is awaited."""
    must_answer: bool = False
    """Whether a start without an answered request has failed."""
    wants_tls: bool = False
    """Whether it closes a connection without TLS: then that is its answer."""
    ports: tuple[int, ...] = (0,)
    """Which ports it listens at, counted from the one that it is given."""
    runs_in: Path | None = None
    """Its current directory; None for the one that it has for itself."""
    ends_at_once: bool = False
    """Whether it is killed if what it leaves behind does not matter: to end in order takes it seconds."""
    may_rest: bool = False
    """Whether it may be kept from running while nothing is asked of it."""


class ProcessInstance:
    """A running process and the directory that it has for itself."""

    def __init__(
        self, command: Command, clock: RunningClock | None = None, kept_in: Path | None = None
    ) -> None:
        require_posix_to_start()
        self._command = command
        self._directory = Path(tempfile.mkdtemp(prefix="rmq-harness-"))
        self._log = _new_log(kept_in or self._directory)
        self._begin = 0
        """Where in the log the output of the running process begins."""
        self._output = ""
        self._port = 0
        self._process: subprocess.Popen[str] | None = None
        self._rests = False
        self._pid = 0
        self._clock = clock or RunningClock(command.warp)
        atexit.register(self.stop)
        try:
            self._start_somewhere()
        except BaseException:
            self.stop()
            raise

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def description(self) -> str:
        return self._command.description

    @property
    def port(self) -> int:
        """Where it listens, on loopback."""
        return self._port

    @property
    def pid(self) -> int:
        """Process id of the command, which leads its own process group."""
        return self._pid

    def shared(self) -> dict[str, str | int | float]:
        """What ``attach`` needs in another process to use this instance."""
        return {
            "host": _HOST,
            "port": self._port,
            "warp": self._command.warp,
            "description": self.description,
            "log": str(self._log),
        }

    def open(self) -> SocketTransport:
        try:
            return connect(_HOST, self._port)
        except TargetDied as problem:
            if not self._has_ended():
                raise
            raise TargetDied(self._last_words()) from problem

    def open_controller(self) -> SocketTransport:
        return connect(_HOST, self._port + CONTROLLER)

    def _last_words(self) -> str:
        """How the command ended, and what it wrote last."""
        status = self._process.returncode if self._process is not None else None
        said = last_words(self.output())
        how = (
            f"{self._command.name} ended with {status_words(status)}"
            if status is not None
            else "it is stopped"
        )
        return f"{how}; it wrote last: {said}" if said else f"{how}; it wrote nothing"

    def _has_ended(self) -> bool:
        """Whether the command is gone. Its watchdog tells, and on a busy machine needs a moment for it."""
        if self._process is None:
            return True
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_WATCHDOG_TELLS_WITHIN)
        return self._process.poll() is not None

    def restart(self, how: Ending = "term") -> None:
        if self._process is not None:
            if how == "kill":
                self._signal(signal.SIGKILL)
            else:
                self._end_in_order(self._process)
        self._end()
        for left in reversed(range(_TRIES)):
            try:
                self._start_at(self._port)
                return
            except TargetError:
                if not left or not _PORT_TAKEN.search(self.output()):
                    raise

    def shutdown(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGTERM)

    def rest(self) -> None:
        if self._command.may_rest and self._process is not None:
            self._rests = True
            self._signal(signal.SIGSTOP)

    def wake(self) -> None:
        if self._command.may_rest and self._process is not None:
            self._signal(signal.SIGCONT)
            self._rests = False

    def place(self, name: str, data: bytes | None) -> None:
        put_file(self._directory / name, data)

    def listen(self) -> SocketListening:
        return SocketListening()

    def alive(self) -> bool:
        if self._process is None or self._process.poll() is not None:
            return False
        # One that rests would leave every connection in its queue, until there is no room for more.
        return self._rests or takes_connections(_HOST, self._port, SILENT)

    def output(self) -> str:
        """The end of what it wrote since it was last started; also after it was stopped."""
        with contextlib.suppress(OSError), self._log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(self._begin, end - _TAIL))
            self._output = file.read().decode("utf-8", "replace")
        return self._output

    @property
    def log(self) -> Path:
        return self._log

    def stop(self) -> None:
        atexit.unregister(self.stop)
        self._end()
        self.output()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _start_somewhere(self) -> None:
        for left in reversed(range(_TRIES)):
            try:
                self._start_at(self._free_port())
                return
            except TargetError:
                if not left or not _PORT_TAKEN.search(self.output()):
                    raise

    def _free_port(self) -> int:
        try:
            return free_port(self._command.ports)
        except OSError as problem:
            raise TargetError(
                expected=f"a free port of this machine for {self._command.name}",
                got=problem.strerror or str(problem),
                do="end some of what listens here",
            ) from problem

    def _start_at(self, port: int) -> None:
        self._port = port
        self._pid = 0
        arguments = self._command.arguments(port, self._directory)
        environment = self._command.environment(self._directory)
        additions = json.dumps(ahead(environment, self._clock.now(), self._command.warp))
        watchdog = Path(__file__).with_name("watchdog.py")
        grace = 0.0 if self._command.ends_at_once else _GRACE
        with self._log.open("ab") as output:
            self._begin = output.tell()
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(watchdog), additions, str(grace), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                cwd=self._command.runs_in or self._directory,
                text=True,
                start_new_session=True,
            )
        assert self._process.stdout is not None
        self._pid = int(self._process.stdout.readline() or 0)
        self._words = shlex.join(arguments)
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        starting = Starting(
            self._pid,
            self._port,
            self._command.ports,
            within=self._command.start_within,
            at_most=self._command.at_most,
        )
        while not takes_connections(_HOST, self._port, 2 * _ATTEMPT):
            self._look_alive(f"listened at port {self._port}")
            if problem := starting.problem():
                raise self._failed(problem)
            time.sleep(0.02)
        end = time.monotonic() + self._command.answer_within
        is_ready = refuses if self._command.wants_tls else answers
        while not is_ready(_HOST, self._port, _ATTEMPT):
            self._look_alive("answered its first request")
            if time.monotonic() > end:
                if self._command.must_answer:
                    raise self._failed(f"no answer to a request within {self._command.answer_within:g} s")
                break
            time.sleep(0.05)
        self._look_alive("answered its first request")

    def _look_alive(self, what: str) -> None:
        """Raises ``TargetError`` if it has ended before it did ``what``."""
        assert self._process is not None
        if (status := self._process.poll()) is not None:
            raise self._failed(f"it ended with {status_words(status)} before it {what}")

    def _failed(self, got: str) -> TargetError:
        self._end()
        said = self.output().strip()
        do = "correct the options after exec:" if _USAGE.search(said) else "mend what it reports"
        if self._command.runs_in is not None:
            do += f"; this was run in {self._command.runs_in}:\n{self._words}"
        return TargetError(
            expected=f"{self._command.name} to serve RocketMQ's protocol at {_HOST}:{self._port}",
            got=got,
            why=f"it wrote: {said[-1500:]}" if said else "it wrote nothing",
            do=do,
        )

    def _end(self) -> None:
        self.wake()  # else it would not see that it is asked to end
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            process.wait(_GRACE + 3)
        except subprocess.TimeoutExpired:
            if not self._pid:
                return  # its watchdog has not said yet whom it starts, and alone can end that: it will
            self._signal(signal.SIGKILL)
            process.kill()
            process.wait()

    def _end_in_order(self, process: subprocess.Popen[str]) -> None:
        """Asks it to end and waits: to be killed meanwhile is no orderly end, and what it had not yet written
        down would be lost.
        """
        self._signal(signal.SIGTERM)
        try:
            process.wait(_ENDS_WITHIN)
        except subprocess.TimeoutExpired as overdue:
            self._end()
            raise TargetError(
                expected=f"{self._command.name} to end within {_ENDS_WITHIN:g} s of SIGTERM",
                got="it still ran, and was killed",
                why="what is judged of a restart holds only where the server could end in order",
                do="let it end when it is asked to; or leave out what restarts it (--exclude)",
            ) from overdue

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, number)


def _new_log(directory: Path) -> Path:
    """A new file for output, which no other process has."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in (LOGS.replace("*", f"-{number}" if number > 1 else "") for number in itertools.count(1)):
        with contextlib.suppress(FileExistsError), (directory / name).open("xb"):
            return directory / name
    raise AssertionError  # numbers do not end
