"""Questions that the pages answer within two clicks and one search: `questions.yaml`."""

from __future__ import annotations

from posixpath import dirname, normpath
from typing import Any

import pytest
import yaml
from document_pages import ROOT, links, sections

HERE = ROOT / "tests" / "unit" / "site"
QUESTIONS: list[dict[str, Any]] = yaml.safe_load((HERE / "questions.yaml").read_text(encoding="utf-8"))
CONFIGURATION: dict[str, Any] = yaml.safe_load(
    (ROOT / "ci" / "site" / "mkdocs.yml").read_text(encoding="utf-8")
)
HOME = "README.md"
FOUND = 12
"""Sections that a search may find: more are a list that somebody has to read."""


def in_navigation(entry: Any) -> set[str]:
    """The pages that the navigation names, from every page."""
    if isinstance(entry, str):
        return {entry}
    parts = entry.values() if isinstance(entry, dict) else entry
    return {page for part in parts for page in in_navigation(part)}


NAVIGATION = in_navigation(CONFIGURATION["nav"])


def reached(page: str) -> set[str]:
    """Where one click leads from a page: its sections by the table of contents, its links, the navigation."""
    targets = {
        normpath(f"{dirname(page)}/{link.partition('#')[0]}").lstrip("/") for link in links(ROOT / page)
    }
    return targets | NAVIGATION | {f"#{name}" for name in sections(ROOT / page)}


def text_of(answer: str) -> str:
    page, _, part = answer.partition("#")
    return " ".join(sections(ROOT / page)[part].replace("**", "").split())


def finds(words: str) -> list[str]:
    """The sections of the site's pages that have all the words."""
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("specs/rendered/*.md")]
    return [
        f"{page.relative_to(ROOT)}#{name}"
        for page in pages
        for name, text in sections(page).items()
        if all(word.lower() in text.lower() for word in words.split())
    ]


@pytest.mark.parametrize("one", QUESTIONS, ids=lambda one: one["question"])
def test_the_pages_answer(one: dict[str, Any]) -> None:
    page = HOME
    clicks = one.get("clicks", [])
    assert len(clicks) <= 2
    for click in clicks:
        assert click in reached(page)
        page = page if click.startswith("#") else click
    if "search" in one:
        found = finds(one["search"])
        assert one["answer"] in found
        assert len(found) <= FOUND, found
    else:
        assert one["answer"].partition("#")[0] == page
    assert one["says"] in text_of(one["answer"])


def test_there_are_ten_questions_at_least() -> None:
    assert len(QUESTIONS) >= 10
