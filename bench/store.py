"""The message store of the reference Broker beside a plain file: the same bytes, in one run.

`python -m bench.store [MESSAGES]` prints messages per second with bodies of 1 KiB, put (each handed to the
operating system by itself, as for one client that waits for its answer, and 32 at a time) and read, their
ratio to appending to and reading from a plain file, and how long a start takes: after a stop, after a kill at
the worst moment, and when only the log is left.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness.wire.messages import Message
from reference_impl.broker.files import FileStorage
from reference_impl.broker.store import Store, StoreConfig

BODY = os.urandom(1024)
QUEUES = 4


def messages(count: int) -> list[Message]:
    """As a Java producer sends them."""
    return [
        Message(
            topic="BenchmarkTest",
            queue_id=number % QUEUES,
            body=BODY,
            born_timestamp=1_700_000_000_000,
            born_host="127.0.0.1:50000",
            store_host="127.0.0.1:10911",
            properties={
                "KEYS": f"key-{number}",
                "UNIQ_KEY": f"7F000001000118B4AAC2{number:012X}",
                "TAGS": "TagA",
                "CLUSTER": "DefaultCluster",
                "MSG_REGION": "DefaultRegion",
                "TRACE_ON": "true",
            },
        )
        for number in range(count)
    ]


def plain(directory: Path, given: list[bytes]) -> tuple[float, float]:
    """Seconds to append chunks to a file, one call each, and to read them."""
    path = directory / "plain"
    file = os.open(path, os.O_RDWR | os.O_CREAT)

    def write() -> None:
        for chunk in given:
            os.write(file, chunk)

    def read() -> None:
        at = 0
        for chunk in given:
            at += len(os.pread(file, len(chunk), at))

    seconds = timed(write), timed(read)
    os.close(file)
    path.unlink()
    return seconds


def chunks(size: int, count: int, at_a_time: int) -> list[bytes]:
    """Frames of one size, so many in a chunk; the rest is in the last one."""
    whole, rest = divmod(count, at_a_time)
    return [bytes(size * at_a_time)] * whole + [bytes(size * rest)] * (rest > 0)


def put(store: Store, given: list[Message], at_a_time: int) -> None:
    """Stores messages, handing over so many at a time."""
    for start in range(0, len(given), at_a_time):
        for message in given[start : start + at_a_time]:
            store.put(message, 1_700_000_000_000)
        store.commit()
        store.arrived.clear()


def read(store: Store) -> int:
    """Reads all queues as consumers do; how many messages."""
    count = 0
    for queue_id in range(QUEUES):
        offset = 0
        while frames := (got := store.get("BenchmarkTest", queue_id, offset, 32)).frames:
            count += len(frames)
            offset = got.next_offset
    return count


def timed(what: Callable[[], object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    what()
    return time.perf_counter() - start


def start_seconds(directory: Path) -> float:
    """How long it takes to make a store of these files."""
    storage = FileStorage(directory)
    try:
        return timed(lambda: Store(storage, StoreConfig(), "5.3"))
    finally:
        storage.close()


def main(arguments: list[str] | None = None) -> None:
    """Measures and prints."""
    given = sys.argv[1:] if arguments is None else arguments
    count = int(given[0]) if given else 200_000
    directory = Path(tempfile.mkdtemp(prefix="store-bench-"))
    try:
        measure(directory, count)
    finally:
        shutil.rmtree(directory)


def measure(directory: Path, count: int) -> None:
    size = 0
    print(f"{'':34}{'messages/s':>12}{'plain file':>12}{'ratio':>8}")
    for at_a_time in (1, 32):
        root = directory / str(at_a_time)
        storage = FileStorage(root)
        store = Store(storage, StoreConfig(), "5.3")
        sent = messages(count)
        seconds = timed(lambda: put(store, sent, at_a_time))  # noqa: B023
        size = store.physical_range()[1]
        appended, read_again = plain(directory, chunks(size // count, count, at_a_time))
        row(f"put, {at_a_time} at a time", count, seconds, appended)
        if at_a_time > 1:
            row("read, 32 at a time", count, timed(lambda: read(store)), read_again)  # noqa: B023
        storage.close()
    root, gigabytes = directory / "32", size / 1e9
    print(f"start with a log of {gigabytes:.2f} GB, {count} messages, seconds:")
    print(f"  after a kill                     {start_seconds(root):8.3f}")
    print(f"  after a stop                     {start_seconds(root):8.3f}")
    for derived in ("consumequeue", "index", "checkpoint"):
        shutil.rmtree(root / derived)
    seconds = start_seconds(root)
    print(f"  with nothing but the log         {seconds:8.3f}   ({seconds / gigabytes:.1f} per GB)")


def row(what: str, count: int, seconds: float, of_plain: float) -> None:
    print(f"{what:34}{count / seconds:12.0f}{count / of_plain:12.0f}{of_plain / seconds:8.2f}")


if __name__ == "__main__":
    main()
