"""Replacing the whole content of a file, so that a kill at any moment leaves the old content or the new one.

Source: MixAll#string2File of rocketmq-all-5.3.3, which keeps the former content too, but is not atomic.
"""

import contextlib
import os
from pathlib import Path


def former(path: Path) -> Path:
    """Where the content before the last change is kept."""
    return path.with_name(path.name + ".bak")


def replace(path: Path, data: bytes, *, keep: bool = False) -> None:
    """Write `data` to a file and make it durable; `keep` leaves the former content beside it as `.bak`.

    Between two steps a reader may find only the `.bak`. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if keep:
        with contextlib.suppress(FileNotFoundError):
            path.replace(former(path))
    temporary.replace(path)
    with contextlib.suppress(OSError):  # a directory cannot be opened everywhere
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
