"""The reference Broker as a process: its settings, its store, its three listeners.

1. The options -c, -p, -n and -h are Apache's. Beside the port N it listens on N - 2, the VIP port, and on
   N + 1 or `haListenPort`, that of replication, as Apache does; port 0 takes any three of them that are free.
2. Files below `storePathRootDir` are replaced atomically, and the former content is kept as `.bak`. If that
   fails, it is said on standard error and what waited for it goes on, as with Apache.
3. Nothing is written to a place that was not named: without `storePathRootDir` everything is in memory.
4. Its time is that of the wall clock at the start, and goes on evenly from there, whatever is done to clocks.

`run` is what the command line calls; `serve_broker` is the same inside an event loop.
"""

import asyncio
import contextlib
import ipaddress
import os
import random
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from reference_impl.access_files import files_of_access, is_of_access
from reference_impl.broker import (
    PARTS,
    AclError,
    Config,
    Endpoint,
    MemoryStorage,
    Storage,
    StoreError,
    build,
)
from reference_impl.broker.files import FileStorage
from reference_impl.certificates import certificates_for
from reference_impl.remoting.errors import ConfigError
from reference_impl.remoting.tls_settings import TLS_KEYS
from reference_impl.remoting.values import shown

from .access import check_access, unreadable
from .clock import Clock
from .looping import run_until_signal
from .problems import EXIT_CONFIGURATION, EXIT_NOT_STARTED, StartError, complain, say
from .reading import from_file
from .replacing import replace
from .shell import Shell, bound

_VIP_BELOW = 2
_REPLICATION_ABOVE = 1
_TRIES = 50
"""Free ports that are looked at for one whose VIP port and port of replication are free too."""


class Memory:
    """What a Broker without a store has written: given to its next run, it is its store."""

    def __init__(self) -> None:
        self.messages = MemoryStorage()
        self.files: dict[str, bytes] = {}
        """Below the root directory, by name."""


def run_broker(
    *,
    profile: str = "5.3",
    host: str | None = None,
    advertise: str | None = None,
    port: int | None = None,
    config_file: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    nameservers: str | None = None,
    print_config: bool = False,
) -> int:
    """Serve until SIGTERM or SIGINT; returns the exit status (0, 3 or 4). A second signal hurries the stop.

    `config_file` is a Java `.properties` file with Apache's names (-c). `host`, `advertise` (the IP address
    that clients and slaves are given), `port`, `store` (a directory), `nameservers` (host:port;host:port)
    go before it; port 0 is any free one. `print_config` (-p) prints the settings and returns. When the ports
    are open, one line with the address goes to standard output.
    """
    try:
        settings = broker_settings(
            profile,
            config_file,
            host=host,
            advertise=advertise,
            port=port,
            store=store,
            nameservers=nameservers,
        )
    except StartError as error:
        complain(f"broker: {error}")
        return error.status
    if print_config:
        for field in settings.settings():
            say(f"{field.encode_name}={shown(getattr(settings, field.name))}")
        return 0

    def ready(shell: Shell[Endpoint]) -> None:
        config = shell.endpoint.broker.config
        kept = config.store_path_root_dir or "memory only"
        names = config.namesrv_addr or "none"
        say(
            f"broker {profile} {config.broker_name} ready on {config.bind_address}:{config.listen_port}, "
            f"messages in {kept}, NameServers {names}"
        )

    return run_until_signal(
        "broker", lambda stop: serve_broker(profile=profile, config=settings, stop=stop, ready=ready)
    )


async def serve_broker(
    *,
    profile: str = "5.3",
    config: Config | None = None,
    stop: asyncio.Event,
    ready: Callable[[Shell[Endpoint]], None] | None = None,
    clock: Clock | None = None,
    memory: Memory | None = None,
) -> None:
    """Serve until `stop` is set, and then until NameServers know that the Broker goes.

    `ready` is called once connections are accepted; the settings of the endpoint's Broker say on which port.
    `clock` is its own where none is given. `memory` is used where the settings name no store.
    Setting `stop` again ends it at once; a cancelled task ends it as a kill does.

    Raises StartError if the ports or the store cannot be used.
    """
    settings = Config() if config is None else config
    memory = Memory() if memory is None else memory
    with (
        _listeners(settings) as (main, fast, slaves),
        _storage(settings, memory) as storage,
    ):
        settings = msgspec.structs.replace(settings, listen_port=main.getsockname()[1])
        now = Clock() if clock is None else clock
        certificates = certificates_for(settings.file, lambda text: complain(f"broker: {text}"))

        def made(stored: Mapping[str, bytes]) -> Endpoint:
            return build(
                profile,
                config=settings,
                storage=storage,
                stored=stored,
                chance=_Chance(),
                started=now(),
                certificates=certificates,
                of_client=now.of_client,
                acl_files=lambda: files_of_access(settings.rocketmq_home),
                warn=lambda text: complain(f"broker {settings.broker_name}: {text}"),
            )

        def anew() -> Endpoint:
            for name in storage.names():
                storage.delete(name)
            memory.files.clear()
            return made({})

        try:
            endpoint = made(_stored(settings, memory))
        except AclError as error:
            raise unreadable(settings.rocketmq_home, error) from error
        except (OSError, StoreError) as error:
            raise StartError(
                f"store {settings.store_path_root_dir} cannot be used: {error}", EXIT_NOT_STARTED
            ) from error
        shell = Shell(endpoint, now, lambda name, data: _persist(settings, memory, name, data), anew)
        await shell.listen(main, type(endpoint).connected)
        await shell.listen(fast, type(endpoint).connected_fast)
        await shell.listen(slaves, type(endpoint).connected_slave, carries_frames=False)
        if ready is not None:
            ready(shell)
        await shell.serve(stop)
        try:
            shell.endpoint.broker.store.checkpoint()
        except StoreError as error:
            raise StartError(str(error), EXIT_NOT_STARTED) from error


def broker_settings(
    profile: str,
    config_file: str | os.PathLike[str] | None = None,
    *,
    host: str | None = None,
    advertise: str | None = None,
    port: int | None = None,
    store: str | os.PathLike[str] | None = None,
    nameservers: str | None = None,
) -> Config:
    """The settings of a file, with what is given here before them; a warning for each that is.

    Where neither says what clients are given, it is the address to listen on. Raises StartError.
    """
    if profile not in PARTS:
        raise StartError(f"unknown profile {profile!r}; use one of {', '.join(PARTS)}", EXIT_CONFIGURATION)
    config = Config()
    if config_file is not None:
        config = from_file(Config, config_file, profile)
        known = TLS_KEYS | {field.encode_name for field in Config.settings()}
        if unknown := [key for key in config.file if key not in known]:
            complain(f"broker: no effect in {config_file}: {', '.join(unknown)}")
    changes: dict[str, Any] = {
        "bind_address": host,
        "broker_ip1": advertise,
        "broker_ip2": advertise,
        "listen_port": port,
        "store_path_root_dir": None if store is None else os.fspath(store),
        "namesrv_addr": nameservers,
        "rocketmq_home": config.rocketmq_home or os.environ.get("ROCKETMQ_HOME", ""),
    }
    given = {name: value for name, value in changes.items() if value is not None}
    warn_of("broker", config, given, config_file)
    config = _reachable(msgspec.structs.replace(config, **given), advertise)
    try:
        config.check()
    except ConfigError as error:
        raise StartError(str(error), EXIT_CONFIGURATION) from error
    check_access(profile, config)
    if not (config.listen_port == 0 or _VIP_BELOW < config.listen_port <= 65_535):
        raise StartError(
            f"port {config.listen_port}: expected 0, or a number from 3 to 65535 (two below is the VIP port)",
            EXIT_CONFIGURATION,
        )
    return config


def warn_of(
    server: str, config: Config, changes: dict[str, Any], config_file: str | os.PathLike[str] | None
) -> None:
    """Says which settings of the file have no effect, because something else goes before them."""
    for field in Config.settings():
        key = field.encode_name
        if key in config.file and field.name in changes:
            old, new = getattr(config, field.name), changes[field.name]
            if old != new:
                complain(f"{server}: {key}={shown(old)} in {config_file} has no effect: it is {shown(new)}")


def _reachable(config: Config, advertised: str | None) -> Config:
    """The settings with an address for clients and slaves, unless one was said."""
    listening = config.bind_address.strip("[]")
    unsaid = {"brokerIP1": "broker_ip1", "brokerIP2": "broker_ip2"}
    fields = [name for key, name in unsaid.items() if advertised is None and key not in config.file]
    try:
        everywhere = ipaddress.ip_address(listening).is_unspecified
    except ValueError:  # a name, which cannot be part of the id of a message
        return config
    if not everywhere:
        return msgspec.structs.replace(config, **dict.fromkeys(fields, config.bind_address))
    if "broker_ip1" in fields:
        complain(
            f"broker: listens on {config.bind_address} and gives clients {config.broker_ip1}, which leads to "
            "their own machine; name its address with --advertise, or brokerIP1 in the file of -c"
        )
    return config


class _Chance:
    """The Broker's random numbers."""

    def below(self, n: int) -> int:
        return random.randrange(n)


@contextlib.contextmanager
def _listeners(settings: Config) -> Iterator[tuple[socket.socket, socket.socket, socket.socket]]:
    """Sockets that listen on the port, on the VIP port and on that of replication. Raises StartError."""
    host, port = settings.bind_address, settings.listen_port
    for attempt in range(1, _TRIES + 1):
        with contextlib.ExitStack() as stack:
            main = stack.enter_context(bound(host, port))
            try:
                fast = stack.enter_context(bound(host, main.getsockname()[1] - _VIP_BELOW))
                at = settings.ha_listen_port or main.getsockname()[1] + _REPLICATION_ABOVE
                slaves = stack.enter_context(bound(host, at))
            except (StartError, OverflowError):
                if port or attempt == _TRIES:
                    raise
                continue
            yield main, fast, slaves
            return


@contextlib.contextmanager
def _storage(settings: Config, memory: Memory) -> Iterator[Storage]:
    """Where messages are kept. Raises StartError."""
    if not settings.store_path_root_dir:
        yield memory.messages
        return
    try:
        storage = FileStorage(Path(settings.store_path_root_dir))
    except StoreError as error:
        raise StartError(str(error), EXIT_NOT_STARTED) from error
    except OSError as error:
        root, reason = settings.store_path_root_dir, error.strerror or error
        raise StartError(
            f"store {root} cannot be used: {reason}; name another --store", EXIT_NOT_STARTED
        ) from error
    try:
        yield storage
    finally:
        storage.close()


def _stored(settings: Config, memory: Memory) -> dict[str, bytes]:
    """The configuration files of the last run, by name. Raises OSError."""
    root = Path(settings.store_path_root_dir)
    if not settings.store_path_root_dir:
        return dict(memory.files)
    return {f"config/{path.name}": path.read_bytes() for path in (root / "config").glob("[!.]*")}


def _persist(settings: Config, memory: Memory, name: str, data: bytes) -> None:
    if not (settings.store_path_root_dir or is_of_access(name)):
        memory.files[name] = data
        return
    root = settings.rocketmq_home if is_of_access(name) else settings.store_path_root_dir
    path = Path(root) / name
    try:
        replace(path, data, keep=True)
    except OSError as error:
        complain(f"broker: {path} cannot be written: {error}")
