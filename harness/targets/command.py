"""``exec:``: any server, started by its command line.

No shell; ``{port}``, ``{dir}`` and ``{config}`` are the only things that are replaced.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from harness.session import DEFAULT_SETUP, Setup, Unsupported
from harness.targets import warp as faketime
from harness.targets.capabilities import Capabilities
from harness.targets.errors import TargetError
from harness.targets.probed_broker import PORTS, BrokerProcess, nameservers_in, with_nameservers
from harness.targets.process import Command, ProcessInstance
from harness.targets.settings import (
    demands_tls,
    in_directory,
    place_files,
    ports_of_nameserver,
    with_controller,
    write_properties,
)

_NOTHING: Mapping[str, str] = {}
_UNBUFFERED = {"PYTHONUNBUFFERED": os.environ.get("PYTHONUNBUFFERED", "1")}
"""Python keeps back what it prints to a file; what it printed in a case would be seen in a later one."""
_START_WITHIN = 20.0
_AT_MOST = 300.0  # real seconds for the first start, which may compile (`go run .`)
_ANSWER_WITHIN = 3.0


class ExecTarget:
    """``exec:COMMAND[?warp=N]``; ``{port}`` is a free port, ``{dir}`` an empty directory of the target's
    own, ``{config}`` a `.properties` file with the settings that a case asks for, under Apache's names.

    It runs in the current directory, as it would from a shell. ``logs`` is where its output is kept.
    """

    server = None
    waits_alone = False

    line = None
    _example = "exec:'./my-ns --port {port}'"

    def __init__(self, uri: str, command: str, warp: float, logs: Path | None = None) -> None:
        self.uri = uri
        self._logs = logs
        self.capabilities = Capabilities(scheme="exec", starts="soon", warp=warp)
        self._warp = warp
        self._at_most = _AT_MOST
        try:
            self._words = shlex.split(command)
        except ValueError as problem:
            raise TargetError(
                expected="a command line after exec:", got=command, why=str(problem), do="close the quotes"
            ) from problem
        if not self._words:
            raise TargetError(
                expected="a command line after exec:",
                got="nothing",
                do=f"write for instance {self._example}",
            )
        if not any("{port}" in word for word in self._words):
            raise TargetError(
                expected="{port} somewhere in the command, in place of the port to listen at",
                got=command,
                do=f"write for instance {self._example}, or 'env PORT={{port}} ./my-server' where it reads a "
                "variable, or use tcp:// for a running server",
            )

    def start(self) -> ProcessInstance:
        return self.another()

    def another(self, setup: Setup = DEFAULT_SETUP) -> ProcessInstance:
        self._check(setup)
        at_most, self._at_most = self._at_most, 0.0
        return self._started(setup, at_most=at_most)

    def _started(self, setup: Setup, at_most: float = 0.0) -> ProcessInstance:
        return ProcessInstance(self._command(setup, at_most=at_most), kept_in=self._logs)

    def _check(self, setup: Setup) -> None:
        """Raises ``Unsupported`` where the command takes no settings."""
        if setup and not any("{config}" in word for word in self._words):
            raise Unsupported(
                "the case needs a server with other settings, and the command has no {config}: "
                "write it where the command takes a .properties file"
            )

    @property
    def _name(self) -> str:
        """The command up to its options: `python3 ns.py`."""
        options = (n for n, word in enumerate(self._words) if n and (word.startswith("-") or "{" in word))
        return shlex.join(self._words[: next(options, len(self._words))])

    def _look_for_program(self) -> None:
        """Raises ``TargetError`` where the first word of the command is no program."""
        program = self._words[0]
        if "{" in program or shutil.which(program):
            return
        path, here = Path(program), Path.cwd()
        if "/" not in program:
            got, do = (
                "no such command on the PATH",
                "install it, or write ./ before a program of this directory",
            )
        elif not path.exists():
            got, do = f"no such file (the current directory is {here})", "build it first, or correct the path"
        elif path.is_dir():
            got, do = "a directory", "name the program in it"
        else:
            got, do = (
                "a file that is not executable",
                f"say chmod +x {program}, or write what runs it before it",
            )
        raise TargetError(expected=f"a program called {program}", got=got, do=do)

    def _command(self, setup: Setup, known: Mapping[str, str] = _NOTHING, *, at_most: float = 0.0) -> Command:
        """What to run. ``known`` are further placeholders and what they stand for."""
        self._look_for_program()
        return Command(
            name=self._name,
            arguments=lambda port, directory: self._arguments(port, directory, setup, known),
            environment=lambda _: {**_UNBUFFERED, **faketime.environment(self._warp)},
            warp=self._warp,
            start_within=_START_WITHIN,
            at_most=at_most,
            answer_within=_ANSWER_WITHIN,
            runs_in=Path.cwd(),
            wants_tls=demands_tls(setup),
            ports=ports_of_nameserver(setup),
        )

    def _arguments(self, port: int, directory: Path, setup: Setup, known: Mapping[str, str]) -> list[str]:
        place_files(setup, directory)
        config = directory / "settings.properties"
        if not config.exists():  # a server may have changed it before it was restarted
            write_properties(config, with_controller(in_directory(setup, directory), port))
        placed = {"{port}": str(port), "{dir}": str(directory), "{config}": str(config), **known}
        return [_replaced(word, placed) for word in self._words]


def _replaced(word: str, known: Mapping[str, str]) -> str:
    for placeholder, value in known.items():
        word = word.replace(placeholder, value)
    return word


class ExecBrokerTarget(ExecTarget):
    """``exec:COMMAND[?warp=N]``; as for a NameServer, and ``{nameserver}`` is the address of ours."""

    _example = "exec:'./my-broker --port {port} --namesrv {nameserver} --config {config}'"

    def __init__(self, uri: str, command: str, warp: float, logs: Path | None = None) -> None:
        super().__init__(uri, command, warp, logs)
        if not any("{nameserver}" in word or "{config}" in word for word in self._words):
            raise TargetError(
                expected="{nameserver} in the command, in place of the NameServer to register with, "
                "or {config}, a .properties file that names it (namesrvAddr)",
                got=command,
                do=f"write for instance {self._example}",
            )

    def _started(self, setup: Setup, at_most: float = 0.0) -> BrokerProcess:
        wanted = {"namesrvAddr": "{nameserver}", "storePathRootDir": "{dir}/store", **dict(setup)}

        def command(addresses: tuple[str, ...]) -> Command:
            told = {key: with_nameservers(value, addresses) for key, value in wanted.items()}
            known = {"{nameserver}": told["namesrvAddr"]}
            made = self._command(tuple(told.items()), known, at_most=at_most)
            return msgspec.structs.replace(made, ports=PORTS)

        return BrokerProcess(command, self._warp, nameservers_in(setup), self._logs)
