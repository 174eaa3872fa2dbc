"""Markdown from plain values: the filters of Markdown templates."""

from __future__ import annotations

import re

from harness.catalogue import Source
from harness.report.text import issue_link, visible

_REPOSITORY = "https://github.com/apache/rocketmq"


def one_line(text: str) -> str:
    """Text without its line breaks."""
    return " ".join(text.split())


def plain(text: str) -> str:
    """Text in which Markdown sees no markup but the code spans that authors wrote."""
    pieces = re.split(r"(`[^`]*`)", one_line(text))
    return "".join(piece if piece.startswith("`") else _escaped(piece) for piece in pieces)


def _escaped(text: str) -> str:
    """Some readers of Markdown show the backslash before ``<``; all of them know the names of HTML."""
    marked = re.sub(r"([\\*|\[\]]|_(?![^\W_])|(?<![^\W_])_)", r"\\\1", text)
    return marked.replace("<", "&lt;").replace(">", "&gt;")


def in_table(text: str) -> str:
    """Markdown that stands in a table: code spans must not end the cell."""
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def code(text: object) -> str:
    """A code span, in a table too."""
    return f"`{str(text).replace('|', chr(92) + '|')}`"


def span(text: str) -> str:
    """Any text as a code span: its marks are longer than any run of them inside."""
    shown = visible(text) or " "
    runs = [len(run) for run in re.findall("`+", shown)]
    marks = "`" * (max(runs, default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{marks}{pad}{shown}{pad}{marks}"


def anchor(heading: str) -> str:
    """The anchor that Git hosts make of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def chapter(name: str) -> str:
    """The heading of a chapter."""
    known = {"kv": "KV configuration", "json": "JSON", "broker-acl": "Broker access control"}
    return known.get(name) or name.replace("-", " ").capitalize()


def source_link(source: Source) -> str:
    """A link to the place in Apache's code."""
    return f"[{plain(str(source))}]({source_url(source)})"


def source_url(source: Source) -> str:
    """The address of the place in Apache's repository: of the line, if it is known."""
    line = f"#L{source.line}" if source.line else ""
    return f"{_REPOSITORY}/blob/{source.tag}/{source.path}{line}"


def issue(name: str) -> str:
    """A link to an upstream issue."""
    return f"[{name}]({issue_link(name)})"
