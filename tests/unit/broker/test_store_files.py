"""Files on disk: the same storage as that in memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from reference_impl.broker import files
from reference_impl.broker.files import FileStorage
from reference_impl.broker.store import MemoryStorage, StoreError
from reference_impl.broker.store.storage import Space

from .store_samples import bodies, message, store

NAMES = st.sampled_from(["a/0", "a/1", "b/c/0", "b/d/0"])


def test_a_store_on_disk_is_found_again(tmp_path: Path) -> None:
    storage = FileStorage(tmp_path / "store")
    given = store(storage)
    for number in range(30):
        given.put(message(str(number)), 1)
        given.commit()
    storage.close()
    storage = FileStorage(tmp_path / "store")
    assert bodies(store(storage)) == [str(number) for number in range(30)]
    storage.close()


def test_only_one_process_at_a_time(tmp_path: Path) -> None:
    storage = FileStorage(tmp_path)
    with pytest.raises(StoreError, match="used by another process"):
        FileStorage(tmp_path)
    storage.close()
    FileStorage(tmp_path).close()


def test_an_append_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = FileStorage(tmp_path)
    storage.append("a/0", b"before")
    write = os.pwrite

    def full(file: int, data: bytes, offset: int) -> int:
        if offset > 6:
            raise OSError(28, "No space left on device")
        return write(file, data[:3], offset)

    monkeypatch.setattr(files.os, "pwrite", full)
    with pytest.raises(StoreError, match="No space left"):
        storage.append("a/0", b"behind")
    assert (tmp_path / "a" / "0").read_bytes() == b"before"
    storage.close()


def test_a_new_file_is_durable_with_its_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[str] = []
    fsync = os.fsync

    def noted(file: int) -> None:
        flushed.append(str(Path(f"/proc/self/fd/{file}").readlink().relative_to(tmp_path)))
        fsync(file)

    monkeypatch.setattr(files.os, "fsync", noted)
    storage = FileStorage(tmp_path)
    storage.append("a/b/0", b"x")
    storage.flush("a/b/0")
    assert flushed[0] == "a/b/0"
    assert set(flushed) == {"a/b/0", "a/b", "a", "."}
    storage.append("a/b/0", b"x")
    storage.flush("a/b/0")
    assert flushed[4:] == ["a/b/0"]
    storage.close()


def test_more_files_than_are_kept_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MOST_OPEN", 2)
    storage = FileStorage(tmp_path)
    for number in range(9):
        storage.append(f"a/{number}", bytes([number]))
    assert [storage.read(f"a/{number}", 0, 9) for number in range(9)] == [bytes([n]) for n in range(9)]
    storage.close()


class BothStorages(RuleBasedStateMachine):
    """The same calls on both kinds of storage; what is not there is only appended to."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(BothStorages.root)
        self.disk = FileStorage(self.root)
        self.memory = MemoryStorage()
        for name in self.disk.names():
            self.disk.delete(name)

    root = ""

    @rule(name=NAMES, data=st.binary(max_size=20))
    def append(self, name: str, data: bytes) -> None:
        self.disk.append(name, data)
        self.memory.append(name, data)

    @rule(name=NAMES, size=st.integers(0, 30))
    def truncate(self, name: str, size: int) -> None:
        if name in self.memory.files:
            size = min(size, self.memory.size(name))
            self.disk.truncate(name, size)
            self.memory.truncate(name, size)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        if name in self.memory.files:
            self.disk.flush(name)
            self.disk.delete(name)
            self.memory.delete(name)

    @rule(name=NAMES, offset=st.integers(0, 30), size=st.integers(0, 30))
    def read(self, name: str, offset: int, size: int) -> None:
        assert self.disk.size(name) == self.memory.size(name)
        if name in self.memory.files and offset <= self.memory.size(name):
            assert self.disk.read(name, offset, size) == self.memory.read(name, offset, size)

    @rule()
    def reopen(self) -> None:
        self.disk.close()
        self.disk = FileStorage(self.root)

    def teardown(self) -> None:
        assert sorted(self.disk.names()) == sorted(self.memory.names())
        self.disk.close()


def test_disk_and_memory_are_the_same(tmp_path: Path) -> None:
    BothStorages.root = str(tmp_path)
    run_state_machine_as_test(BothStorages, settings=settings(max_examples=40, deadline=None))
    assert tmp_path.is_dir()


def test_how_full_the_disk_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = FileStorage(tmp_path)
    blocks = (4096, 4096, 1000, 501, 400, 0, 0, 0, 0, 255)  # size, of a fragment, blocks, free, for users
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(blocks))
    assert storage.space() == Space(4_096_000, 1_638_400, 0.56)
    storage.close()
