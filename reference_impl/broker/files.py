"""A storage of files below one directory.

Invariants:
- The only one of the Broker that touches the disk.
- One process at a time: the file `lock` is held as long as the storage is.
- An append that fails is cut off again, so that the file is as it was.
"""

from __future__ import annotations

import contextlib
import os
from collections import OrderedDict
from pathlib import Path
from types import ModuleType

from .store import Space, StoreError

_MOST_OPEN = 256


class FileStorage:
    """Files below `root`, which is made if it is not there.

    Raises StoreError where another process has it, where the disk fails, or where the system is not POSIX.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._open: OrderedDict[str, int] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._unnamed: set[Path] = set()
        """Directories that have a new file of which a crash of the machine might lose the name."""
        fcntl = _fcntl()
        root.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise StoreError(
                f"{root} is used by another process; stop it, or take another storePathRootDir"
            ) from error

    def names(self) -> list[str]:
        return [
            path.relative_to(self._root).as_posix() for path in self._root.glob("*/**/*") if path.is_file()
        ]

    def size(self, name: str) -> int:
        size = self._sizes.get(name)
        if size is None:
            with contextlib.suppress(FileNotFoundError):
                size = self._sizes[name] = (self._root / name).stat().st_size
        return size or 0

    def append(self, name: str, data: bytes) -> None:
        size = self.size(name)
        try:
            file = self._file(name)
            written = os.pwrite(file, data, size)
            while written < len(data):
                written += os.pwrite(file, data[written:], size + written)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.truncate(self._root / name, size)
            raise StoreError(f"{self._root / name} cannot be written: {error}") from error
        self._sizes[name] = size + len(data)

    def read(self, name: str, offset: int, size: int) -> bytes:
        try:
            return os.pread(self._file(name), min(size, self.size(name) - offset), offset)
        except OSError as error:
            raise StoreError(f"{self._root / name} cannot be read: {error}") from error

    def truncate(self, name: str, size: int) -> None:
        try:
            os.ftruncate(self._file(name), size)
        except OSError as error:
            raise StoreError(f"{self._root / name} cannot be cut: {error}") from error
        self._sizes[name] = size

    def flush(self, name: str) -> None:
        try:
            os.fsync(self._file(name))
            for directory in self._unnamed:
                _fsync_directory(directory)
        except OSError as error:
            raise StoreError(f"{self._root / name} cannot be flushed: {error}") from error
        self._unnamed.clear()

    def delete(self, name: str) -> None:
        file = self._open.pop(name, None)
        if file is not None:
            os.close(file)
        self._sizes.pop(name, None)
        path = self._root / name
        try:
            path.unlink()
            while path.parent != self._root and not any(path.parent.iterdir()):
                path = path.parent
                path.rmdir()
        except OSError as error:
            raise StoreError(f"{self._root / name} cannot be deleted: {error}") from error

    def space(self) -> Space:
        found = os.statvfs(self._root)
        used, usable = found.f_blocks - found.f_bfree, found.f_bavail
        percent = -(-100 * used // max(used + usable, 1))
        return Space(found.f_blocks * found.f_frsize, usable * found.f_frsize, percent / 100)

    def close(self) -> None:
        """Ends the use of the files."""
        while self._open:
            os.close(self._open.popitem()[1])
        os.close(self._lock)

    def _file(self, name: str) -> int:
        file = self._open.get(name)
        if file is not None:
            self._open.move_to_end(name)
            return file
        path = self._root / name
        if name not in self._sizes and not path.exists():
            self._make_room(path)
        file = self._open[name] = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if len(self._open) > _MOST_OPEN:
            os.close(self._open.popitem(last=False)[1])
        return file

    def _make_room(self, path: Path) -> None:
        """The directory of a new file."""
        directory = path.parent
        self._unnamed.add(directory)
        while not directory.exists():
            directory = directory.parent
            self._unnamed.add(directory)
        path.parent.mkdir(parents=True, exist_ok=True)


def _fcntl() -> ModuleType:
    try:
        import fcntl
    except ImportError:
        raise StoreError(
            "messages on disk need Linux, macOS or WSL; leave the store out to keep them in memory"
        ) from None
    return fcntl


def _fsync_directory(directory: Path) -> None:
    if not directory.exists():
        return
    file = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
