"""Writes tables as Parquet and CSV, to any place that Arrow's file systems know (a path, ``hdfs://``, ``s3://``,
``gs://``). A file appears under its name only when it is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from harness.mining.errors import MiningError
from harness.mining.place import opened


class Folder:
    """A folder to write to, made if it is not there. Raises ``MiningError`` where that cannot be done."""

    def __init__(self, place: str) -> None:
        self.place = place
        self._files, self._root = opened(place)
        try:
            self._files.create_dir(self._root, recursive=True)
        except OSError as problem:
            raise MiningError(f"{place} cannot be made: {problem}") from None

    def write(self, name: str, fill: Callable[[Any], object]) -> None:
        """Makes one file; ``fill`` gets it open for binary writing. A folder in its name is made."""
        path = f"{self._root}/{name}"
        try:
            self._files.create_dir(path.rpartition("/")[0], recursive=True)
            with self._files.open_output_stream(f"{path}.partial") as stream:
                fill(stream)
            self._files.move(f"{path}.partial", path)
        except OSError as problem:
            raise MiningError(f"{self.place}/{name} cannot be written: {problem}") from None


def write_tables(tables: Mapping[str, pa.Table], folder: Folder) -> None:
    """Each table as ``tables/NAME.parquet`` and ``tables/NAME.csv``."""
    for name, table in tables.items():
        folder.write(f"tables/{name}.parquet", partial(parquet.write_table, table))
        folder.write(f"tables/{name}.csv", partial(csv.write_csv, table))
