"""What a target is started with: settings, as a Java `.properties` file, and files of its own.

Nothing is checked, for what a setting means is the server's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.session import Setup
from harness.wire.bodies import Properties

_FILE = "{dir}/"
CONTROLLER = 1
"""Where the controller of a NameServer listens, counted from the port of the NameServer."""
_CONTROLLER = "{controller}"


def in_directory(setup: Setup, directory: Path) -> dict[str, str]:
    """The settings by key, `{dir}` in values replaced."""
    settings = (one for one in setup if not one[0].startswith(_FILE))
    return {key: value.replace("{dir}", str(directory)) for key, value in settings}


def place_files(setup: Setup, directory: Path) -> None:
    """Writes the files of a setup, `{dir}/NAME` with the text; one that is there stays as it is, for the
    server that is started again may have changed it.
    """
    for key, text in setup:
        path = directory / key.removeprefix(_FILE)
        if key.startswith(_FILE) and not path.exists():
            put_file(path, text.encode())


def put_file(path: Path, data: bytes | None) -> None:
    """Replaces a file at one blow; None: it goes."""
    if data is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(data)
    temporary.replace(path)


def with_controller(settings: Mapping[str, str], port: int) -> dict[str, str]:
    """The settings of a NameServer that listens at this port, `{controller}` in values replaced."""
    return {key: value.replace(_CONTROLLER, str(port + CONTROLLER)) for key, value in settings.items()}


def has_controller(setup: Setup) -> bool:
    """Whether a NameServer with these settings is a controller, too."""
    return any(_CONTROLLER in value for _, value in setup)


def ports_of_nameserver(setup: Setup) -> tuple[int, ...]:
    """At which ports a NameServer with these settings listens, counted from its own."""
    return (0, CONTROLLER) if has_controller(setup) else (0,)


def demands_tls(setup: Setup) -> bool:
    """Whether a server with these settings closes connections without TLS."""
    return ("tls.server.mode", "enforcing") in setup


def write_properties(path: Path, settings: Mapping[str, str]) -> None:
    """Writes `key=value` lines that read back as they were meant."""
    path.write_bytes(Properties(dict(settings)).encode())
