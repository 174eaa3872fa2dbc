"""How much of the log is known to be in the queues and in the key index.

Invariants:
- A checkpoint is written when everything that it speaks of is durable, as a file of its own; the one before
  it is kept until then. One that is torn or wrong is passed over.

Source: our own; Apache's `checkpoint` holds three timestamps (StoreCheckpoint).
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

import msgspec

from .storage import Storage

_DIRECTORY = "checkpoint"


class Checkpoint(msgspec.Struct, frozen=True):
    """`queues`: by topic and queue id, the offset that the next message will have."""

    physical_offset: int
    """Everything below is in the queues and in the index."""
    newest: int
    """Store timestamp of the newest message, ms since the epoch."""
    index_end: int
    queues: dict[str, dict[int, int]]


class Checkpoints:
    """The files."""

    def __init__(self, storage: Storage, names: Iterable[str]) -> None:
        """`names` are those of all files."""
        self._storage = storage
        self._numbers = sorted(
            int(number)
            for directory, _, number in (name.partition("/") for name in names)
            if directory == _DIRECTORY and number.isdecimal()
        )

    def newest_first(self) -> list[Checkpoint]:
        """Those that can be read."""
        read = (self._read(number) for number in reversed(self._numbers))
        return [checkpoint for checkpoint in read if checkpoint is not None]

    def write(self, checkpoint: Checkpoint) -> None:
        """Make it the newest, durable when this returns; older ones go, but for one."""
        number = self._numbers[-1] + 1 if self._numbers else 1
        data = msgspec.json.encode(checkpoint)
        self._storage.append(_name(number), b"%08x\n" % crc32(data) + data)
        self._storage.flush(_name(number))
        self._numbers.append(number)
        while len(self._numbers) > 2:
            self._storage.delete(_name(self._numbers.pop(0)))

    def _read(self, number: int) -> Checkpoint | None:
        text = self._storage.read(_name(number), 0, self._storage.size(_name(number)))
        checksum, _, data = text.partition(b"\n")
        if checksum != b"%08x" % crc32(data):
            return None
        try:
            return msgspec.json.decode(data, type=Checkpoint)
        except msgspec.MsgspecError:
            return None


def _name(number: int) -> str:
    return f"{_DIRECTORY}/{number:020d}"
