"""Where a store keeps its bytes: named files that only grow at their end.

Invariants:
- A storage makes no decision; what a failed write leaves behind is cut when the store is made again.
- Names are relative, parts parted by `/`. A file comes into being with its first byte.
- What was appended is there for the next reader, and survives the end of the process; only what was
  flushed survives the end of the machine.
"""

from __future__ import annotations

from typing import Protocol

import msgspec


class StoreError(Exception):
    """A store that cannot go on: what was found, what was expected, and what to do."""


class Space(msgspec.Struct, frozen=True):
    """How full a device is. Sizes are bytes."""

    total: int
    free: int
    used: float
    """The part of it that is used, rounded up to hundredths, as Apache's Broker reckons it."""


class Storage(Protocol):
    """Offsets and sizes are bytes. All but `size` raise StoreError where the device fails."""

    def names(self) -> list[str]:
        """All files."""
        ...

    def size(self, name: str) -> int:
        """0 for a file that is not there."""
        ...

    def append(self, name: str, data: bytes) -> None:
        """Add to the end of a file, and make it if it is not there."""
        ...

    def read(self, name: str, offset: int, size: int) -> bytes:
        """At most `size` bytes; fewer at the end of the file."""
        ...

    def truncate(self, name: str, size: int) -> None:
        """Cut a file to its first bytes."""
        ...

    def flush(self, name: str) -> None:
        """Return when all that was appended to the file is durable, its name included."""
        ...

    def delete(self, name: str) -> None:
        """Remove a file."""
        ...

    def space(self) -> Space:
        """How full the device is."""
        ...


class MemoryStorage:
    """A storage that ends with the process: for tests, virtual time and servers that keep nothing."""

    def __init__(self, files: dict[str, bytes] | None = None, *, used: float = 0.0) -> None:
        """`used` is the part of its device that others use; it takes nothing of it."""
        self.files = {name: bytearray(data) for name, data in (files or {}).items()}
        self._space = Space(0, 0, used)

    def names(self) -> list[str]:
        return list(self.files)

    def size(self, name: str) -> int:
        return len(self.files.get(name, b""))

    def append(self, name: str, data: bytes) -> None:
        self.files.setdefault(name, bytearray()).extend(data)

    def read(self, name: str, offset: int, size: int) -> bytes:
        return bytes(self.files[name][offset : offset + size])

    def truncate(self, name: str, size: int) -> None:
        del self.files[name][size:]

    def flush(self, name: str) -> None:
        return

    def delete(self, name: str) -> None:
        del self.files[name]

    def space(self) -> Space:
        return self._space
