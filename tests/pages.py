"""Any HTML page of ours, taken apart: its elements, closed in order, and the text of each kind."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

VOID = {"meta", "input", "br", "rect", "line", "path", "circle", "polygon", "use"}


class Page(HTMLParser):
    """Every element with its attributes, checked to be closed in order; and the text of each kind."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self._open:
            self.texts.setdefault(tag, []).append(data)

    def attributes(self, name: str) -> list[str]:
        return [value for _, attrs in self.elements if (value := attrs.get(name)) is not None]


def mistakes_of(page: str) -> list[str]:
    """What a parser of the HTML standard finds wrong in a page."""
    justhtml = pytest.importorskip("justhtml", reason="needs the group oracles: make .venv/.spark")
    return [str(one) for one in justhtml.JustHTML(page, collect_errors=True, sanitize=False).errors]


def style_of(page: str) -> str:
    """The style sheet of a page, without its comments."""
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    return re.sub(r"/\*.*?\*/", "", style[1], flags=re.DOTALL)
