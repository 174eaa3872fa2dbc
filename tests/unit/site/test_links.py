"""Links of our documents lead somewhere: to a file that is there, and to a heading or an anchor in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from document_pages import PAGES, ROOT, anchors, links


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
