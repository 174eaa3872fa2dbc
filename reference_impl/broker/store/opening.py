"""The files of a store, as far as they can be taken over.

Invariants:
- Files of the log must follow one another, and must hold all that a checkpoint says was durable: else
  StoreError.
- Queues and key index are cut to what the newest checkpoint speaks of. Where they have less, an older one is
  taken; without any they are deleted, and are to be made again from the whole log (in which topics that were
  deleted still are).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from .checkpoint import Checkpoint, Checkpoints
from .config import StoreConfig
from .entries import ENTRY_SIZE
from .index import INDEX_FILE, KeyIndex
from .queue import ConsumeQueue
from .segments import Segments
from .storage import Storage, StoreError

_LOG, _QUEUES, _INDEX = "commitlog", "consumequeue", "index"


class Files(msgspec.Struct):
    """What a store works on."""

    log: Segments
    checkpoints: Checkpoints
    index: KeyIndex
    queues: dict[str, dict[int, ConsumeQueue]] = {}
    """By topic and queue id."""
    covered: int = 0
    """Up to here the log is in queues and index."""
    newest: int = 0
    """Store timestamp of the newest message up to there, ms since the epoch."""


def open_files(storage: Storage, config: StoreConfig) -> Files:
    """Raises StoreError where messages are missing."""
    names = storage.names()
    starts = _starts_by_directory(names)
    log = Segments(storage, _LOG, config.log_file_size, starts.pop(_LOG, ()))
    checkpoints = Checkpoints(storage, names)
    for checkpoint in checkpoints.newest_first():
        if checkpoint.physical_offset > log.end:
            raise StoreError(
                f"commitlog ends at {log.end}, but {checkpoint.physical_offset} bytes were durable: messages"
                " that were answered are missing. Put its files back from a copy. To go on without them,"
                " delete checkpoint, consumequeue and index"
            )
        files = _covered(storage, config, starts, checkpoint, log, checkpoints)
        if files is not None:
            return files
    for name in names:
        if name.startswith((f"{_QUEUES}/", f"{_INDEX}/")):
            storage.delete(name)
    return Files(log, checkpoints, _index(storage, ()), covered=log.start)


def new_queue(storage: Storage, config: StoreConfig, topic: str, queue_id: int, first: int) -> ConsumeQueue:
    """A queue without files, whose first message will have the offset `first`."""
    directory, size = _directory(topic, queue_id), config.queue_file_entries * ENTRY_SIZE
    return ConsumeQueue(Segments(storage, directory, size, first=first * ENTRY_SIZE))


def _covered(
    storage: Storage,
    config: StoreConfig,
    starts: dict[str, list[int]],
    checkpoint: Checkpoint,
    log: Segments,
    checkpoints: Checkpoints,
) -> Files | None:
    """All that a checkpoint speaks of and nothing else; None where not all of it is there."""
    if checkpoint.physical_offset < log.start:
        return None
    kept: dict[str, tuple[Segments, int]] = {}
    try:
        index = _index(storage, starts.get(_INDEX, ()))
        kept[_INDEX] = index.segments, checkpoint.index_end
        for topic, ends in checkpoint.queues.items():
            for queue_id, end in ends.items():
                directory = _directory(topic, queue_id)
                size = config.queue_file_entries * ENTRY_SIZE
                segments = Segments(storage, directory, size, starts[directory])
                kept[directory] = segments, end * ENTRY_SIZE
    except (StoreError, KeyError):
        return None
    if not all(segments.start <= end <= segments.end for segments, end in kept.values()):
        return None
    for segments, end in kept.values():
        segments.cut(end)
    for directory in starts.keys() - kept.keys():
        if directory.startswith(f"{_QUEUES}/"):
            Segments(storage, directory, 1, starts[directory]).delete()
    files = Files(log, checkpoints, index, {}, checkpoint.physical_offset, checkpoint.newest)
    for topic, ends in checkpoint.queues.items():
        files.queues[topic] = {
            queue_id: ConsumeQueue(kept[_directory(topic, queue_id)][0]) for queue_id in ends
        }
        for queue in files.queues[topic].values():
            queue.rise(log.start)
    return files


def _index(storage: Storage, starts: Iterable[int]) -> KeyIndex:
    return KeyIndex(Segments(storage, _INDEX, INDEX_FILE, starts))


def _directory(topic: str, queue_id: int) -> str:
    return f"{_QUEUES}/{topic}/{queue_id}"


def _starts_by_directory(names: list[str]) -> dict[str, list[int]]:
    starts = defaultdict(list)
    for name in names:
        directory, _, start = name.rpartition("/")
        if start.isdecimal():
            starts[directory].append(int(start))
    return dict(starts)
