"""Our documents, taken apart: links, anchors, sections."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from harness.report.md import anchor

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "specs/rendered/*.md", "fixtures/README.md")
    for path in ROOT.glob(pattern)
)
_ID = re.compile(r'<a id="([^"]+)">')


@functools.cache
def tokens(page: Path) -> list[Token]:
    return MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8"))


@functools.cache
def sections(page: Path) -> dict[str, str]:
    """The text of each section, its heading included, by the anchor that Git hosts make of the heading."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found: dict[str, str] = {}
    seen: Counter[str] = Counter()
    begun: list[tuple[str, int]] = []
    for at, token in enumerate(tokens(page)):
        if token.type == "heading_open" and token.map is not None:
            words = tokens(page)[at + 1].children or ()
            name = anchor("".join(one.content for one in words if one.type in ("text", "code_inline")))
            begun.append((f"{name}-{seen[name]}" if seen[name] else name, token.map[0]))
            seen[name] += 1
    ends = [start for _, start in begun[1:]]
    for (name, start), end in zip(begun, [*ends, len(lines)], strict=True):
        found[name] = "\n".join(lines[start:end])
    return found


def anchors(page: Path) -> set[str]:
    """What a link into the page can name: headings, and anchors in the text."""
    return {*sections(page), *_ID.findall(page.read_text(encoding="utf-8"))}


def links(page: Path) -> Iterator[str]:
    for token in tokens(page):
        for one in token.children or ():
            target = one.attrGet("href") if one.type == "link_open" else one.attrGet("src")
            if one.type in ("link_open", "image"):
                yield unquote(str(target))


def shell_lines(page: Path) -> Iterator[str]:
    """The lines of its shell blocks; one that ends with a backslash goes on."""
    for token in tokens(page):
        if token.type == "fence" and token.info in ("sh", "bash", "console"):
            yield from token.content.replace("\\\n", " ").splitlines()


def fences(page: Path, language: str) -> list[str]:
    """The blocks of a language, in their order."""
    return [token.content for token in tokens(page) if token.type == "fence" and token.info == language]
