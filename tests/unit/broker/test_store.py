"""The store: what is put is read, in the words and within the limits of Apache's."""

from __future__ import annotations

from itertools import pairwise

import pytest

from harness.wire.messages import SysFlag, decode_message, tag_hash
from reference_impl.broker.store import Arrival, GetStatus, MemoryStorage, PutStatus, StoreConfig, Wanted

from .store_samples import SMALL, bodies, message, store


def test_a_message_is_stored_with_its_place_and_time() -> None:
    given = store()
    first, second = message("a"), message("bb")
    put = given.put(first, 1000)
    assert (put.status, put.physical_offset, put.queue_offset) == (PutStatus.PUT_OK, 0, 0)
    assert put.store_timestamp == 1000
    after = given.put(second, 2000)
    assert (after.physical_offset, after.queue_offset) == (put.size, 1)
    got = given.get("T", 0, 0, 32)
    assert [decode_message(frame) for frame in got.frames] == [first, second]
    assert (first.physical_offset, first.queue_offset, first.store_timestamp) == (0, 0, 1000)
    assert (second.physical_offset, second.queue_offset, second.store_timestamp) == (put.size, 1, 2000)


def test_store_timestamps_never_go_back() -> None:
    given = store()
    given.put(message(), 2000)
    assert given.put(message(), 1000).store_timestamp == 2000


def test_each_queue_counts_for_itself() -> None:
    given = store()
    for topic, queue_id in (("T", 0), ("T", 1), ("U", 0), ("T", 1)):
        given.put(message(f"{topic}{queue_id}", topic, queue_id), 1)
    assert given.topics() == {"T": [0, 1], "U": [0]}
    assert bodies(given, "T", 1) == ["T1", "T1"]
    assert [given.max_offset(*queue) for queue in (("T", 0), ("T", 1), ("U", 0), ("U", 9))] == [1, 2, 1, 0]


def test_what_arrives_is_reported_once() -> None:
    given = store()
    given.put(message(TAGS="A"), 1)
    assert given.arrived == [Arrival("T", 0, 0, tag_hash("A"), {"TAGS": "A"})]


@pytest.mark.parametrize(
    ("flag", "queued"),
    [
        (0, 1),
        (SysFlag.TRANSACTION_PREPARED, 0),
        (SysFlag.TRANSACTION_COMMIT, 1),
        (SysFlag.TRANSACTION_ROLLBACK, 0),
    ],
)
def test_half_messages_and_rollbacks_are_in_no_queue(flag: int, queued: int) -> None:
    given = store()
    given.put(message(), 1)
    put = given.put(message(sys_flag=int(flag)), 1)
    assert put.queue_offset == (1 if queued else 0)
    assert given.max_offset("T", 0) == len(given.arrived) == 1 + queued
    assert given.at(put.physical_offset) is not None


def test_too_large_a_body_is_refused_and_changes_nothing() -> None:
    given = store(config=StoreConfig(max_message_size=10))
    assert given.put(message("x" * 11), 1).status is PutStatus.MESSAGE_ILLEGAL
    put = given.put(message("x" * 10), 1)
    assert (put.status, put.physical_offset) == (PutStatus.PUT_OK, 0)


@pytest.mark.parametrize(
    "refused",
    [message(topic="a/b"), message(topic="t" * 128), message(k="v" * 32767), message(topic="..")],
)
def test_what_the_format_cannot_carry_is_refused(refused: object) -> None:
    given = store(line="4.9")
    assert given.put(refused, 1).status is PutStatus.MESSAGE_ILLEGAL  # type: ignore[arg-type]
    assert given.physical_range() == (0, 0)
    assert given.topics() == {}


def test_a_batch_is_stored_as_a_whole_or_not_at_all() -> None:
    given = store(config=StoreConfig(max_message_size=300))
    puts = given.put_batch([message("a"), message("b")], 1)
    assert [put.queue_offset for put in puts] == [0, 1]
    refused = given.put_batch([message("c"), message("x" * 301)], 1)
    assert {put.status for put in refused} == {PutStatus.MESSAGE_ILLEGAL}
    assert bodies(given) == ["a", "b"]
    assert given.put_batch([], 1) == []


@pytest.mark.parametrize(
    ("offset", "status", "following"),
    [
        (-1, GetStatus.OFFSET_TOO_SMALL, 0),
        (2, GetStatus.FOUND, 3),
        (3, GetStatus.OFFSET_OVERFLOW_ONE, 3),
        (4, GetStatus.OFFSET_OVERFLOW_BADLY, 3),
    ],
)
def test_where_a_look_begins_decides_what_it_comes_to(offset: int, status: GetStatus, following: int) -> None:
    given = store()
    for _ in range(3):
        given.put(message(), 1)
    got = given.get("T", 0, offset, 32)
    assert (got.status, got.next_offset, got.min_offset, got.max_offset) == (status, following, 0, 3)


def test_a_queue_that_nothing_was_put_into() -> None:
    got = store().get("T", 0, 5, 32)
    assert (got.status, got.next_offset, got.frames) == (GetStatus.NO_MESSAGE_IN_QUEUE, 0, [])


def test_a_look_gives_as_many_as_are_asked_for_and_32_at_the_most() -> None:
    given = store()
    for _ in range(40):
        given.put(message(), 1)
    assert [len(given.get("T", 0, 0, most).frames) for most in (0, 1, 7, 32, 100)] == [1, 1, 7, 32, 32]
    assert given.get("T", 0, 30, 32).next_offset == 40


def test_a_look_gives_at_least_one_message_and_else_at_most_its_bytes() -> None:
    given = store()
    size = given.put(message(), 1).size
    given.put(message(), 1)
    assert [len(given.get("T", 0, 0, 32, None, limit).frames) for limit in (1, 2 * size - 1, 2 * size)] == [
        1,
        1,
        2,
    ]


def test_only_what_matches_is_given_and_the_rest_is_passed() -> None:
    given = store()
    for tag in "ABAB":
        given.put(message(tag, TAGS=tag), 1)
    got = given.get("T", 0, 0, 32, Wanted(tags={tag_hash("B")}))
    assert [decode_message(frame).body for frame in got.frames] == [b"B", b"B"]
    assert got.next_offset == 4
    nothing = given.get("T", 0, 0, 32, Wanted(tags=()))
    assert (nothing.status, nothing.next_offset) == (GetStatus.NO_MATCHED_MESSAGE, 4)


def test_a_search_for_a_tag_ends_after_800_entries() -> None:
    given = store()
    for _ in range(801):
        given.put(message(), 1)
    assert given.get("T", 0, 0, 32, Wanted(tags=())).next_offset == 800


def test_queues_whose_messages_lie_far_apart_are_read_as_well() -> None:
    given = store()
    for number in range(6):
        given.put(message(str(number), queue_id=number % 2), 1)
        for _ in range(10):
            given.put(message(topic="U"), 1)
    assert bodies(given, queue_id=1) == ["1", "3", "5"]


def test_a_message_is_found_by_its_place_in_the_log_and_nowhere_else() -> None:
    given = store()
    given.put(message("a"), 1)
    place = given.put(message("b"), 1).physical_offset
    given.commit()
    assert given.raw_at(place) == given.get("T", 0, 1, 1).frames[0]
    found = given.at(place)
    assert found is not None
    assert found.body == b"b"
    end = given.physical_range()[1]
    assert all(given.raw_at(at) is None for at in range(-1, end + 2) if at not in (0, place))
    assert given.at(1) is None


def test_timestamps() -> None:
    given = store()
    given.put(message(), 1000)
    six = message()
    six.born_host = "[::1]:5"
    given.put(six, 2000)
    assert [given.timestamp_of("T", 0, offset) for offset in range(-1, 3)] == [None, 1000, 2000, None]
    assert given.timestamp_of("U", 0, 0) is None
    assert given.newest() == 2000


@pytest.mark.parametrize(
    ("timestamp", "nearest", "lower", "upper"),
    [
        (500, 0, 0, 0),
        (1000, 0, 0, 0),
        (1400, 0, 1, 0),
        (1500, 0, 1, 0),
        (1600, 1, 1, 0),
        (2000, 1, 1, 2),
        (2001, 2, 3, 2),
        (3000, 3, 3, 3),
        (9000, 3, 4, 3),
    ],
)
def test_offsets_by_time(timestamp: int, nearest: int, lower: int, upper: int) -> None:
    old, new = store(line="4.9"), store(line="5.3")
    for given in (old, new):
        for now in (1000, 2000, 2000, 3000):
            given.put(message(), now)
    assert old.offset_at("T", 0, timestamp) == nearest
    assert new.offset_at("T", 0, timestamp) == lower
    assert new.offset_at("T", 0, timestamp, upper=True) == upper
    assert new.offset_at("U", 0, timestamp) == 0


def test_messages_are_found_by_key() -> None:
    given = store()
    first = given.put(message(KEYS="a b", UNIQ_KEY="U1"), 1000).physical_offset
    second = given.put(message(KEYS="b"), 2000).physical_offset
    given.put(message(topic="U", KEYS="b"), 2000)
    assert given.by_key("T", "b", 32, 0, 9999) == [first, second]
    assert given.by_key("T", "b", 1, 0, 9999) == [second]
    assert given.by_key("T", "b", 32, 1001, 2000) == [second]
    assert given.by_key("T", "b", 32, 1000, 1999) == [first]
    assert given.by_key("T", "U1", 32, 0, 9999) == [first]
    assert given.by_key("T", "c", 32, 0, 9999) == given.by_key("T", "", 32, 0, 9999) == []


def test_keys_and_topics_of_one_checksum_stay_apart() -> None:
    """CRC-32 of the two words is the same, whatever stands in front of them and behind."""
    given = store()
    one = given.put(message(KEYS="plumless"), 1).physical_offset
    other = given.put(message(KEYS="buckeroo"), 1).physical_offset
    assert given.by_key("T", "plumless", 9, 0, 9) == [one]
    assert given.by_key("T", "buckeroo", 9, 0, 9) == [other]
    one = given.put(message(topic="plumless", KEYS="k"), 1).physical_offset
    given.put(message(topic="buckeroo", KEYS="k"), 1)
    assert given.by_key("plumless", "k", 9, 0, 9) == [one]


def test_a_topic_that_was_deleted_begins_anew() -> None:
    storage = MemoryStorage()
    given = store(storage)
    given.put(message("old"), 1)
    given.put(message("other", topic="U"), 1)
    given.delete_topic("T")
    given.delete_topic("never was")
    assert given.topics() == {"U": [0]}
    assert given.get("T", 0, 0, 1).status is GetStatus.NO_MESSAGE_IN_QUEUE
    assert store(storage).topics() == {"U": [0]}
    given.put(message("new"), 1)
    given.commit()
    again = store(storage)
    assert bodies(again) == bodies(given) == ["new"]
    assert bodies(again, "U") == ["other"]
    only_the_log = MemoryStorage({name: bytes(d) for name, d in storage.files.items() if "log" in name})
    assert bodies(store(only_the_log)) == ["new"]


def test_the_lowest_offset_rises_with_the_beginning_of_the_log() -> None:
    storage = MemoryStorage()
    given = store(storage)
    for number in range(40):
        given.put(message(str(number), queue_id=number % 2), 1)
        given.commit()
    given.put(message("last", queue_id=2), 1)
    middle = given.at(decode_message(given.get("T", 0, 10, 1).frames[0]).physical_offset)
    assert middle is not None
    given.delete_before(middle.physical_offset)
    low = given.min_offset("T", 0)
    start, _ = given.physical_range()
    assert 0 < low <= 10
    assert 0 < start <= middle.physical_offset
    assert bodies(given) == [str(2 * number) for number in range(low, 20)]
    assert given.get("T", 0, low - 1, 1).status is GetStatus.OFFSET_TOO_SMALL
    again = store(storage)
    assert (again.min_offset("T", 0), again.physical_range()) == (low, given.physical_range())
    assert bodies(again, queue_id=1) == bodies(given, queue_id=1)
    assert "commitlog/" + "0" * 20 not in storage.names()
    given.delete_before(0)
    assert given.min_offset("T", 0) == low


def test_a_checkpoint_is_written_when_enough_has_come() -> None:
    storage = MemoryStorage()
    given = store(storage, StoreConfig(checkpoint_messages=3))
    for _ in range(2):
        given.put(message(), 1)
    given.commit()
    assert not any(name.startswith("checkpoint") for name in storage.names())
    given.put(message(), 1)
    given.commit()
    assert any(name.startswith("checkpoint") for name in storage.names())


def test_files_of_the_log_end_where_they_are_full() -> None:
    storage = MemoryStorage()
    given = store(storage, SMALL)
    for _ in range(30):
        given.put(message("x" * 100), 1)
        given.commit()
    sizes = [storage.size(name) for name in sorted(storage.names()) if name.startswith("commitlog")]
    assert len(sizes) > 2
    assert all(1000 <= size < 1300 for size in sizes[:-1])
    assert len(bodies(given)) == 30


def test_a_checkpoint_of_many_queues_is_written_in_steps() -> None:
    flushed: list[str] = []

    class Noting(MemoryStorage):
        def flush(self, name: str) -> None:
            flushed.append(name)

    storage = Noting()
    given = store(storage, StoreConfig(checkpoint_messages=100))
    for number in range(100):
        given.put(message(queue_id=number), 1)
    counts = []
    while not any(name.startswith("checkpoint") for name in storage.names()):
        given.put(message("more"), 1)
        given.commit()
        counts.append(len(flushed))
    assert counts[0] <= 16
    assert all(later - sooner <= 17 for sooner, later in pairwise(counts))
    assert set(flushed) >= {f"consumequeue/T/{number}/{0:020d}" for number in range(100)}
    again = store(storage)
    assert [again.max_offset("T", number) for number in range(100)] == [1 + len(counts), *[1] * 99]
