"""A store that nobody closed: what was committed is found again, what was torn is cut, damage is refused."""

from __future__ import annotations

from zlib import crc32

import pytest
from hypothesis import given as chosen
from hypothesis import settings
from hypothesis import strategies as st

from harness.wire.messages import Message, encode_message
from reference_impl.broker.store import MemoryStorage, Store, StoreConfig, StoreError

from .store_samples import bodies, message, store

LOG = "commitlog/" + "0" * 20
EAGER = StoreConfig(log_file_size=1000, checkpoint_messages=4, checkpoint_files=1)


def grown(messages: int = 3) -> MemoryStorage:
    """Files of a store with so many messages of one queue, all in one file of the log."""
    storage = MemoryStorage()
    made = store(storage, StoreConfig())
    for number in range(messages):
        made.put(message(f"body {number}", TAGS="A", KEYS=f"k{number}"), 1000 + number)
        made.commit()
    return storage


def copy(storage: MemoryStorage) -> MemoryStorage:
    return MemoryStorage({name: bytes(data) for name, data in storage.files.items()})


def test_a_crash_at_every_byte_of_the_last_append() -> None:
    storage = grown(2)
    before = storage.size(LOG)
    made = store(storage, StoreConfig())
    made.put_batch([message("three"), message("four", queue_id=1)], 1003)
    made.commit()
    whole = storage.size(LOG)
    third = int.from_bytes(storage.files[LOG][before : before + 4], "big")
    for end in range(before, whole):
        torn = copy(storage)
        torn.truncate(LOG, end)
        again = store(torn, StoreConfig())
        expected = ["body 0", "body 1", *(["three"] if end >= before + third else [])]
        assert bodies(again) == expected
        assert torn.size(LOG) == (before if end < before + third else before + third)
        assert again.put(message("next"), 1).queue_offset == len(expected)
        again.commit()
        assert bodies(store(torn, StoreConfig())) == [*expected, "next"]


@pytest.mark.parametrize("zeros", [1, 30, 200, 5000])
def test_zeros_that_a_machine_left_at_the_end_are_cut(zeros: int) -> None:
    storage = grown()
    size = storage.size(LOG)
    storage.append(LOG, bytes(zeros))
    assert len(bodies(store(storage, StoreConfig()))) == 3
    assert storage.size(LOG) == size


@pytest.mark.parametrize(
    ("field", "number"),
    [
        *((field, number) for field in ("size", "magic", "physical offset", "body") for number in (0, 1, 2)),
        # At the end, these are what a crash leaves.
        *((field, number) for field in ("larger size", "zeros") for number in (0, 1)),
    ],
)
def test_damage_is_refused_and_changes_nothing(field: str, number: int) -> None:
    storage = grown()
    size = storage.size(LOG) // 3
    at = number * size
    data = storage.files[LOG]
    match field:
        case "size":
            data[at : at + 4] = (90).to_bytes(4, "big")
        case "larger size":
            data[at : at + 4] = (1 << 20).to_bytes(4, "big")
        case "magic":
            data[at + 5] ^= 1
        case "physical offset":
            data[at + 35] ^= 1
        case "body":
            data[data.index(b"body", at)] ^= 1
        case "zeros":
            data[at : at + size] = bytes(size)
    before = copy(storage)
    with pytest.raises(
        StoreError, match=f"{LOG} is damaged at byte {at}: expected a message, found .*truncate"
    ):
        store(storage, StoreConfig())
    assert storage.files == before.files


def test_following_the_advice_for_damage_goes_on_with_what_is_sound() -> None:
    storage = grown()
    size = storage.size(LOG) // 3
    storage.files[LOG][size + 5] ^= 1
    storage.truncate(LOG, size)
    assert bodies(store(storage, StoreConfig())) == ["body 0"]


def test_a_body_that_holds_stored_messages_is_no_message_behind_a_torn_one() -> None:
    storage = grown()
    inner = encode_message(Message(topic="T", body=b"inner", physical_offset=5), "5.3")
    made = store(storage, StoreConfig())
    outer = message()
    outer.body = inner * 3
    made.put(outer, 1)
    made.commit()
    storage.truncate(LOG, storage.size(LOG) - 1)
    assert len(bodies(store(storage, StoreConfig()))) == 3


def test_a_file_of_the_log_that_is_missing_or_short_is_refused() -> None:
    storage = MemoryStorage()
    made = store(storage)
    for _ in range(30):
        made.put(message("x" * 100), 1)
        made.commit()
    names = sorted(name for name in storage.names() if name.startswith("commitlog"))
    missing, short = copy(storage), copy(storage)
    missing.delete(names[1])
    short.truncate(names[0], short.size(names[0]) - 1)
    for damaged in (missing, short):
        with pytest.raises(StoreError, match="the next file begins at"):
            store(damaged)


def test_a_log_that_lost_what_was_durable_is_refused() -> None:
    storage = grown()
    store(storage, StoreConfig()).checkpoint()
    storage.truncate(LOG, storage.size(LOG) - 1)
    with pytest.raises(StoreError, match="messages that were answered are missing"):
        store(storage, StoreConfig())
    for name in storage.names():
        if not name.startswith("commitlog"):
            storage.delete(name)
    assert bodies(store(storage, StoreConfig())) == ["body 0", "body 1"]


def test_only_what_is_behind_the_checkpoint_is_read_again() -> None:
    storage = grown()
    made = store(storage, StoreConfig())
    made.checkpoint()
    made.put(message("new"), 1)
    made.commit()
    storage.files[LOG][100] ^= 1  # damage in front of it: nobody looks
    again = store(storage, StoreConfig())
    assert again.max_offset("T", 0) == 4
    assert again.by_key("T", "k2", 9, 0, 9999)


def test_a_store_goes_on_where_it_was() -> None:
    storage = grown()
    again = store(storage, StoreConfig())
    assert again.newest() == 1002
    assert again.arrived == []
    assert again.put(message(), 1).store_timestamp == 1002
    assert any(name.startswith("checkpoint") for name in storage.names())  # the next start reads less
    assert store(storage, StoreConfig()).newest() == 1002


def played(steps: list[tuple[str, int]], storage: MemoryStorage) -> tuple[Store, dict[int, list[str]]]:
    """A store that these steps made, and what is committed by queue. It writes checkpoints of its own too."""
    made = store(storage, EAGER)
    put: dict[int, list[str]] = {0: [], 1: []}
    committed: dict[int, list[str]] = {0: [], 1: []}
    for number, (step, value) in enumerate(steps):
        match step:
            case "put":
                put[value % 2].append(f"{number}")
                made.put(message(f"{number}", queue_id=value % 2, KEYS=f"k{number}"), number)
            case "commit":
                made.commit()
            case "flush":
                made.flush()
            case "checkpoint":
                made.checkpoint()
            case "restart":
                made.commit()
                made = store(storage, EAGER)
        if step != "put":
            committed = {queue: list(found) for queue, found in put.items()}
    return made, committed


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "put", "commit", "flush", "checkpoint", "restart"]), st.integers(0, 1)
    ),
    max_size=40,
)


@chosen(STEPS, st.data())
@settings(deadline=None, max_examples=150)
def test_whatever_is_torn_but_the_committed_log_is_made_again(
    steps: list[tuple[str, int]], data: st.DataObject
) -> None:
    """Queues, index and checkpoints are cut, filled with other bytes or deleted; the log has it all."""
    storage = MemoryStorage()
    _, committed = played(steps, storage)
    derived = [name for name in storage.names() if not name.startswith("commitlog")]
    for name in data.draw(st.lists(st.sampled_from(derived), unique=True) if derived else st.just([])):
        match data.draw(st.sampled_from(["cut", "grow", "delete"])):
            case "cut":
                storage.truncate(name, data.draw(st.integers(0, storage.size(name))))
            case "grow":
                storage.append(name, data.draw(st.binary(max_size=50)))
            case "delete":
                storage.delete(name)
    again = store(storage)
    for queue, expected in committed.items():
        assert bodies(again, queue_id=queue)[: len(expected)] == expected
        for body in expected:
            assert len(again.by_key("T", f"k{body}", 9, 0, 9999)) == 1


@chosen(STEPS, st.integers(1, 400))
@settings(deadline=None, max_examples=150)
def test_a_log_torn_behind_the_last_checkpoint_keeps_a_beginning(
    steps: list[tuple[str, int]], torn: int
) -> None:
    storage = MemoryStorage()
    made, _ = played(steps, storage)
    made.checkpoint()
    durable, end = {queue: bodies(made, queue_id=queue) for queue in (0, 1)}, made.physical_range()[1]
    for number in range(4):
        made.put(message(f"new {number}", queue_id=number % 2), 99)
        made.commit()
    last = max(name for name in storage.names() if name.startswith("commitlog"))
    start = int(last.partition("/")[2])
    storage.truncate(last, max(storage.size(last) - torn, end - start, 0))
    again = store(storage)
    for queue, expected in durable.items():
        found = bodies(again, queue_id=queue)
        assert found[: len(expected)] == expected
        assert found[len(expected) :] == [f"new {queue}", f"new {queue + 2}"][: len(found) - len(expected)]
        assert again.max_offset("T", queue) == len(found)


@pytest.mark.parametrize("text", [b"[]", b"{", b'{"physical_offset":"x"}'])
def test_a_checkpoint_that_says_something_else_is_passed_over(text: bytes) -> None:
    storage = grown()
    made = store(storage, StoreConfig())
    made.checkpoint()
    storage.append("checkpoint/" + "9" * 20, b"%08x\n" % crc32(text) + text)
    assert bodies(store(storage, StoreConfig())) == ["body 0", "body 1", "body 2"]


def test_a_checkpoint_of_files_that_are_gone_is_passed_over() -> None:
    storage = MemoryStorage()
    made = store(storage)
    for number in range(30):
        made.put(message(f"{number:100}"), 1)
        made.commit()
        if number == 0:
            made.checkpoint()
    first = min(name for name in storage.names() if name.startswith("commitlog"))
    storage.delete(first)
    again = store(storage)
    assert bodies(again)[-1] == f"{29:100}"
    assert again.min_offset("T", 0) > 0


def test_a_longer_end_that_is_no_message_is_damage() -> None:
    storage = grown(2)
    storage.append(LOG, (1000).to_bytes(4, "big") + b"none" + bytes(40))
    with pytest.raises(StoreError, match="damaged"):
        store(storage, StoreConfig())


def test_what_looks_like_a_message_behind_a_torn_one_is_none() -> None:
    storage = grown(1)
    at = storage.size(LOG)
    inner_at = at + 88
    outer = message()
    inner = bytearray(encode_message(Message(topic="T", body=b"inner", physical_offset=inner_at), "5.3"))
    inner[-1] ^= 1
    inner[88] ^= 1
    outer.body = bytes(inner)
    made = store(storage, StoreConfig())
    made.put(outer, 1)
    made.commit()
    storage.truncate(LOG, storage.size(LOG) - 1)
    assert bodies(store(storage, StoreConfig())) == ["body 0"]


def test_a_queue_that_the_checkpoint_does_not_know_is_made_again() -> None:
    storage = grown(2)
    made = store(storage, StoreConfig())
    made.checkpoint()
    made.put(message("new", queue_id=3), 1)
    made.flush()
    storage.append("consumequeue/T/3/" + "0" * 20, b"anything")
    again = store(storage, StoreConfig())
    assert bodies(again, queue_id=3) == ["new"]
    again.checkpoint()
    assert bodies(store(storage, StoreConfig()), queue_id=3) == ["new"]


def test_a_torn_message_takes_its_file_along() -> None:
    storage = MemoryStorage()
    made = store(storage)
    while len([name for name in storage.names() if name.startswith("commitlog")]) < 3:
        made.put(message("x" * 100), 1)
        made.commit()
    last = max(name for name in storage.names() if name.startswith("commitlog"))
    found = len(bodies(made))
    storage.truncate(last, storage.size(last) - 1)
    again = store(storage)
    assert last not in storage.names()
    assert len(bodies(again)) == found - 1
