"""Which messages have a key.

Invariants:
- An entry has 20 bytes: physical offset, a checksum of topic and key, store timestamp. Nothing is kept in
  memory; a question searches the files, the newest first.
- Two keys may have one checksum: who asks must look at the messages.

Source: IndexService#queryOffset, #buildIndex of rocketmq-all-4.9.8 and rocketmq-all-5.3.3: what is indexed
and what is found. Its files are of another kind.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from zlib import crc32

from .entries import ENTRY_SIZE, first_from
from .segments import Segments

_ENTRY = struct.Struct(">qIq")
_CHECKSUM = struct.Struct(">I")
_CHECKSUM_AT = 8
INDEX_FILE = 200_000 * ENTRY_SIZE


class KeyIndex:
    """The keys of all topics."""

    def __init__(self, segments: Segments) -> None:
        self.segments = segments

    def add(self, topic: str, keys: Iterable[str], physical_offset: int, store_timestamp: int) -> None:
        """A message and its keys."""
        self.segments.append(
            b"".join([_ENTRY.pack(physical_offset, _checksum(topic, key), store_timestamp) for key in keys])
        )

    def rise(self, log_start: int) -> None:
        """The log begins later now: files that speak of nothing else than what is gone go."""
        first, last = self.segments.start // ENTRY_SIZE, self.segments.end // ENTRY_SIZE
        self.segments.drop_before(first_from(self.segments, first, last, log_start) * ENTRY_SIZE)

    def find(self, topic: str, key: str, begin: int, end: int) -> Iterator[int]:
        """Physical offsets of the messages that may have that key and were stored from `begin` to `end`
        (both included), the newest first.
        """
        wanted = _CHECKSUM.pack(_checksum(topic, key))
        block_end = self.segments.end
        while block_end > self.segments.start:
            block_start = max(self.segments.start, (block_end - 1) // INDEX_FILE * INDEX_FILE)
            block = self._block(block_start, block_end)
            at = block.rfind(wanted)
            while at >= 0:
                entry, inside = divmod(at, ENTRY_SIZE)
                if inside == _CHECKSUM_AT:
                    physical_offset, _, stored = _ENTRY.unpack_from(block, entry * ENTRY_SIZE)
                    if begin <= stored <= end:
                        yield physical_offset
                at = block.rfind(wanted, 0, at + len(wanted) - 1)
            block_end = block_start

    def newest(self) -> tuple[int, int]:
        """(store timestamp, physical offset) of the newest message with a key. There must be one."""
        end = self.segments.end
        physical_offset, _, stored = _ENTRY.unpack(self.segments.read(end - ENTRY_SIZE, ENTRY_SIZE))
        return stored, physical_offset

    def _block(self, start: int, end: int) -> bytes:
        parts = []
        while start < end:
            parts.append(self.segments.read(start, end - start))
            start += len(parts[-1])
        return b"".join(parts)


def _checksum(topic: str, key: str) -> int:
    return crc32(f"{topic}#{key}".encode("utf-8", "replace"))
