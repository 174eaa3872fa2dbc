"""The reference NameServer on sockets: asyncio (uvloop where it is installed). No protocol decision lives
here.

Rules:
1. Bytes and time go to the endpoint, effects are carried out in their order; nothing else happens to a
   connection.
2. Memory is bounded per connection: while a peer does not read its answers, no more of its requests are
   answered and nothing more is read from its socket. So a connection holds at most one incomplete frame, what
   one read gave, and `MOST` bytes of answers. Time is shared: of what one read gave, a connection gets a part
   answered in each turn of the loop, and nothing more is read until that is done.
3. The KV file and the configuration file are replaced atomically (temporary file, fsync, rename, fsync of the
   directory) before the answer leaves: a kill at any moment leaves the old file or the new one, and what was
   answered is in it. What one turn of the event loop changes is written once. If writing fails, it is said on
   standard error and the answer is sent all the same, as Apache does.
4. A person's mistake (configuration, occupied port, unreadable KV file) ends in one clear line and an exit
   status, never in a stack trace. The statuses are those of the project (3: usage or configuration, 4: cannot
   be started), which tell more than Apache's 1 and 255; the options -c, -p, -n and -h are Apache's.
5. Nothing is written to a place that nobody named: without `kvConfigPath` and without a configuration file,
   what Apache's server would write below the home directory is kept in memory.

`run` is what the command line calls; `serve_nameserver` is the same inside an event loop.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec

from reference_impl.certificates import certificates_for
from reference_impl.nameserver import (
    PROFILES,
    Close,
    Config,
    ConfigError,
    Effect,
    Endpoint,
    KvError,
    Notify,
    Persist,
    Send,
    Settings,
    build,
)
from reference_impl.outbound import Outbound

__all__ = ["EXIT_CONFIGURATION", "EXIT_NOT_STARTED", "StartError", "run", "serve_nameserver"]

EXIT_CONFIGURATION = 3
"""Exit status for a configuration that cannot be used."""
EXIT_NOT_STARTED = 4
"""Exit status for a server that cannot be started: port, KV file."""

MOST = 1_048_576
"""Bytes of answers after which it is looked whether the peer reads them."""
TICK_AT_MOST = 0.25
"""Seconds after which the endpoint is asked again at the latest when its next tick is."""
LINGER = 5.0
"""Seconds that a peer has to read what was sent before a close."""


class StartError(Exception):
    """The server cannot start. The text is for people; `status` is the exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def run(
    *,
    profile: str = "5.5",
    host: str | None = None,
    port: int | None = None,
    config_file: str | os.PathLike[str] | None = None,
    kv_file: str | os.PathLike[str] | None = None,
    print_config: bool = False,
) -> int:
    """Serve until SIGTERM or SIGINT; returns the exit status (0, 3 or 4). A second signal hurries a graceful
    stop.

    `config_file` is a Java `.properties` file with Apache's names (-c). `host`, `port` and `kv_file` go
    before it; port 0 is any free one. `print_config` (-p) prints the settings and returns. When the port is
    open, one line with the address goes to standard output.
    """
    try:
        if profile not in PROFILES:
            raise StartError(
                f"unknown profile {profile!r}; use one of {', '.join(PROFILES)}", EXIT_CONFIGURATION
            )
        settings = _settings(profile, config_file, host, port, kv_file)
        if print_config:
            _say(Settings(PROFILES[profile], settings).dump().decode("ascii").rstrip("\n"))
            return 0
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_until_signal(profile, settings))
    except StartError as error:
        _complain(f"nameserver: {error}")
        return error.status
    except KeyboardInterrupt:  # where the loop cannot handle signals
        pass
    return 0


async def serve_nameserver(
    *,
    profile: str = "5.5",
    config: Config | None = None,
    stop: asyncio.Event,
    ready: Callable[[str, int], None] | None = None,
) -> None:
    """Serve until `stop` is set, and then for as long as the settings say for a graceful stop.

    `ready` is called with host and port once connections are accepted. Setting `stop` again ends it at once.

    Raises StartError if the port or the KV file cannot be used.
    """
    settings = Config() if config is None else config
    server = _Server(profile, settings)
    loop = asyncio.get_running_loop()
    try:
        listener = await loop.create_server(
            lambda: _Connection(server), settings.bind_address, settings.listen_port, backlog=1024
        )
    except OSError as error:
        reason = error.strerror or str(error)
        where = f"{settings.bind_address}:{settings.listen_port}"
        raise StartError(
            f"cannot listen on {where}: {reason}; choose another --port or --host, or stop what uses it",
            EXIT_NOT_STARTED,
        ) from error
    server.start()
    try:
        address = listener.sockets[0].getsockname()
        if ready is not None:
            ready(address[0], address[1])
        await stop.wait()
        stop.clear()
        ways = [asyncio.create_task(server.farewell()), asyncio.create_task(stop.wait())]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
    finally:
        listener.close()
        server.stop()


class _Server:
    """The endpoint, its connections, its clock."""

    def __init__(self, profile: str, config: Config) -> None:
        named = {"kvConfigPath": config.kv_config_path, "configStorePath": config.config_store_path}
        self._files = {key: Path(name) for key, name in named.items() if name}
        kv_file = self._files.get("kvConfigPath")
        try:
            stored = kv_file.read_bytes() if kv_file is not None and kv_file.exists() else None
            self.endpoint: Endpoint = build(
                profile,
                config=config,
                kv=stored,
                started=self.now(),
                certificates=certificates_for(config.file, lambda text: _complain(f"nameserver: {text}")),
            )
        except (OSError, KvError) as error:
            raise StartError(
                f"KV file {kv_file} cannot be read: {error}; mend it or move it away", EXIT_NOT_STARTED
            ) from error
        self._connections: dict[int, _Connection] = {}
        self._numbers = 0
        self._timer: asyncio.TimerHandle | None = None
        self._held: list[Effect] = []
        """What waits until files are written, in its order: everything since the first `Persist` among it."""
        self._outbound = Outbound()

    def now(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def start(self) -> None:
        self._tick()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._write_held()
        for connection in list(self._connections.values()):
            connection.transport.abort()
        self._outbound.stop()

    async def farewell(self) -> None:
        """Goes on until the endpoint's time for a stop is over."""
        while (left := self.endpoint.stop(self.now()) - self.now()) > 0:
            await asyncio.sleep(min(left / 1000, TICK_AT_MOST))

    def opened(self, connection: "_Connection", peer: str) -> int:
        self._numbers += 1
        self._connections[self._numbers] = connection
        self.perform(self.endpoint.connected(self._numbers, peer, self.now()))
        return self._numbers

    def received(self, number: int, data: bytes) -> None:
        now = self.now()
        self.perform(self.endpoint.received(number, data, now, MOST))
        if self.endpoint.is_due:
            self._tick()

    def half_closed(self, number: int) -> None:
        self.perform(self.endpoint.half_closed(number, self.now()))
        self._tick()

    def ended(self, number: int) -> None:
        if self._connections.pop(number, None) is not None:
            self.perform(self.endpoint.lost(number, self.now()))
            self._tick()

    @property
    def is_holding(self) -> bool:
        """Whether answers wait for a file: they will be sent before anything more is read."""
        return bool(self._held)

    def perform(self, effects: list[Effect]) -> None:
        if self._held:
            self._held += effects
        elif any(type(effect) is Persist for effect in effects):
            self._held = effects
            asyncio.get_running_loop().call_soon(self._write_held)
        else:
            self._carry_out(effects)

    def _write_held(self) -> None:
        held, self._held = self._held, []
        for path_key, data in {e.path_key: e.data for e in held if type(e) is Persist}.items():
            self._write(path_key, data)
        self._carry_out(held)
        for number in {effect.connection for effect in held if type(effect) is Send}:
            if (connection := self._connections.get(number)) is not None:
                connection.go_on()

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            if type(effect) is Send:
                connection = self._connections.get(effect.connection)
                if connection is not None:
                    connection.transport.write(effect.data)
            elif type(effect) is Close:
                connection = self._connections.pop(effect.connection, None)
                if connection is not None:
                    connection.close()
            elif type(effect) is Notify:
                self._outbound.send(effect.address, effect.data)

    def _tick(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        now = self.now()
        self.perform(self.endpoint.tick(now))
        wait = min((self.endpoint.next_tick(now) - now) / 1000, TICK_AT_MOST)
        self._timer = asyncio.get_running_loop().call_later(wait, self._tick)

    def _write(self, path_key: str, data: bytes) -> None:
        path = self._files.get(path_key)
        if path is None:
            return
        try:
            _replace(path, data)
        except OSError as error:
            _complain(f"nameserver: {path_key} {path} cannot be written: {error}")


class _Connection(asyncio.Protocol):
    """One accepted connection."""

    transport: asyncio.Transport
    number: int

    def __init__(self, server: _Server) -> None:
        self._server = server
        self._paused = False
        self._reads = True
        self._is_scheduled = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's transports do not inherit from it
        connected: socket.socket | None = transport.get_extra_info("socket")
        if connected is not None:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        name = transport.get_extra_info("peername")
        self.number = self._server.opened(self, f"{name[0]}:{name[1]}" if name else "")

    def data_received(self, data: bytes) -> None:
        self._server.received(self.number, data)
        self.go_on()

    def pause_writing(self) -> None:
        self._paused = True
        self._read_on()

    def resume_writing(self) -> None:
        self._paused = False
        self.go_on()

    def go_on(self) -> None:
        """See to what was held back, as long as the peer reads: a part of it in each turn of the loop."""
        if not self._is_scheduled and self._may_go_on():
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._part)
        self._read_on()

    def _may_go_on(self) -> bool:
        server = self._server
        return not (self._paused or server.is_holding) and server.endpoint.has_waiting(self.number)

    def _part(self) -> None:
        self._is_scheduled = False
        if self._may_go_on():
            self._server.received(self.number, b"")
        self.go_on()

    def _read_on(self) -> None:
        """Reads from the socket, or stops to: not while the peer does not read, nor while something waits."""
        wanted = not (self._paused or self._server.endpoint.has_waiting(self.number))
        if wanted is not self._reads and not self.transport.is_closing():
            self._reads = wanted
            if wanted:
                self.transport.resume_reading()
            else:
                self.transport.pause_reading()

    def eof_received(self) -> bool:
        """The peer has half-closed; the endpoint decides what comes of it."""
        self._server.half_closed(self.number)
        return True

    def connection_lost(self, error: Exception | None) -> None:
        self._server.ended(self.number)

    def close(self) -> None:
        """End the connection; a peer that does not read what was sent cannot keep it."""
        self.transport.close()
        asyncio.get_running_loop().call_later(LINGER, self.transport.abort)


async def _until_signal(profile: str, settings: Config) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(number, stop.set)

    def ready(host: str, port: int) -> None:
        kept = settings.kv_config_path or "memory only"
        _say(f"nameserver {profile} ready on {host}:{port}, KV table in {kept}")

    await serve_nameserver(profile=profile, config=settings, stop=stop, ready=ready)


def _settings(
    profile: str,
    config_file: str | os.PathLike[str] | None,
    host: str | None,
    port: int | None,
    kv_file: str | os.PathLike[str] | None,
) -> Config:
    config = Config()
    if config_file is not None:
        try:
            config = Config.from_properties(Path(config_file).read_bytes(), profile)
        except OSError as error:
            raise StartError(
                f"configuration {config_file} cannot be read ({error.strerror}); expected a .properties file",
                EXIT_CONFIGURATION,
            ) from error
        except ConfigError as error:
            raise StartError(f"configuration {config_file}: {error}", EXIT_CONFIGURATION) from error
        if without_effect := config.without_effect():
            _complain(f"nameserver: no effect in {config_file}: {', '.join(without_effect)}")
    changes: dict[str, Any] = {}
    if config_file is not None:
        changes["config_store_path"] = os.fspath(config_file)
    if not config.rocketmq_home:
        changes["rocketmq_home"] = os.environ.get("ROCKETMQ_HOME", "")
    if host is not None:
        changes["bind_address"] = host
    if port is not None:
        if not 0 <= port <= 65535:
            raise StartError(f"port {port}: expected a number from 0 to 65535", EXIT_CONFIGURATION)
        changes["listen_port"] = port
    if kv_file is not None:
        changes["kv_config_path"] = os.fspath(kv_file)
    return msgspec.structs.replace(config, **changes)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    with contextlib.suppress(OSError):  # a directory cannot be opened everywhere
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _complain(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
