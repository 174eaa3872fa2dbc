"""Where data sets and reports lie: a path, or a URL of any file system that Arrow knows."""

from __future__ import annotations

import os
import re

import pyarrow as pa
from pyarrow import fs

from harness.mining.errors import MiningError


def opened(place: str) -> tuple[fs.FileSystem, str]:
    """The file system of a place and the path in it. Raises ``MiningError`` where there is none of that name.

    ``s3a:`` is what Hadoop calls ``s3:``.
    """
    try:
        if "://" in place or place.startswith("file:"):
            found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(re.sub("^s3a:", "s3:", place))
            return found
        return fs.LocalFileSystem(), os.path.abspath(place)  # noqa: PTH100
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise MiningError(
            f"{place}: expected a directory, or a URL of a file system that Arrow knows: {problem}", status=3
        ) from problem
