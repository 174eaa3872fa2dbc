"""The log as bytes: what slaves are pushed, and what a slave is pushed by its master.

Invariants:
- A slave's log is its master's, byte by byte, from where it began. What is whole of it is in queues and
  index; a message that has not come completely is in the log alone.
- Behind bytes that are no message nothing is in a queue any more.

Source: DefaultMessageStore#appendToCommitLog, #getCommitLogData, DefaultMessageStore.ReputMessageService
(rocketmq-all-4.9.8 and rocketmq-all-5.3.3).
"""

from __future__ import annotations

from collections.abc import Callable

from harness.wire import WireError
from harness.wire.messages import BLANK_MAGIC, Message, decode_message

from .segments import Segments

_SIZE_AND_MAGIC = 8


class RawLog:
    """The log without its messages. `follow` is called for each that has come, in their order."""

    def __init__(self, log: Segments, follow: Callable[[Message], None]) -> None:
        self._log = log
        self._follow = follow
        self._rest = bytearray()
        """The beginning of a message, at the end of the log."""
        self._is_stuck = False
        """Whether what has come last is no message."""

    @property
    def followed(self) -> int:
        """Up to here the log is whole messages that are in their queues."""
        return self._log.end - len(self._rest)

    def range(self) -> tuple[int, int]:
        """From where to where the log is handed to the storage."""
        return self._log.start, self._log.committed

    def last_file(self) -> int:
        """Where the last file begins."""
        files = self._log.files()
        return files[-1] if files else self._log.start

    def read(self, physical_offset: int, most: int) -> bytes:
        """At most `most` bytes of one file, from an offset that is handed to the storage."""
        return self._log.read(physical_offset, most)

    def append(self, physical_offset: int, data: bytes, now: int) -> None:
        """What the master has at the end of this log; a log without a byte begins there."""
        if not self._log.end:
            self._log.begin(physical_offset)
        self._log.written[self._log.next_file] = now
        self._log.append(data)
        self._rest += data
        start = 0
        while not self._is_stuck and (size := self._whole(start)):
            start += size
        del self._rest[:start]

    def drop_rest(self) -> None:
        """Forget what is no whole message, so that others can be put behind those that are."""
        if self._rest:
            self._log.commit()
            self._log.cut(self.followed)
        self._rest.clear()
        self._is_stuck = False

    def _whole(self, start: int) -> int:
        """The size of the message that begins there, once it is followed; 0: it is not there, or is none."""
        head = self._rest[start : start + _SIZE_AND_MAGIC]
        size, magic = int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")
        if len(head) < _SIZE_AND_MAGIC or size > len(self._rest) - start:
            return 0
        if magic != BLANK_MAGIC:
            try:
                self._follow(decode_message(bytes(self._rest[start : start + size])))
            except WireError:
                self._is_stuck = True
                return 0
        return size
