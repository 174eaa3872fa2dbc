"""The ports of a cluster that is kept in a directory: each server listens on the same one after every start.

Clients hold on to the addresses of Brokers for half a minute, and the ids of messages contain them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from .problems import EXIT_CONFIGURATION, EXIT_NOT_STARTED, StartError
from .replacing import replace

_FILE = "ports.json"


class Ports:
    """What `ports.json` says, by the name of a server. Without a store nothing is kept.

    Raises StartError for a file that cannot be read.
    """

    def __init__(self, store: Path | None) -> None:
        self._path = None if store is None else store / _FILE
        self._known: dict[str, int] = {}
        if self._path is not None and self._path.exists():
            try:
                self._known = msgspec.json.decode(self._path.read_bytes(), type=dict[str, int])
            except OSError as error:
                raise StartError(f"{self._path}: {error.strerror}", EXIT_CONFIGURATION) from None
            except (msgspec.DecodeError, msgspec.ValidationError) as error:
                raise StartError(
                    f'{self._path}: {error}; expected the ports by server, {{"broker-a-0": 10911}}. '
                    "Delete it, and the servers take free ports",
                    EXIT_CONFIGURATION,
                ) from None

    def of(self, server: str) -> int:
        """The port of the last run; 0, any free one, for a server that is new."""
        return self._known.get(server, 0)

    @contextmanager
    def named(self, server: str) -> Iterator[None]:
        """Adds to the error of a server that cannot start on its port of the last run what can be done."""
        try:
            yield
        except StartError as error:
            if not self.of(server):
                raise
            raise StartError(
                f"{error}; {server} had port {self.of(server)} in the last run: stop what uses it, or delete "
                f"{self._path} for free ports",
                error.status,
            ) from error

    def keep(self, ports: dict[str, int]) -> None:
        """Writes the ports down. Raises StartError."""
        if self._path is None or ports.items() <= self._known.items():
            return
        try:
            replace(
                self._path, msgspec.json.format(msgspec.json.encode(self._known | ports), indent=2) + b"\n"
            )
        except OSError as error:
            raise StartError(f"{self._path}: {error.strerror}", EXIT_NOT_STARTED) from None
