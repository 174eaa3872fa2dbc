"""Who sends which request in ordinary work: `specs/usage.yaml`, from recorded traffic of real peers.

What is essential is read off it: a request that clients or Brokers send is essential to a server, one that
only `mqadmin` sends is administration (`tests/unit/catalogue/test_usage.py` holds the classes to that).
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final

import msgspec

from harness.catalogue.files import sound, specs_directory
from harness.catalogue.roles import Role

PEERS: Final = {
    "client-java": "Java client",
    "client-cpp": "C++ client",
    "broker": "Broker",
    "mqadmin": "mqadmin",
}
"""Who was recorded, and what a reader calls it."""
NEEDING: Final = frozenset(PEERS) - {"mqadmin"}
"""Those that a cluster cannot do without."""


class Usage(msgspec.Struct, frozen=True):
    """What was recorded. `recorded`: the release of each line."""

    recorded: dict[str, str]
    requests: dict[Role, dict[int, dict[str, tuple[str, ...]]]]
    """By the role that is asked and by code: which peers sent it, and those of which lines."""
    one_way: dict[Role, dict[int, tuple[str, ...]]]
    """By the role and by code: which of them sent it one-way, always or at times."""

    def of(self, role: Role, code: int) -> dict[str, tuple[str, ...]]:
        """The peers that send a request to a server of the role, with their lines."""
        return self.requests[role].get(code, {})

    def one_way_of(self, role: Role, code: int) -> tuple[str, ...]:
        """The peers that send a request to a server of the role one-way, at least at times."""
        return self.one_way[role].get(code, ())

    def words(self, role: Role, code: int) -> str:
        """The same for a reader: `Java client, Broker (5.3)`; empty for a request that no peer sent."""
        every = tuple(self.recorded)
        sending = self.of(role, code)
        shown = (
            PEERS[peer] if sending[peer] == every else f"{PEERS[peer]} ({', '.join(sending[peer])})"
            for peer in PEERS
            if peer in sending
        )
        return ", ".join(shown)

    def needed(self, role: Role) -> frozenset[int]:
        """The codes that clients or Brokers send."""
        return frozenset(code for code, by in self.requests[role].items() if NEEDING & by.keys())


@functools.cache
def usage() -> Usage:
    """What was recorded, by this installation; read once. Raises `CatalogueProblems`."""
    return load_usage(specs_directory())


def load_usage(specs: Path) -> Usage:
    """`usage.yaml` of a directory like `specs/`.

    Raises:
        CatalogueProblems: it breaks its schema.
    """
    said = sound(specs / "usage.yaml", specs, "usage")
    return msgspec.convert(said, Usage, strict=False)
