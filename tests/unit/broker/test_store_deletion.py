"""Files on disk that are deleted, and a process that ends between two of them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from reference_impl.broker.files import FileStorage
from reference_impl.broker.store import Store, StoreError

from .store_samples import SMALL, bodies, message, store

CONFIG = msgspec.structs.replace(SMALL, queue_file_entries=4)
"""Queues have several files, too."""
GONE, LEFT = 8, 22
"""Messages of a topic all of which expire, and of one that keeps some."""
MOST = 100
"""Deletions, at the most."""


class Ending(FileStorage):
    """Deletes this many files, and then no more."""

    left = MOST

    def delete(self, name: str) -> None:
        if self.left == 0:
            raise StoreError("the process ends here")
        self.left -= 1
        super().delete(name)


def filled(storage: FileStorage) -> Store:
    """A store with many files."""
    given = store(storage, CONFIG)
    for number in range(GONE + LEFT):
        topic = "gone" if number < GONE else "left"
        given.put(message(f"{number:02d}" + "x" * 150, topic=topic, KEYS="k"), number)
        given.commit()
    return given


def expire(given: Store) -> None:
    """Delete all of the log but two files, and queues without messages."""
    given.delete_before(given.log_files()[-2])
    given.delete_empty_queues(keep="")


def test_a_store_is_whole_wherever_its_deletion_ended(tmp_path: Path) -> None:
    lowest = []
    for deletions in range(MOST):
        storage = Ending(tmp_path / str(deletions))
        given = filled(storage)
        storage.left = deletions
        try:
            expire(given)
        except StoreError:
            storage.close()
        else:
            storage.close()
            break
        storage = FileStorage(tmp_path / str(deletions))
        found = store(storage, CONFIG)
        low = found.min_offset("left", 0)
        wanted = [f"{GONE + number:02d}" for number in range(low, LEFT)]
        assert [body[:2] for body in bodies(found, "left")] == wanted
        assert len(found.by_key("left", "k", 99, 0, 99)) == LEFT - low
        ends = [found.put(message("new", topic=topic), 99).queue_offset for topic in ("gone", "left")]
        assert ends == [GONE, LEFT]
        storage.close()
        lowest.append(low)
    assert lowest == sorted(lowest)
    assert len(set(lowest)) > 3


def test_what_has_expired_is_gone_after_a_restart(tmp_path: Path) -> None:
    storage = FileStorage(tmp_path)
    given = filled(storage)
    assert list(tmp_path.glob("**/gone"))
    expire(given)
    storage.close()
    assert not list(tmp_path.glob("**/gone"))
    storage = FileStorage(tmp_path)
    found = store(storage, CONFIG)
    assert (found.min_offset("gone", 0), found.max_offset("gone", 0)) == (0, 0)
    assert found.max_offset("left", 0) == LEFT
    assert bodies(found, "gone") == []
    storage.close()
