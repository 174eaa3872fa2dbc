"""The reference implementation as a target: in this process, in virtual time.

Rules of this module:
- The only room of the harness that imports ``reference_impl``; nothing is decided here: bytes go in, effects
  come out.
- The target acts while bytes are sent and while time is moved, never by itself: the same calls give the same
  run.
- Several threads may share an instance: one lock serves it.
"""

from __future__ import annotations

import itertools
import tempfile
import threading
from difflib import get_close_matches
from pathlib import Path

from harness.session import (
    DEFAULT_SETUP,
    Ending,
    ProfileName,
    Setup,
    TargetDied,
    TransportTimeout,
    VirtualClock,
)
from harness.targets.nature import Nature
from harness.targets.settings import in_directory
from harness.trace import How
from reference_impl.certificates import certificates_for
from reference_impl.mutants import MUTANTS
from reference_impl.nameserver import Close, Config, Effect, Endpoint, Notify, Persist, Send, build

__all__ = ["PROFILES", "BuiltinInstance", "BuiltinTarget", "mutant_names", "problem_with"]

PROFILES: tuple[ProfileName, ...] = ("4.9", "5.3", "5.5")
"""What the reference can be; the last is the one where none is named."""

_SERVER = "127.0.0.1:9876"
_FIRST_PORT = 20_000
_FIRST_LISTENER = 61_000
_NEVER = 1 << 62


def problem_with(profile: str, mutant: str | None) -> str | None:
    """Why there is no such reference, or None."""
    if mutant is not None and mutant not in MUTANTS:
        close = get_close_matches(mutant, MUTANTS, cutoff=0.5)
        meant = f"; did you mean {' or '.join(close)}?" if close else ""
        return f"there is no mutant {mutant!r} among {len(MUTANTS)}{meant}"
    try:
        build(profile, mutant=mutant)
    except ValueError as problem:
        return str(problem)
    return None


def mutant_names() -> tuple[str, ...]:
    """The names of all deliberate faults of the reference."""
    return tuple(MUTANTS)


class BuiltinTarget:
    """``builtin:[PROFILE][?mutant=NAME]``."""

    server = None
    waits_alone = False
    nature = Nature(scheme="builtin", starts="at once", warp=0.0)

    def __init__(self, uri: str, line: ProfileName, mutant: str | None) -> None:
        self.uri = uri
        self.line: ProfileName = line
        self._mutant = mutant

    def start(self) -> BuiltinInstance:
        return self.another()

    def another(self, setup: Setup = DEFAULT_SETUP) -> BuiltinInstance:
        return BuiltinInstance(self.line, self._mutant, setup)


class BuiltinInstance:
    """A reference NameServer with its connections. What it keeps on disk is kept here."""

    def __init__(self, profile: ProfileName, mutant: str | None, setup: Setup = DEFAULT_SETUP) -> None:
        self._profile = profile
        self._mutant = mutant
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        has_files = any("{dir}" in value for _, value in setup)
        self._setup = in_directory(setup, self._path()) if has_files else dict(setup)
        self._lock = threading.RLock()
        self._files: dict[str, bytes] = {}
        """What it keeps on disk, by the setting that names the file."""
        self._connections: dict[int, _Transport] = {}
        self._listeners: dict[str, _Listening] = {}
        self._numbers = itertools.count(1)
        self._stopped = False
        self._stops_at = _NEVER
        self._clock = VirtualClock(self._next_due, self._tick, self._lock)
        self._endpoint = self._build()

    @property
    def clock(self) -> VirtualClock:
        return self._clock

    @property
    def description(self) -> str:
        mutant = f", mutant {self._mutant}" if self._mutant else ""
        return f"reference NameServer {self._profile}{mutant}, in process"

    def shared(self) -> None:
        """It lives in this process only: another one starts its own."""
        return

    def open(self) -> _Transport:
        with self._lock:
            if self._stopped:
                raise TargetDied("the built-in target has been stopped")
            number = next(self._numbers)
            transport = _Transport(self, number, f"127.0.0.1:{_FIRST_PORT + number % 40_000}")
            self._connections[number] = transport
            self._carry_out(self._endpoint.connected(number, transport.local, self._clock.milliseconds))
            return transport

    def restart(self, how: Ending = "term") -> None:
        with self._lock:
            for transport in self._connections.values():
                transport.ended = True
            self._connections.clear()
            self._endpoint = self._build()

    def shutdown(self) -> None:
        with self._lock:
            self._stops_at = self._endpoint.stop(self._clock.milliseconds)
            self._tick(self._clock.milliseconds)

    def place(self, name: str, data: bytes) -> None:
        temporary = self._path() / f".{name}.new"
        temporary.write_bytes(data)
        temporary.replace(self._path() / name)

    def listen(self) -> _Listening:
        with self._lock:
            listening = _Listening(self, f"127.0.0.1:{_FIRST_LISTENER + len(self._listeners)}")
            self._listeners[listening.address] = listening
            return listening

    def alive(self) -> bool:
        return not self._stopped

    def output(self) -> str:
        return ""

    def stop(self) -> None:
        with self._lock:
            self._end()
        if self._directory is not None:
            self._directory.cleanup()

    def _end(self) -> None:
        for transport in self._connections.values():
            transport.ended = True
        self._connections.clear()
        self._stopped = True

    def _path(self) -> Path:
        if self._directory is None:
            self._directory = tempfile.TemporaryDirectory(prefix="rmq-builtin-")
        return Path(self._directory.name)

    def sent(self, number: int, data: bytes) -> None:
        """Bytes from the harness."""
        with self._lock:
            self._carry_out(self._endpoint.received(number, data, self._clock.milliseconds))

    def left(self, number: int) -> None:
        """The harness has closed its end."""
        with self._lock:
            self._connections.pop(number, None)
            self._carry_out(self._endpoint.lost(number, self._clock.milliseconds))

    def half_closed(self, number: int) -> None:
        """The harness has closed its sending direction."""
        with self._lock:
            self._carry_out(self._endpoint.half_closed(number, self._clock.milliseconds))

    def wait(self, transport: _Transport | _Inbound, timeout: float) -> bool:
        """Moves time on until something has come on a connection, or for so many virtual seconds."""
        with self._lock:
            return self._clock.run_until(lambda: bool(transport.arrived) or transport.ended, timeout)

    def _build(self) -> Endpoint:
        written = self._files.get("configStorePath")
        return build(
            self._profile,
            config=Config.of(self._setup, self._profile)
            if written is None
            else Config.from_properties(written, self._profile),
            kv=self._files.get("kvConfigPath"),
            mutant=self._mutant,
            started=self._clock.milliseconds,
            certificates=certificates_for(self._setup, lambda _: None),
        )

    def _next_due(self) -> int:
        with self._lock:
            if self._stopped:
                return _NEVER
            return min(self._stops_at, self._endpoint.next_tick(self._clock.milliseconds))

    def _tick(self, now: int) -> None:
        with self._lock:
            self._carry_out(self._endpoint.tick(now))
            if now >= self._stops_at:
                self._end()

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Send(connection, data):
                    if connection in self._connections:
                        self._connections[connection].arrived += data
                case Close(connection):
                    if connection in self._connections:
                        self._connections.pop(connection).ended = True
                case Persist(path_key, data):
                    self._files[path_key] = data
                case Notify(address, data):
                    if address in self._listeners:
                        self._listeners[address].heard(data)


class _Transport:
    """One connection to the reference, without a network."""

    def __init__(self, instance: BuiltinInstance, number: int, local: str) -> None:
        self._instance = instance
        self._number = number
        self._local = local
        self.arrived = bytearray()
        self.ended = False

    @property
    def local(self) -> str:
        return self._local

    @property
    def remote(self) -> str:
        return _SERVER

    def send(self, data: bytes) -> bool:
        if self.ended:
            return False
        self._instance.sent(self._number, data)
        return True

    def receive(self, timeout: float) -> bytes:
        if not self._instance.wait(self, timeout):
            raise TransportTimeout
        data = bytes(self.arrived)
        self.arrived.clear()
        return data

    def close(self, how: How) -> None:
        if how == "half":
            self._instance.half_closed(self._number)
            return
        self.ended = True
        self._instance.left(self._number)


class _Listening:
    """An address where the reference finds somebody."""

    def __init__(self, instance: BuiltinInstance, address: str) -> None:
        self._instance = instance
        self._address = address
        self._inbound: _Inbound | None = None
        self._accepted = False

    @property
    def address(self) -> str:
        return self._address

    def accept(self) -> _Inbound | None:
        if self._accepted:
            return None
        self._accepted = self._inbound is not None
        return self._inbound

    def close(self) -> None:
        """Nothing: what comes is not looked at."""

    def heard(self, data: bytes) -> None:
        """A frame from the reference, all of them over one connection."""
        if self._inbound is None:
            self._inbound = _Inbound(self._instance, self._address)
        self._inbound.arrived += data


class _Inbound:
    """The connection that the reference makes to a listener."""

    def __init__(self, instance: BuiltinInstance, local: str) -> None:
        self._instance = instance
        self._local = local
        self.arrived = bytearray()
        self.ended = False

    @property
    def local(self) -> str:
        return self._local

    @property
    def remote(self) -> str:
        return _SERVER

    def send(self, data: bytes) -> bool:
        return True

    def receive(self, timeout: float) -> bytes:
        if not self._instance.wait(self, timeout):
            raise TransportTimeout
        data = bytes(self.arrived)
        self.arrived.clear()
        return data

    def close(self, how: How) -> None:
        self.ended = True
