"""SIGKILL while a store is written: no message of which somebody was told is lost, no offset goes back.

`RMQ_KILLS` says how often the process is killed (25; `make soak`: 100). Appends that are torn at every
byte, and files that are set back, are in tests/unit/broker/test_store_recovery.py, which needs no process.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from stores import QUEUES, Appending, opened

from harness.wire.messages import decode_message

KILLS = int(os.environ.get("RMQ_KILLS", "25"))
MOST = 120
"""The process is killed after so many messages at the most, ..."""
LONGEST = 0.003
"""... and a random time after that, which is at most so many seconds."""


class Campaign:
    """One process after another on the same files, each killed while it appends."""

    def __init__(self, directory: Path, seed: int, *, too_early: bool = False) -> None:
        self._directory, self._too_early = directory, too_early
        self._random = random.Random(seed)
        self.said = 0
        self._ends = [0] * QUEUES
        """The highest offset of each queue, after the last start."""

    def kill_once(self) -> None:
        """Raises AssertionError for a loss."""
        appending = Appending(self._directory, self._random.getrandbits(30), too_early=self._too_early)
        appending.listen(self._random.randint(1, MOST))
        time.sleep(self._random.uniform(0, LONGEST))
        appending.kill()
        self.said += len(appending.said)
        store, storage = opened(self._directory)
        for said in appending.said:
            frames = store.get("T", said.queue_id, said.queue_offset, 1).frames
            assert frames, f"message {said.queue_offset} of queue {said.queue_id} is lost"
            found = decode_message(frames[0])
            assert (found.body, found.queue_offset) == (said.body, said.queue_offset)
            assert store.at(said.physical_offset) == found
        ends = [store.max_offset("T", queue_id) for queue_id in range(QUEUES)]
        assert all(new >= old for new, old in zip(ends, self._ends, strict=True)), (self._ends, ends)
        for queue_id, (new, old) in enumerate(zip(ends, self._ends, strict=True)):
            for offset in range(old, new):
                assert decode_message(store.get("T", queue_id, offset, 1).frames[0]).queue_offset == offset
        self._ends = ends
        storage.close()


def test_no_message_that_was_told_is_lost(
    tmp_path: Path, record_property: Callable[[str, object], None], capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = Campaign(tmp_path, seed=1)
    for _ in range(KILLS):
        campaign.kill_once()
    record_property("kills", KILLS)
    record_property("messages", campaign.said)
    with capsys.disabled():
        sys.stdout.write(f" {KILLS} kills, {campaign.said} messages told ")
    assert campaign.said > KILLS
    assert len(list((tmp_path / "commitlog").iterdir())) > 1


def test_a_process_that_tells_too_early_is_found_out(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path, seed=1, too_early=True)
    with pytest.raises(AssertionError, match="is lost"):
        for _ in range(100):
            campaign.kill_once()
