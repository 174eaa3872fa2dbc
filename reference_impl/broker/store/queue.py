"""The consume queue: which messages of the log are a queue's, in order.

Invariants:
- An entry has 20 bytes: physical offset, size and the hash of the tag. The n-th byte of the stream belongs to
  the entry with the offset n / 20, as in Apache's files.
- `min_offset` rises when the log loses its beginning; offsets are never given twice.

Source: ConsumeQueue of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

import struct

from .entries import ENTRY_SIZE, first_from, physical_at
from .segments import Segments

ENTRY = struct.Struct(">qiq")


class ConsumeQueue:
    """One queue of one topic."""

    def __init__(self, segments: Segments) -> None:
        self.segments = segments
        self.min_offset = segments.start // ENTRY_SIZE
        self.max_offset = segments.end // ENTRY_SIZE

    def append(self, physical_offset: int, size: int, tag_hash: int) -> None:
        """The next message."""
        self.segments.append(ENTRY.pack(physical_offset, size, tag_hash))
        self.max_offset += 1

    def read(self, offset: int, most: int) -> bytes:
        """The bytes of at most `most` entries from an offset on; at least one if there is one."""
        return self.segments.read(offset * ENTRY_SIZE, most * ENTRY_SIZE)

    def physical(self, offset: int) -> int:
        """Where in the log the message with that offset is. It must be there."""
        return physical_at(self.segments, offset)

    def rise(self, log_start: int) -> None:
        """The log begins later now: so does the queue."""
        self.min_offset = first_from(self.segments, self.min_offset, self.max_offset, log_start)
        self.segments.drop_before(self.min_offset * ENTRY_SIZE)
