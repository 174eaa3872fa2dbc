"""Servers that can be killed by the hundred, sound ones and faulty ones.

A server is a process of its own, forked from one that has everything imported: SIGKILL is the real one, and a
start takes milliseconds.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from forking import CONTEXT

from harness.wire import Command, FrameBuffer, decode, encode
from reference_impl import serve
from reference_impl.broker.store import Store
from reference_impl.serve import nameserver

PATIENCE = 30.0


class Process:
    """A server on any free port: `run` with these arguments, and with where it says that it is ready."""

    def __init__(self, run: Callable[..., None], *arguments: object) -> None:
        said, saying = CONTEXT.Pipe(duplex=False)
        self.process = CONTEXT.Process(target=run, args=(*arguments, saying), daemon=True)
        self.process.start()
        saying.close()
        self.said = ""
        while " ready on " not in self.said:
            if not said.poll(PATIENCE):
                raise AssertionError(f"the server is not ready within {PATIENCE} s: {self.said!r}")
            try:
                self.said += said.recv()
            except EOFError:
                self.process.join(PATIENCE)
                raise AssertionError(f"the server does not start: {self.said!r}") from None
        self.port = int(self.said.partition("127.0.0.1:")[2].partition(",")[0])

    def kill(self) -> None:
        """SIGKILL; returns when the process is gone."""
        self.process.kill()
        self.process.join(PATIENCE)
        assert not self.process.is_alive()


class Server(Process):
    """`serve nameserver -c FILE`. `fault` is the name of one of FAULTS, or empty."""

    def __init__(self, config_file: Path, fault: str = "") -> None:
        super().__init__(_run_nameserver, str(config_file), fault)


class BrokerServer(Process):
    """`serve broker -c FILE`. With `too_early` it answers before it has handed over what it stored."""

    def __init__(self, config_file: Path, *, too_early: bool = False) -> None:
        super().__init__(_run_broker, str(config_file), too_early)


class Client:
    """One connection, one request at a time."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._buffer = FrameBuffer()

    def ask(self, code: int, ext: dict[str, str | None] | None = None, body: bytes = b"") -> Command:
        """Raises OSError where the server dies before its answer is here. What it asks is passed over."""
        self._socket.sendall(encode(Command(code=code, ext=ext, body=body)))
        while not (answer := self._received()).is_response:
            pass
        return answer

    def _received(self) -> Command:
        while (frame := self._buffer.next_frame()) is None:
            data = self._socket.recv(1 << 20)
            if not data:
                raise ConnectionError("closed")
            self._buffer.feed(data)
        return decode(frame)

    def close(self) -> None:
        self._socket.close()


def _run_nameserver(config_file: str, fault: str, saying: Connection) -> None:
    if fault:
        FAULTS[fault]()
    sys.stdout = sys.stderr = _Told(saying)
    serve.run(config_file=config_file, host="127.0.0.1", port=0)


def _run_broker(config_file: str, too_early: bool, saying: Connection) -> None:
    if too_early:
        Store.commit = Store.flush = lambda _: None  # type: ignore[method-assign]
    sys.stdout = sys.stderr = _Told(saying)
    serve.run_broker(config_file=config_file, host="127.0.0.1", port=0)


class _Told:
    """A text file that is read at the other end of a pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def write(self, text: str) -> None:
        self._pipe.send(text)

    def flush(self) -> None:
        return


def _in_place() -> None:
    """Writes over the file, piece by piece, as 5.x does (`MixAll#string2FileNotSafe`).

    Slowly, so that a kill at work rarely misses a write: how fast the machine is must not decide the test.
    """

    def replace(path: Path, data: bytes) -> None:
        with path.open("wb", buffering=0) as file:
            for start in range(0, len(data), 8192):
                file.write(data[start : start + 8192])
                time.sleep(0.002)

    _put("replace", replace)


def _after_the_answer() -> None:
    """Writes the file a moment after the answer has left."""
    sound = nameserver.replace

    def replace(path: Path, data: bytes) -> None:
        asyncio.get_running_loop().call_later(0.02, sound, path, data)

    _put("replace", replace)


def _put(name: str, function: Callable[..., Any]) -> None:
    setattr(nameserver, name, function)


FAULTS = {"in place": _in_place, "after the answer": _after_the_answer}
