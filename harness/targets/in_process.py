"""A reference server in this process, in virtual time: connections without a network.

- Nothing is decided here: bytes go in, effects come out.
- The target acts while bytes are sent and while time is moved, never by itself: the same calls give the same
  run.
- Several threads may share an instance: one lock serves it.
- An exception of the server is its death, as it would be of a process: that call and each later one raises
  ``TargetDied`` with the same last words, until it is restarted. Only closing a connection to a dead server
  succeeds, as it does over a network.
- A server that `endures` loses to an exception what `serve` loses, asyncio being what it is: the connection
  that it was reading from; of a tick, what was due and every later tick until a peer makes it act again; of a
  file that cannot be written, what it was to send after that.
"""

from __future__ import annotations

import itertools
import logging
import tempfile
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, ParamSpec, SupportsBytes, TypeVar

from harness.session import (
    DEFAULT_SETUP,
    Ending,
    Setup,
    TargetDied,
    TransportTimeout,
    VirtualClock,
)
from harness.targets.errors import TargetError
from harness.targets.settings import in_directory, place_files, put_file
from harness.trace import How
from reference_impl.remoting.effects import Close, Effect, Notify, Persist, Send
from reference_impl.remoting.endpoint import RemotingEndpoint
from reference_impl.remoting.errors import DurabilityError

_FIRST_PORT = 20_000
_FIRST_LISTENER = 61_000
NEVER = 1 << 62

_P = ParamSpec("_P")
_T = TypeVar("_T")

_UNHEARD = logging.NullHandler()
"""What the server logs is for whoever runs one; here its answers tell as much."""


class StumbleError(Exception):
    """An exception of the server that it lives through."""


class InProcess:
    """A reference server with its connections. What it keeps on disk is kept here.

    ``title``: what it is called; ``server`` is the address that its peers see; ``epoch`` is its time when the
    clock begins, in ms.
    """

    title: ClassVar[str]
    server: ClassVar[str]
    endures = False
    """Whether an exception is what it is in `serve`, and not the death of the server."""

    def __init__(
        self, profile: str, mutant: str | None, setup: Setup = DEFAULT_SETUP, epoch: int = 0
    ) -> None:
        self._profile = profile
        self._mutant = mutant
        self._epoch = epoch
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._setup = dict(setup)
        if any("{dir}" in text for one in setup for text in one):
            self._setup = in_directory(setup, self._path())
            place_files(setup, self._path())
        self._lock = threading.RLock()
        self._files: dict[str, SupportsBytes] = {}
        """What it keeps on disk, by how it names the file; NAME.bak is what a file said before."""
        self._connections: dict[int, _Transport] = {}
        self._listeners: dict[str, _Listening] = {}
        self._numbers = itertools.count(1)
        self._stopped = False
        self._last_words = ""
        self._output = ""
        self._stopping = False
        self._stops_at = NEVER
        self._ticks = True
        """Whether it acts when something is due."""
        self._clock = VirtualClock(self._next_due, self._tick, self._lock)
        logging.getLogger("reference_impl").addHandler(_UNHEARD)
        self._endpoint = self._build()
        try:
            self._do_what_is_due()
        except TargetDied as problem:
            raise TargetError(
                expected="a server that starts", got=str(problem), do="mend what raises it"
            ) from problem

    @property
    def clock(self) -> VirtualClock:
        return self._clock

    @property
    def description(self) -> str:
        mutant = f", mutant {self._mutant}" if self._mutant else ""
        return f"reference {self.title} {self._profile}{mutant}, in process"

    def shared(self) -> None:
        """It lives in this process only: another one starts its own."""
        return

    def open(self) -> _Transport:
        return self._opened(self._endpoint.connected)

    def _opened(self, connected: Callable[[int, str, int], list[Effect]]) -> _Transport:
        """A new connection, which the server accepts as it does on one of its ports."""
        with self._lock:
            if self._stopped:
                raise TargetDied("the built-in target has been stopped")
            number = next(self._numbers)
            transport = _Transport(self, number, f"127.0.0.1:{_FIRST_PORT + number % 40_000}")
            self._connections[number] = transport
            try:
                self._carry_out(self._given(connected, number, transport.local, self._time))
            except StumbleError:
                self._cut(number)
            return transport

    def _dialled(self, address: str) -> int | None:
        """The number of a connection that the server makes to a listener; None if nothing listens there."""
        listening = self._listeners.get(address)
        if listening is None:
            return None
        number = next(self._numbers)
        self._connections[number] = _Transport(self, number, address)
        listening.took(self._connections[number])
        return number

    def restart(self, how: Ending = "term") -> None:
        with self._lock:
            if how == "term" and not self._last_words:
                with suppress(StumbleError):
                    self._given(self._endpoint.stop, self._time)
                    self._carry_out(self._given(self._endpoint.tick, self._time))
            for transport in self._connections.values():
                transport.ended = True
            self._connections.clear()
            self._last_words = ""
            try:
                self._endpoint = self._asked(self._build)
                self._do_what_is_due()
            except StumbleError as problem:
                raise self._death(problem) from problem

    def shutdown(self) -> None:
        with self._lock:
            self._stopping = True
            self._act()

    def place(self, name: str, data: bytes | None) -> None:
        put_file(self._path() / name, data)

    def listen(self) -> _Listening:
        with self._lock:
            listening = _Listening(self, f"127.0.0.1:{_FIRST_LISTENER + len(self._listeners)}")
            self._listeners[listening.address] = listening
            return listening

    def alive(self) -> bool:
        return not (self._stopped or self._last_words)

    def output(self) -> str:
        """The stack trace of its death; nothing before that."""
        return self._output

    @property
    def log(self) -> None:
        return None

    def stop(self) -> None:
        with self._lock:
            self._end()
        if self._directory is not None:
            self._directory.cleanup()

    def sent(self, number: int, data: bytes) -> None:
        """Bytes from the harness."""
        with self._lock:
            try:
                self._carry_out(self._given(self._endpoint.received, number, data, self._time))
                if self.endures and self._asked(lambda: self._endpoint.is_due):
                    self._do_what_is_due()
            except StumbleError:
                self._cut(number)

    def left(self, number: int) -> None:
        """The harness has closed its end."""
        with self._lock:
            self._connections.pop(number, None)
            if not self._last_words:
                self._lose(number)

    def half_closed(self, number: int) -> None:
        """The harness has closed its sending direction."""
        with self._lock:
            if self._last_words:
                return
            try:
                self._carry_out(self._given(self._endpoint.half_closed, number, self._time))
                if self.endures:
                    self._do_what_is_due()
            except StumbleError:
                self._cut(number)

    def wait(self, transport: _End, timeout: float) -> bool:
        """Moves time on until something has come on a connection, at most by these virtual seconds."""
        with self._lock:
            return self._clock.run_until(lambda: bool(transport.arrived) or transport.ended, timeout)

    def _build(self) -> RemotingEndpoint:
        """The server, started with what there is on disk."""
        raise NotImplementedError

    def _asked(self, method: Callable[_P, _T], *args: _P.args, **named: _P.kwargs) -> _T:
        """What a method of the server gives. Raises ``TargetDied`` where it raises, or has before; a server
        that endures it raises ``StumbleError``.
        """
        if self._last_words:
            raise TargetDied(self._last_words)
        try:
            return method(*args, **named)
        except Exception as problem:
            if self.endures and not isinstance(problem, DurabilityError):
                raise StumbleError(f"{type(problem).__name__}: {problem}") from problem
            raise self._death(problem) from problem

    def _death(self, problem: Exception) -> TargetDied:
        """That the server ends by this exception."""
        cause = problem.__cause__ if isinstance(problem, StumbleError) else problem
        self._last_words = f"the target died: {type(cause).__name__}: {cause}"
        self._output = "".join(traceback.format_exception(cause))
        return TargetDied(self._last_words)

    def _given(self, method: Callable[_P, _T], *args: _P.args, **named: _P.kwargs) -> _T:
        """What a method of the server gives, which must be something: nothing is its death, too."""

        def given() -> _T:
            found = method(*args, **named)
            if found is None:
                raise TypeError(f"{method.__name__} gives nothing")
            return found

        return self._asked(given)

    def _effect(self, effect: Effect) -> None:
        """Carries one effect out."""
        match effect:
            case Send(connection, data):
                if connection in self._connections:
                    self._asked(self._connections[connection].arrived.extend, data)
            case Close(connection):
                if connection in self._connections:
                    self._connections.pop(connection).ended = True
            case Persist(path_key, data):
                if path_key in self._files:
                    self._files[f"{path_key}.bak"] = self._files[path_key]
                self._files[path_key] = data
            case Notify(address, data):
                if address in self._listeners:
                    self._listeners[address].heard(data)

    def _stored(self) -> dict[str, bytes]:
        """The content of the files that it has written."""
        return {name: bytes(data) for name, data in self._files.items()}

    @property
    def _time(self) -> int:
        """The server's time, in ms."""
        return self._epoch + self._clock.milliseconds

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            try:
                self._effect(effect)
            except (StumbleError, TargetDied):
                raise
            except Exception as problem:
                if not self.endures:
                    raise
                if isinstance(effect, Persist):
                    return
                raise StumbleError(f"{type(problem).__name__}: {problem}") from problem

    def _cut(self, number: int) -> None:
        """A connection ends at which the server has stumbled."""
        if (transport := self._connections.pop(number, None)) is not None:
            transport.ended = True
        self._lose(number)

    def _lose(self, number: int) -> None:
        """The server learns that a connection has ended."""
        with suppress(StumbleError):
            self._carry_out(self._given(self._endpoint.lost, number, self._time))
            if self.endures:
                self._do_what_is_due()

    def _act(self) -> None:
        """What is due now, as far as the server does not stumble over it."""
        with suppress(StumbleError):
            self._do_what_is_due()

    def _do_what_is_due(self) -> None:
        """A server that is to stop is asked when, again and again. One that stumbles has nothing due after
        that.
        """
        self._ticks = False
        self._carry_out(self._given(self._endpoint.tick, self._time))
        if self._stopping:
            self._stops_at = self._given(self._endpoint.stop, self._time) - self._epoch
            self._carry_out(self._given(self._endpoint.tick, self._time))
            if self._clock.milliseconds >= self._stops_at:
                self._end()
        self._ticks = True

    def _next_due(self) -> int:
        with self._lock:
            if self._stopped:
                return NEVER
            if self._ticks:
                with suppress(StumbleError):
                    due = self._given(self._endpoint.next_tick, self._time) - self._epoch
                    return min(self._stops_at, due)
                self._ticks = False
            return self._stops_at

    def _tick(self, now: int) -> None:
        with self._lock:
            self._act()

    def _end(self) -> None:
        for transport in self._connections.values():
            transport.ended = True
        self._connections.clear()
        self._stopped = True

    def _path(self) -> Path:
        if self._directory is None:
            self._directory = tempfile.TemporaryDirectory(prefix="rmq-builtin-")
        return Path(self._directory.name)


class _End:
    """Our end of a connection to the reference or from it, without a network."""

    def __init__(self, instance: InProcess, local: str) -> None:
        self._instance = instance
        self._local = local
        self.arrived = bytearray()
        self.ended = False

    @property
    def local(self) -> str:
        return self._local

    @property
    def remote(self) -> str:
        return self._instance.server

    def receive(self, timeout: float) -> bytes:
        if not self.arrived and not self._instance.wait(self, timeout):
            raise TransportTimeout
        data = bytes(self.arrived)
        self.arrived.clear()
        return data


class _Transport(_End):
    """A connection that we have made."""

    def __init__(self, instance: InProcess, number: int, local: str) -> None:
        super().__init__(instance, local)
        self._number = number

    def send(self, data: bytes) -> bool:
        if self.ended:
            return False
        self._instance.sent(self._number, data)
        return True

    def close(self, how: How) -> None:
        if how == "half":
            self._instance.half_closed(self._number)
            return
        self.ended = True
        self._instance.left(self._number)


class _Listening:
    """An address at which the reference finds a listener."""

    def __init__(self, instance: InProcess, address: str) -> None:
        self._instance = instance
        self._address = address
        self._inbound: _Inbound | None = None
        self._waiting: list[_Inbound | _Transport] = []

    @property
    def address(self) -> str:
        return self._address

    def accept(self) -> _Inbound | _Transport | None:
        return self._waiting.pop(0) if self._waiting else None

    def close(self) -> None:
        """Nothing: what comes is not looked at."""

    def took(self, connection: _Transport) -> None:
        """A connection that the reference has made."""
        self._waiting.append(connection)

    def heard(self, data: bytes) -> None:
        """A frame from the reference, all of them over one connection."""
        if self._inbound is None:
            self._inbound = _Inbound(self._instance, self._address)
            self._waiting.append(self._inbound)
        self._inbound.arrived += data


class _Inbound(_End):
    """The connection that the reference makes to a listener."""

    def send(self, data: bytes) -> bool:
        return True

    def close(self, how: How) -> None:
        self.ended = True
