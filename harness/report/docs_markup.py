"""What all rendered pages share: plain text, anchors, tables, links into Apache's code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from harness.catalogue import Source

__all__ = ["anchor", "code", "plain", "profiles_text", "source_link", "table", "title"]

_REPOSITORY = "https://github.com/apache/rocketmq"


def plain(text: str) -> str:
    """Text in which Markdown sees no markup but the code spans that authors wrote."""
    pieces = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([\\*<>|\[\]]|(?<!\w)_|_(?!\w))", r"\\\1", piece)
        for piece in pieces
    )


def code(text: object) -> str:
    """A code span in a table."""
    return f"`{str(text).replace('|', chr(92) + '|')}`"


def anchor(heading: str) -> str:
    """The anchor that Git hosts make of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def title(chapter: str) -> str:
    """The heading of a chapter."""
    known = {"kv": "KV configuration", "json": "JSON"}
    return known.get(chapter) or chapter.replace("-", " ").capitalize()


def source_link(source: Source) -> str:
    """A link to the place in Apache's code."""
    return f"[{plain(str(source))}]({_REPOSITORY}/blob/{source.tag}/{source.path})"


def profiles_text(profiles: Sequence[str], all_profiles: Sequence[str]) -> str:
    """Profiles as they are written in a table; nothing where it is all of them."""
    return "" if not profiles or set(profiles) == set(all_profiles) else ", ".join(profiles)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table without the columns that are empty in every row; a head that ends with `:` aligns right."""
    listed = [list(row) for row in rows]
    kept = [i for i in range(len(heads)) if i == 0 or any(row[i] for row in listed)]
    lines = [
        "| " + " | ".join(heads[i].rstrip(":") for i in kept) + " |",
        "|" + "|".join("---:" if heads[i].endswith(":") else "---" for i in kept) + "|",
    ]
    return lines + ["| " + " | ".join(row[i] for i in kept) + " |" for row in listed]
