"""A stream of bytes in files, each named by the offset of its first byte, as Apache names them.

Invariants:
- An append is whole in one file: a new one begins where the last has reached its limit, and goes beyond it
  where the append does.
- What was appended last waits in memory (at most `KEPT` bytes) until `commit`; reading sees it.
- The start rises by whole files only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise

from .storage import Storage, StoreError

KEPT = 1 << 16


class Segments:
    """Bytes from `start` to `end`."""

    def __init__(
        self, storage: Storage, directory: str, limit: int, starts: Iterable[int] = (), *, first: int = 0
    ) -> None:
        """`starts` are the offsets by which files are already named; without any, the stream begins at
        `first`. Raises StoreError where one does not begin where the one before it ends.
        """
        self._storage = storage
        self.directory = directory
        self._limit = limit
        self._starts = sorted(starts)
        self._tail = bytearray()
        self._unflushed: set[int] = set()
        self.written: dict[int, int] = {}
        """When a file was last written, ms since the epoch, by where it begins, as far as that was noted."""
        for start, following in pairwise(self._starts):
            if start + storage.size(self._name(start)) != following:
                raise StoreError(
                    f"{self._name(start)} has {storage.size(self._name(start))} bytes, expected"
                    f" {following - start}: the next file begins at {following}. Put them back as they were"
                )
        self._written = first
        if self._starts:
            self._written = self._starts[-1] + storage.size(self._name(self._starts[-1]))
        self.end = self._written
        self._full_at = (self._starts[-1] if self._starts else self._written) + limit
        """Where the file that is written has its limit."""

    @property
    def start(self) -> int:
        """The offset of the first byte that is kept."""
        return self._starts[0] if self._starts else self._written

    def append(self, data: bytes) -> None:
        """Add at the end."""
        if self.end >= self._full_at:
            self.commit()
        self._tail += data
        self.end += len(data)
        if len(self._tail) >= KEPT:
            self.commit()

    def lacks_room(self, size: int) -> int:
        """Bytes that are left of the file that is written, if it has begun and there is no room in it for so
        many; else 0.
        """
        left = self._full_at - self.end
        return left if 0 < left < min(size, self._limit) else 0

    @property
    def next_file(self) -> int:
        """Where the file begins to which the next append goes."""
        start = self._starts[-1] if self._starts and self._written < self._full_at else self._written
        return start if self.end < start + self._limit else self.end

    @property
    def committed(self) -> int:
        """Up to where it is handed to the storage."""
        return self._written

    def begin(self, offset: int) -> None:
        """Let the first byte have this offset. Only for a stream without bytes."""
        self._written = self.end = offset
        self._full_at = offset + self._limit

    def commit(self) -> None:
        """Hand what waits to the storage, in one append."""
        if not self._tail:
            return
        if not self._starts or self._written >= self._full_at:
            self._starts.append(self._written)
            self._full_at = self._written + self._limit
        last = self._starts[-1]
        self._storage.append(self._name(last), bytes(self._tail))
        self._unflushed.add(last)
        self._written = self.end
        self._tail.clear()

    def flush(self) -> None:
        """Make all of it durable."""
        self.commit()
        for start in sorted(self._unflushed):
            self._storage.flush(self._name(start))
        self._unflushed.clear()

    def read(self, offset: int, size: int) -> bytes:
        """At most `size` bytes from an offset between `start` and `end`; fewer at the end of a file."""
        if offset >= self._written:
            at = offset - self._written
            return bytes(self._tail[at : at + size])
        starts = self._starts
        start = starts[-1] if offset >= starts[-1] else starts[bisect_right(starts, offset) - 1]
        return self._storage.read(self._name(start), offset - start, size)

    def is_last_file(self, offset: int) -> bool:
        """Whether a byte is in the file that is still written."""
        return not self._starts or offset >= self._starts[-1]

    def left_of_file(self, offset: int) -> int:
        """Bytes from an offset to the end of the file that it is in."""
        following = bisect_right(self._starts, offset)
        return (self._starts[following] if following < len(self._starts) else self.end) - offset

    def place(self, offset: int) -> tuple[str, int]:
        """(file, offset in it) of a byte, for people."""
        start = self._starts[bisect_right(self._starts, offset) - 1]
        return self._name(start), offset - start

    def cut(self, end: int) -> None:
        """Forget everything from an offset on. Only for what is committed."""
        while self._starts and self._starts[-1] >= end and len(self._starts) > 1:
            self._delete(self._starts.pop())
        if self._starts and end < self._written:
            self._storage.truncate(self._name(self._starts[-1]), end - self._starts[-1])
            self._unflushed.add(self._starts[-1])
        self._written = self.end = end
        self._full_at = (self._starts[-1] if self._starts else end) + self._limit

    def files(self) -> list[int]:
        """The offset at which each file begins."""
        return list(self._starts)

    def has_file_before(self, offset: int) -> bool:
        """Whether `drop_before` would delete anything."""
        return len(self._starts) > 1 and self._starts[1] <= offset

    def drop_before(self, offset: int) -> None:
        """Delete the files all of whose bytes are below an offset; the last file stays."""
        while self.has_file_before(offset):
            self._delete(self._starts.pop(0))

    def delete(self) -> None:
        """Delete all files."""
        for start in self._starts:
            self._delete(start)
        self._starts.clear()
        self._tail.clear()

    def _delete(self, start: int) -> None:
        self._storage.delete(self._name(start))
        self._unflushed.discard(start)
        self.written.pop(start, None)

    def _name(self, start: int) -> str:
        return f"{self.directory}/{start:020d}"
