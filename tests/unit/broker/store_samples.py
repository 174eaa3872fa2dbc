"""Messages and stores for tests of the store."""

from __future__ import annotations

from harness.wire.messages import LineName, Message
from reference_impl.broker.store import MemoryStorage, Storage, Store, StoreConfig

SMALL = StoreConfig(log_file_size=1000, checkpoint_bytes=1 << 40, checkpoint_messages=1 << 40)
"""Files of the log end after a few messages; checkpoints are written only where a test says so."""


def message(
    body: str = "hello", topic: str = "T", queue_id: int = 0, sys_flag: int = 0, **properties: str
) -> Message:
    return Message(
        topic=topic,
        body=body.encode(),
        queue_id=queue_id,
        sys_flag=sys_flag,
        properties=properties,
        born_host="127.0.0.1:50000",
        store_host="127.0.0.1:10911",
    )


def store(storage: Storage | None = None, config: StoreConfig = SMALL, line: LineName = "5.3") -> Store:
    return Store(MemoryStorage() if storage is None else storage, config, line)


def bodies(given: Store, topic: str = "T", queue_id: int = 0) -> list[str]:
    """All bodies of a queue, in order."""
    found, offset = [], given.min_offset(topic, queue_id)
    while frames := given.get(topic, queue_id, offset, 32).frames:
        for frame in frames:
            size = int.from_bytes(frame[:4], "big")
            assert size == len(frame)
            stored = given.at(int.from_bytes(frame[28:36], "big"))
            assert stored is not None
            assert stored.queue_offset == offset
            found.append(stored.body.decode())
            offset += 1
    return found
