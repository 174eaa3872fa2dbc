"""``exec:``: any server, started by its command line.

No shell; ``{port}``, ``{dir}`` and ``{config}`` are the only things that are replaced.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec

from harness.session import DEFAULT_SETUP, Setup, Unsupported
from harness.targets import warp as faketime
from harness.targets.capabilities import Capabilities
from harness.targets.errors import TargetError
from harness.targets.probed_broker import PORTS, BrokerProcess, nameservers_in, with_nameservers
from harness.targets.process import Command, ProcessInstance
from harness.targets.settings import demands_tls, in_directory, write_properties

_NOTHING: Mapping[str, str] = {}
_START_WITHIN = 20.0
_ANSWER_WITHIN = 3.0


class ExecTarget:
    """``exec:COMMAND[?warp=N]``; ``{port}`` is a free port, ``{dir}`` an empty directory of the target's
    own, ``{config}`` a `.properties` file with the settings that a case asks for, under Apache's names.
    """

    server = None
    waits_alone = False

    line = None
    _example = "exec:'./my-ns --port {port}'"

    def __init__(self, uri: str, command: str, warp: float) -> None:
        self.uri = uri
        self.capabilities = Capabilities(scheme="exec", starts="soon", warp=warp)
        self._warp = warp
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
        if "/" in self._words[0] and not self._words[0].startswith("{"):
            # `./my-ns` is meant from here, and runs in the directory of its own.
            self._words[0] = str(Path(self._words[0]).absolute())
        if not any("{port}" in word for word in self._words):
            raise TargetError(
                expected="{port} somewhere in the command, in place of the port to listen at",
                got=command,
                do=f"write for instance {self._example}, or use tcp:// for a running server",
            )

    def start(self) -> ProcessInstance:
        return self.another()

    def another(self, setup: Setup = DEFAULT_SETUP) -> ProcessInstance:
        self._check(setup)
        return ProcessInstance(self._command(setup))

    def _check(self, setup: Setup) -> None:
        """Raises ``Unsupported`` where the command takes no settings."""
        if setup and not any("{config}" in word for word in self._words):
            raise Unsupported(
                "the case needs a server with other settings, and the command has no {config}: "
                "write it where the command takes a .properties file"
            )

    def _command(self, setup: Setup, known: Mapping[str, str] = _NOTHING) -> Command:
        """What to run. ``known`` are further placeholders and what they stand for."""
        return Command(
            name=self._words[0],
            description=shlex.join(self._words) + (f", time x{self._warp:g}" if self._warp > 1 else ""),
            arguments=lambda port, directory: self._arguments(port, directory, setup, known),
            environment=lambda _: faketime.environment(self._warp),
            warp=self._warp,
            start_within=_START_WITHIN,
            answer_within=_ANSWER_WITHIN,
            wants_tls=demands_tls(setup),
        )

    def _arguments(self, port: int, directory: Path, setup: Setup, known: Mapping[str, str]) -> list[str]:
        config = directory / "settings.properties"
        if not config.exists():  # a server may have changed it before it was restarted
            write_properties(config, in_directory(setup, directory))
        placed = {"{port}": str(port), "{dir}": str(directory), "{config}": str(config), **known}
        return [_replaced(word, placed) for word in self._words]


def _replaced(word: str, known: Mapping[str, str]) -> str:
    for placeholder, value in known.items():
        word = word.replace(placeholder, value)
    return word


class ExecBrokerTarget(ExecTarget):
    """``exec:COMMAND[?warp=N]``; as for a NameServer, and ``{nameserver}`` is the address of ours."""

    _example = "exec:'./my-broker --port {port} --namesrv {nameserver} --config {config}'"

    def __init__(self, uri: str, command: str, warp: float) -> None:
        super().__init__(uri, command, warp)
        if not any("{nameserver}" in word or "{config}" in word for word in self._words):
            raise TargetError(
                expected="{nameserver} in the command, in place of the NameServer to register with, "
                "or {config}, a .properties file that names it (namesrvAddr)",
                got=command,
                do=f"write for instance {self._example}",
            )

    def another(self, setup: Setup = DEFAULT_SETUP) -> BrokerProcess:
        self._check(setup)
        wanted = {"namesrvAddr": "{nameserver}", "storePathRootDir": "{dir}/store", **dict(setup)}

        def command(addresses: tuple[str, ...]) -> Command:
            told = {key: with_nameservers(value, addresses) for key, value in wanted.items()}
            known = {"{nameserver}": told["namesrvAddr"]}
            return msgspec.structs.replace(self._command(tuple(told.items()), known), ports=PORTS)

        return BrokerProcess(command, self._warp, nameservers_in(setup))
