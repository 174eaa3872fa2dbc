"""What the search of the site knows beside the sections of its pages: each statement and each code by itself,
the words that readers have for a section, and pages that it shows last.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml
from mkdocs.exceptions import PluginError

HERE = Path(__file__).parent
WORDS = HERE / "search.yaml"
_STATEMENT = re.compile(
    r'<p><a id="([^"]+)"></a>(?:(?!<p><a id=).)*?<summary><code>([^<]+)</code>.*?</details>', re.DOTALL
)
_CODE = re.compile(
    r'<tr>(?=\s*<td style="text-align: right;">(\d+)</td>\s*<td><code>([A-Z0-9_]+)</code></td>)(.*?)</tr>',
    re.DOTALL,
)
_PAGES_OF_CODES = ("specs/rendered/frame.md", "specs/rendered/request-codes.md")
_TAG = re.compile(r"<(/?)([a-z0-9]+)[^>]*>")
_KEPT = ("p", "code", "ul", "li")

_entries: list[dict[str, Any]] = []
_urls: dict[str, str] = {}


def on_pre_build(config: Any) -> None:
    """Begins anew: a server of the site builds it again and again."""
    _entries.clear()
    _urls.clear()


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """The page, in which statements and rows of codes are no longer part of their section for the search."""
    _urls[page.file.src_uri] = page.url

    def statement(found: re.Match[str]) -> str:
        text = f"{_text(found[0])}<p>{re.sub(r'[^a-z0-9]+', ' ', found[2])}</p>"
        # No other word begins as an id does: it leads to the statement alone.
        words = f"{found[2].partition('-')[0]} " * 3
        _add(f"{page.url}#{found[1]}", found[2], text, words=words, boost=0.9)
        return f'<div class="statement" data-search-exclude="1">{found[0]}</div>'

    def code(found: re.Match[str]) -> str:
        name = found[2].lower()
        text = f"<p>{_text(found[3])} {name.replace('_', ' ')}</p>"
        _add(f"{page.url}#{name}", f"{found[1]} {found[2]}", text, words=found[2], boost=0.5)
        return f'<tr id="{name}" data-search-exclude="1">{found[3]}</tr>'

    html = _STATEMENT.sub(statement, html)
    return _CODE.sub(code, html) if page.file.src_uri in _PAGES_OF_CODES else html


def on_post_build(config: Any) -> None:
    """Writes the index again: behind the plugin that makes it, before the one that makes a script of it."""
    path = Path(config.site_dir) / "search" / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    settings = yaml.safe_load(WORDS.read_text(encoding="utf-8"))
    path.write_text(json.dumps(completed(index, settings), separators=(",", ":")), encoding="utf-8")


def completed(index: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """The index with what this file adds. A page or section that is named and is not there is an error."""
    docs = {one["location"]: one for one in [*index["docs"], *_entries]}
    for page, boost in settings["last"].items():
        url = _url(page)
        for location, one in docs.items():
            if location.partition("#")[0] == url:
                one["boost"] = boost
    for section, words in settings["words"].items():
        page, _, part = section.partition("#")
        location = f"{_url(page)}#{part}" if part else _url(page)
        if location not in docs:
            raise PluginError(f"{WORDS.name}: the site has no {section}")
        docs[location]["words"] = words
    return {**index, "docs": list(docs.values())}


def _url(page: str) -> str:
    if page not in _urls:
        raise PluginError(f"{WORDS.name}: the site has no {page}")
    return _urls[page]


def _add(location: str, title: str, text: str, *, words: str, boost: float) -> None:
    """One more entry. Sections about a word come before statements and codes that have it in their names."""
    _entries.append({"location": location, "title": title, "text": text, "words": words, "boost": boost})


def _text(html: str) -> str:
    """The words, with the few tags that the search shows."""
    return _TAG.sub(lambda found: f"<{found[1]}{found[2]}>" if found[2] in _KEPT else "", html).strip()
