"""Processes that append to a store and say what they have, to be killed by the hundred."""

from __future__ import annotations

import random
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from forking import CONTEXT

from harness.wire.messages import Message
from reference_impl.broker.files import FileStorage
from reference_impl.broker.store import Store, StoreConfig

PATIENCE = 30.0
CONFIG = StoreConfig(log_file_size=200_000, checkpoint_messages=70)
"""Files and checkpoints come and go while a process lives."""
QUEUES = 3


class Said(NamedTuple):
    """A message that was reported as stored."""

    queue_id: int
    queue_offset: int
    physical_offset: int
    body: bytes


class Appending:
    """A process that appends to the store in a directory until it is killed.

    With `too_early` it says that a message is stored before it has handed it over.
    """

    def __init__(self, directory: Path, seed: int, *, too_early: bool = False) -> None:
        self._said, saying = CONTEXT.Pipe(duplex=False)
        arguments = (str(directory), seed, too_early, saying)
        self._process = CONTEXT.Process(target=_append, args=arguments, daemon=True)
        self._process.start()
        saying.close()
        self.said: list[Said] = []

    def listen(self, messages: int) -> None:
        """Returns when `messages` more are reported as stored. Raises AssertionError if they are not."""
        wanted = len(self.said) + messages
        while len(self.said) < wanted:
            assert self._said.poll(PATIENCE), f"{len(self.said)} messages within {PATIENCE} s"
            self.said += self._said.recv()

    def kill(self) -> None:
        """SIGKILL; what was said before is heard."""
        self._process.kill()
        self._process.join(PATIENCE)
        assert not self._process.is_alive()
        try:
            while True:
                self.said += self._said.recv()
        except (EOFError, OSError):  # OSError: what it said last is not whole
            self._said.close()


def opened(directory: Path) -> tuple[Store, FileStorage]:
    storage = FileStorage(directory)
    return Store(storage, CONFIG, "5.3"), storage


def _append(directory: str, seed: int, too_early: bool, saying: Connection) -> None:
    chance = random.Random(seed)
    store, _ = opened(Path(directory))
    while True:
        queue_id = chance.randrange(QUEUES)
        batch = [
            Message(topic="T", queue_id=queue_id, body=chance.randbytes(chance.randrange(1, 2000)))
            for _ in range(chance.choice((1, 1, 5)))
        ]
        puts = store.put_batch(batch, now=1)
        said = [
            Said(queue_id, put.queue_offset, put.physical_offset, message.body)
            for put, message in zip(puts, batch, strict=True)
        ]
        if too_early:
            saying.send(said)
            if chance.random() < 0.9:
                continue
        store.arrived.clear()
        store.commit()
        if not too_early:
            saying.send(said)
