"""The headings between the statements of a file: prose that a person reads in order needs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.catalogue.errors import CatalogueError
from harness.catalogue.files import name_of


def under_headings(
    path: Path, entries: Sequence[dict[str, Any]], problems: list[CatalogueError]
) -> Iterator[dict[str, Any]]:
    """The statements of a file, each with the `heading` that it stands under; an empty one in a file without.

    Where some statements of a file stand under a heading and others do not, that goes to `problems`.
    """
    heading = ""
    for at, entry in enumerate(entries):
        if "heading" not in entry:
            yield {**entry, "heading": heading}
            continue
        if at and not heading:
            why = f"statements stand above the first heading, {entry['heading']!r}"
            problems.append(CatalogueError(name_of(path), why, "write a heading above them, too"))
        heading = entry["heading"]
