"""The documentation site, built as `make site` builds it, and what its search finds in headless Chromium."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import browser
from document_pages import ROOT

_BUILD: Final = """
import sys
from mkdocs.commands.build import build
from mkdocs.config import load_config
build(load_config(sys.argv[1], docs_dir=sys.argv[2], site_dir=sys.argv[3], strict=True))
"""
_PAGES: Final = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
_BEFORE: Final = """
const queries = QUERIES, answers = [];
const ask = (type, data) => dispatchEvent(new MessageEvent("message", { data: { type, data } }));
window.postMessage = answer => {
  answers.push(answer);
  if (answers.length === 1) queries.forEach(query => ask(2, query));
};
"""
_BEHIND: Final = """
ask(0, { ...__index, options: { suggest: false } });
addEventListener("load", () => {
  const found = answers.slice(1).map(one => one.data.items.map(group => group.map(item => item.location)));
  document.getElementById("said").textContent = JSON.stringify(found);
});
"""
"""The engine of the search takes messages, as a worker does."""


def build(folder: Path) -> Path:
    """The folder of the site. Warnings are errors."""
    source, site = folder / "source", folder / "site"
    (source / "specs").mkdir(parents=True)
    (source / "specs" / "rendered").symlink_to(ROOT / "specs" / "rendered")
    for name in ("docs", *_PAGES):
        (source / name).symlink_to(ROOT / name)
    for name in ("site.css", "iframe-worker.js"):
        (source / name).symlink_to(ROOT / "ci" / "site" / name)
    command = [sys.executable, "-c", _BUILD, str(ROOT / "ci" / "site" / "mkdocs.yml"), str(source), str(site)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    ended = subprocess.run(command, check=False, capture_output=True, text=True, env=quiet)
    assert ended.returncode == 0, ended.stderr
    return site


def texts(site: Path) -> Iterator[tuple[str, str]]:
    """Each page by its name, with the words of its article."""
    for path in sorted(site.glob("**/*.html")):
        article = re.search(r"<article.*?</article>", path.read_text(encoding="utf-8"), re.DOTALL)
        if article is not None:
            shown = re.sub(r"<wbr>|<(script|style|pre)\b.*?</\1>", "", article[0], flags=re.DOTALL)
            yield str(path.relative_to(site)), html.unescape(re.sub(r"<[^>]+>", "", shown))


def found(site: Path, queries: Sequence[str], folder: Path) -> dict[str, list[list[str]]]:
    """What the site's own search finds: for each query the pages, best first, each as its sections."""
    (engine,) = site.glob("assets/javascripts/workers/search.*.js")
    index = site / "search" / "search_index.js"
    parts = [
        '<!DOCTYPE html><meta charset="utf-8"><title>x</title><pre id="said"></pre>',
        f"<script>{_BEFORE.replace('QUERIES', json.dumps(list(queries)))}</script>",
        f'<script src="{index.as_uri()}"></script><script src="{engine.as_uri()}"></script>',
        f"<script>{_BEHIND}</script>",
    ]
    page = folder / "search.html"
    page.write_text("".join(parts), encoding="utf-8")
    said = re.search(r'<pre id="said">(.+?)</pre>', browser.dom(page, folder), re.DOTALL)
    assert said is not None
    return dict(zip(queries, json.loads(html.unescape(said[1])), strict=True))
