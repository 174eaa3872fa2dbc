"""SIGKILL while a store is written: no message that was reported as stored is lost, no offset goes back.

tests/unit/broker/test_store_recovery.py tears appends at every byte and sets files back; it needs no process.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from killing import KILLS
from stores import QUEUES, Appending, opened

from harness.wire.messages import decode_message

MOST = 120
"""The process is killed after at most this many messages, ..."""
LONGEST = 0.003
"""... and at most this many seconds."""


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


def test_no_message_reported_as_stored_is_lost(
    tmp_path: Path, report_kills: Callable[[int, int, str], None]
) -> None:
    campaign = Campaign(tmp_path, seed=1)
    for _ in range(KILLS):
        campaign.kill_once()
    report_kills(KILLS, campaign.said, "stored messages")
    assert campaign.said > KILLS
    assert len(list((tmp_path / "commitlog").iterdir())) > 1


def test_a_process_that_reports_too_early_is_detected(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path, seed=1, too_early=True)
    with pytest.raises(AssertionError, match="is lost"):
        for _ in range(100):
            campaign.kill_once()
