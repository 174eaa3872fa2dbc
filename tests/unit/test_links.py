"""Links of our documents lead somewhere: to a file that is there, and to a heading or an anchor in it."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from harness.report.md import anchor

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("specs/rendered/*.md"),
        ROOT / "fixtures/README.md",
    ]
)
_ID = re.compile(r'<a id="([^"]+)">')


@functools.cache
def tokens(page: Path) -> list[Token]:
    return MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8"))


@functools.cache
def anchors(page: Path) -> set[str]:
    """What a link into the page can name: headings, as Git hosts call them, and anchors in the text."""
    found = set(_ID.findall(page.read_text(encoding="utf-8")))
    seen: Counter[str] = Counter()
    for at, token in enumerate(tokens(page)):
        if token.type == "heading_open":
            words = "".join(
                one.content
                for one in tokens(page)[at + 1].children or ()
                if one.type in ("text", "code_inline")
            )
            name = anchor(words)
            found.add(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
    return found


def links(page: Path) -> Iterator[str]:
    for token in tokens(page):
        for one in token.children or ():
            target = one.attrGet("href") if one.type == "link_open" else one.attrGet("src")
            if one.type in ("link_open", "image"):
                yield unquote(str(target))


def lost(page: Path, link: str) -> bool:
    if re.match(r"[a-z]+:", link):
        return False
    name, _, part = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    if not target.exists():
        return True
    return bool(part) and target.suffix == ".md" and part not in anchors(target)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert [link for link in links(page) if lost(page, link)] == []


def test_a_lost_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('# A title\n\n<a id="x"></a>[a](#a-title) [b](#x) [c](#y) [d](none.md) ![e](none.svg)\n')
    assert [link for link in links(page) if lost(page, link)] == ["#y", "none.md", "none.svg"]
