"""The reference NameServer as a process: its settings, its files, its listeners.

1. The KV file, the configuration file and the file of the controller are replaced atomically (temporary
   file, fsync, rename, fsync of the directory) before the answer leaves: a kill at any moment leaves the old
   file or the new one, and what was answered is in it. If writing fails, it is said on standard error and the
   answer is sent all the same, as Apache does.
2. The options -c, -p, -n and -h are Apache's.
3. Nothing is written to a place that was not named: without `kvConfigPath` and without a configuration file,
   what Apache's server would write below the home directory is kept in memory.

`run` is what the command line calls; `serve_nameserver` is the same inside an event loop.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from reference_impl.certificates import certificates_for
from reference_impl.nameserver import (
    PROFILES,
    Config,
    ControllerConfig,
    Endpoint,
    KvError,
    Settings,
    StoredReplicasError,
    build,
)
from reference_impl.remoting.errors import ConfigError

from .clock import Clock
from .looping import run_until_signal
from .problems import EXIT_CONFIGURATION, EXIT_NOT_STARTED, StartError, complain, say
from .reading import from_file
from .replacing import replace
from .shell import Shell, bound

_KV_FILE = "kvConfigPath"
_REPLICAS = "controllerStorePath"
_REPLICAS_FILE = "replicas.json"


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
    except StartError as error:
        complain(f"nameserver: {error}")
        return error.status
    if print_config:
        say(Settings(PROFILES[profile], settings).dump().decode("ascii").rstrip("\n"))
        return 0

    def ready(shell: Shell[Endpoint]) -> None:
        host, port = shell.address
        kept = settings.kv_config_path or "memory only"
        say(f"nameserver {profile} ready on {host}:{port}, KV table in {kept}")
        if (controller := shell.endpoint.controller) is not None:
            host, port = controller.settings.config.address
            kept = controller.settings.config.controller_store_path or "memory only"
            say(f"controller ready on {host}:{port}, replicas in {kept}")

    return run_until_signal(
        "nameserver",
        lambda stop: serve_nameserver(profile=profile, config=settings, stop=stop, ready=ready),
    )


async def serve_nameserver(
    *,
    profile: str = "5.5",
    config: Config | None = None,
    stop: asyncio.Event,
    ready: Callable[[Shell[Endpoint]], None] | None = None,
    clock: Clock | None = None,
    memory: dict[str, bytes] | None = None,
) -> None:
    """Serve until `stop` is set, and then for as long as the settings say for a graceful stop.

    `ready` is called once connections are accepted. `clock` is its own where none is given.
    `memory` is what is kept where the settings name no file, and what the last run has kept. Setting `stop`
    again ends it at once; a cancelled task ends it as a kill does.

    Raises StartError if a port, the KV file or the file of the controller cannot be used.
    """
    settings = Config() if config is None else config
    now = Clock() if clock is None else clock
    memory = {} if memory is None else memory
    certificates = certificates_for(settings.file, lambda text: complain(f"nameserver: {text}"))
    files = _Files(settings, memory)

    def made() -> Endpoint:
        return build(
            profile,
            config=settings,
            kv=files.content(_KV_FILE),
            replicas=files.content(_REPLICAS),
            started=now(),
            certificates=certificates,
        )

    def anew() -> Endpoint:
        files.forget(_KV_FILE, _REPLICAS)
        return made()

    try:
        endpoint = made()
    except (OSError, KvError, StoredReplicasError) as error:
        key = _REPLICAS if isinstance(error, StoredReplicasError) else _KV_FILE
        raise StartError(
            f"{key} {files.named(key)} cannot be read: {error}; mend it or move it away", EXIT_NOT_STARTED
        ) from error
    with contextlib.ExitStack() as listeners:
        listener = listeners.enter_context(bound(settings.bind_address, settings.listen_port))
        shell = Shell(endpoint, now, files.persist, anew)
        await shell.listen(listener, type(endpoint).connected)
        if endpoint.controller is not None:
            host, port = endpoint.controller.settings.config.address
            of_controller = listeners.enter_context(bound(host, port))
            await shell.listen(of_controller, type(endpoint).connected_to_controller)
        if ready is not None:
            ready(shell)
        await shell.serve(stop)


class _Files:
    """The files that the settings name, and in memory those that they do not."""

    def __init__(self, settings: Config, memory: dict[str, bytes]) -> None:
        self._memory = memory
        store = settings.file.get(_REPLICAS, "")
        named = {
            _KV_FILE: settings.kv_config_path,
            "configStorePath": settings.config_store_path,
            _REPLICAS: str(Path(store) / _REPLICAS_FILE) if store else "",
        }
        self._files = {key: Path(name) for key, name in named.items() if name}

    def named(self, path_key: str) -> Path | None:
        """The file of a key; None: it is kept in memory."""
        return self._files.get(path_key)

    def content(self, path_key: str) -> bytes | None:
        """What is stored; None: nothing. Raises OSError."""
        path = self._files.get(path_key)
        if path is None:
            return self._memory.get(path_key)
        return path.read_bytes() if path.exists() else None

    def forget(self, *path_keys: str) -> None:
        """Removes what is stored, and all that is in memory."""
        for key in path_keys:
            if (path := self._files.get(key)) is not None:
                path.unlink(missing_ok=True)
        self._memory.clear()

    def persist(self, path_key: str, data: bytes) -> None:
        path = self._files.get(path_key)
        if path is None:
            self._memory[path_key] = data
            return
        try:
            replace(path, data)
        except OSError as error:
            complain(f"nameserver: {path_key} {path} cannot be written: {error}")


def _settings(
    profile: str,
    config_file: str | os.PathLike[str] | None,
    host: str | None,
    port: int | None,
    kv_file: str | os.PathLike[str] | None,
) -> Config:
    config = Config()
    if config_file is not None:
        config = from_file(Config, config_file, profile)
        if config.has_controller(PROFILES[profile].v5):
            _check_controller(config, config_file, profile)
        if without_effect := config.without_effect():
            complain(f"nameserver: no effect in {config_file}: {', '.join(without_effect)}")
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


def _check_controller(config: Config, config_file: str | os.PathLike[str], profile: str) -> None:
    try:
        ControllerConfig.of(config.file, profile)
    except ConfigError as error:
        raise StartError(f"{os.fspath(config_file)}: {error}", EXIT_CONFIGURATION) from error
