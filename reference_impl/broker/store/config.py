"""The sizes of a store."""

from __future__ import annotations

import msgspec


class StoreConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes are bytes."""

    max_message_size: int = 4 << 20
    """Of a body (`maxMessageSize`)."""
    log_file_size: int = 1 << 30
    """From which size on a new file of the log is begun (`mappedFileSizeCommitLog`)."""
    queue_file_entries: int = 300_000
    """Messages of a file of a queue (`mappedFileSizeConsumeQueue` / 20)."""
    checkpoint_bytes: int = 16 << 20
    checkpoint_messages: int = 1 << 14
    """After how much a checkpoint is written: what is behind the last one is read at the next start."""
    checkpoint_files: int = 16
    """How many files each `commit` flushes for it, until all are flushed."""
