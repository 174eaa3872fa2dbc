"""``exec:``: any server, started by its command line.

Rules of this module: no shell; ``{port}`` and ``{dir}`` are the only things that are replaced.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from harness.targets import warp as faketime
from harness.targets.errors import TargetError
from harness.targets.process import Command, ProcessInstance

__all__ = ["ExecTarget"]

_START_WITHIN = 20.0
_ANSWER_WITHIN = 3.0


class ExecTarget:
    """``exec:COMMAND[?warp=N]``; ``{port}`` is a free port, ``{dir}`` an empty directory of the target's
    own.
    """

    waits_alone = False

    line = None

    def __init__(self, uri: str, command: str, warp: float) -> None:
        self.uri = uri
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
                do="write for instance exec:'./my-ns --port {port}'",
            )
        if not any("{port}" in word for word in self._words):
            raise TargetError(
                expected="{port} somewhere in the command, in place of the port to listen at",
                got=command,
                do="write for instance exec:'./my-ns --port {port}', or use tcp:// for a running server",
            )

    def start(self) -> ProcessInstance:
        return ProcessInstance(
            Command(
                name=self._words[0],
                description=shlex.join(self._words) + (f", time x{self._warp:g}" if self._warp > 1 else ""),
                arguments=self._arguments,
                environment=lambda _: faketime.environment(self._warp),
                warp=self._warp,
                start_within=_START_WITHIN,
                answer_within=_ANSWER_WITHIN,
            )
        )

    another = start

    def _arguments(self, port: int, directory: Path) -> list[str]:
        return [word.replace("{port}", str(port)).replace("{dir}", str(directory)) for word in self._words]
