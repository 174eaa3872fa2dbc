"""The log as bytes: blanks at the ends of files, and a slave's log that is its master's."""

from __future__ import annotations

from hypothesis import given as chosen
from hypothesis import settings
from hypothesis import strategies as st

from reference_impl.broker.store import MemoryStorage, Store, StoreConfig

from .store_samples import SMALL, bodies, message, store

FIRST, SECOND = "commitlog/" + "0" * 20, "commitlog/" + "1000".zfill(20)


def filled(count: int = 12) -> tuple[Store, MemoryStorage]:
    """A store whose log has several files of 1000 bytes, and its files."""
    storage = MemoryStorage()
    made = store(storage)
    for number in range(count):
        made.put(message(f"body {number}", KEYS=f"k{number}"), 1000 + number)
        made.commit()
    return made, storage


def log_of(storage: MemoryStorage) -> dict[str, bytes]:
    return {name: bytes(data) for name, data in storage.files.items() if name.startswith("commitlog/")}


def test_a_file_of_the_log_is_filled_with_a_blank() -> None:
    made, storage = filled()
    assert storage.size(FIRST) == 1000
    assert made.raw_at(1000) is not None
    assert bodies(made) == [f"body {number}" for number in range(12)]


def test_a_batch_is_in_one_file() -> None:
    made, storage = filled(4)
    puts = made.put_batch([message("a" * 300), message("b" * 300)], 2000)
    assert puts[0].physical_offset == 1000
    made.commit()
    assert storage.size(FIRST) == 1000


def test_a_message_larger_than_a_file_has_one_for_itself() -> None:
    made, storage = filled(1)
    made.put(message("x" * 3000), 2000)
    made.put(message("y"), 2001)
    made.commit()
    assert storage.size(SECOND) > 3000
    assert bodies(made) == ["body 0", "x" * 3000, "y"]
    assert bodies(store(storage)) == bodies(made)


def test_blanks_are_passed_over_at_the_next_start() -> None:
    made, storage = filled()
    again = store(MemoryStorage(log_of(storage)))
    assert bodies(again) == bodies(made)
    assert again.physical_range() == made.physical_range()


def test_a_torn_blank_is_cut() -> None:
    made, storage = filled()
    end = next(at for at in range(999, 0, -1) if storage.files[FIRST][at])
    blank_at = end - 7  # the last bytes that are not zero: size and magic
    for size in range(blank_at + 1, 1000, 7):
        files = log_of(storage)
        torn = MemoryStorage({FIRST: files[FIRST][:size]})
        again = store(torn)
        assert again.physical_range() == (0, blank_at)
        assert bodies(again) == bodies(made)[: len(bodies(again))]


def copy(source: Store, sizes: list[int]) -> tuple[Store, MemoryStorage]:
    """A slave that is pushed a log in pieces of these sizes, again and again, each of one file."""
    storage = MemoryStorage()
    slave, (at, end), turn = store(storage), source.raw.range(), 0
    while at < end:
        data = source.raw.read(at, sizes[turn % len(sizes)])
        slave.raw.append(at, data, 1)
        at, turn = at + len(data), turn + 1
    slave.commit()
    return slave, storage


@settings(max_examples=40, deadline=None)
@chosen(st.lists(st.integers(1, 700), min_size=1, max_size=5))
def test_a_slave_is_its_master_in_whatever_pieces(sizes: list[int]) -> None:
    master, files = filled()
    slave, copied = copy(master, sizes)
    assert log_of(copied) == log_of(files)
    assert bodies(slave) == bodies(master)
    assert slave.by_key("T", "k7", 9, 0, 1 << 40) == master.by_key("T", "k7", 9, 0, 1 << 40)
    assert slave.newest() == master.newest()
    assert bodies(store(copied)) == bodies(master)


def test_a_checkpoint_covers_whole_messages_only() -> None:
    master, _ = filled(3)
    storage = MemoryStorage()
    slave = store(storage)
    data = master.raw.read(0, 1000)
    slave.raw.append(0, data[:-10], 1)
    slave.checkpoint()
    assert bodies(store(storage)) == ["body 0", "body 1"]


def test_a_slave_that_becomes_a_master_drops_half_a_message() -> None:
    master, _ = filled(3)
    slave = store(MemoryStorage(), StoreConfig())
    slave.raw.append(0, master.raw.read(0, 1000)[:-10], 1)
    slave.raw.drop_rest()
    slave.put(message("its own"), 5000)
    assert bodies(slave) == ["body 0", "body 1", "its own"]


def test_a_log_of_a_slave_begins_where_it_is_pushed_first() -> None:
    master, _ = filled()
    slave = store(config=SMALL)
    slave.raw.append(1000, master.raw.read(1000, 1000), 1)
    assert slave.physical_range()[0] == 1000
    assert slave.min_offset("T", 0) > 0
    assert bodies(slave) == bodies(master)[slave.min_offset("T", 0) : slave.max_offset("T", 0)]
