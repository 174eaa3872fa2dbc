"""What a headless Chromium measures of pages: how wide they get on a phone, which rules of their style it
understands, and which controls show that they have the focus.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
import pytest

PHONE: Final = 400
"""CSS pixels."""
_CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_SECONDS = 240

needed = pytest.mark.skipif(
    _CHROMIUM is None, reason="Chromium is not installed (Debian: apt install chromium)"
)


class Measured(msgspec.Struct, frozen=True):
    """One page, everything unfolded."""

    beyond: int
    """CSS pixels by which the page itself scrolls sideways."""
    widest: list[str]
    """The elements that stick out, where it does."""
    rules: int
    """Rules of style that the browser understood."""
    unmarked: list[str]
    """Controls that look the same with and without the focus."""


_FRAME = '<iframe width="{width}" height="900" style="border:0" srcdoc="{page}"></iframe>'
_MEASURE = """
const counted = rules => [...rules].reduce((sum, one) => sum + 1 + counted(one.cssRules || []), 0);
const named = one => `${one.tagName}.${one.getAttribute("class")} ${one.textContent.trim().slice(0, 40)}`;
const scrolled = one => one.closest(".scroll, .grid, .plot, pre");
function measured(frame) {
  const page = frame.contentDocument;
  page.querySelectorAll("details").forEach(one => { one.open = true; });
  const width = page.documentElement.clientWidth;
  const out = [...page.body.querySelectorAll("*")].filter(
    one => one.getBoundingClientRect().right > width + 1 && !scrolled(one));
  const unmarked = [...page.querySelectorAll("summary, a[href], input, select, [tabindex]")].filter(one => {
    one.focus({focusVisible: true});
    return page.activeElement === one && frame.contentWindow.getComputedStyle(one).outlineStyle === "none";
  });
  return {
    beyond: page.documentElement.scrollWidth - width,
    widest: out.slice(0, 5).map(named),
    rules: counted(page.styleSheets[0].cssRules),
    unmarked: unmarked.map(named),
  };
}
addEventListener("load", () => {
  const said = [...document.querySelectorAll("iframe")].map(measured);
  document.getElementById("said").textContent = JSON.stringify(said);
});
"""


def dom(page: Path, folder: Path) -> str:
    """What a page has become when it is loaded. ``folder`` is for the browser's files."""
    assert _CHROMIUM is not None
    plain = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
    options = (*plain, f"--user-data-dir={folder / 'profile'}")
    command = [_CHROMIUM, *options, "--dump-dom", page.as_uri()]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=_SECONDS).stdout


def measured(pages: Mapping[str, str], folder: Path) -> dict[str, Measured]:
    """All pages, at the width of a phone, in one start of the browser. ``folder`` is for its files."""
    frames = "".join(_FRAME.format(width=PHONE, page=html.escape(str(page))) for page in pages.values())
    whole = f'<!DOCTYPE html><title>x</title><pre id="said"></pre>{frames}<script>{_MEASURE}</script>'
    path = folder / "pages.html"
    path.write_text(whole, encoding="utf-8")
    ended = dom(path, folder)
    said = re.search(r'<pre id="said">(.*?)</pre>', ended, re.DOTALL)
    assert said is not None, ended
    found = msgspec.convert(json.loads(html.unescape(said[1])), list[Measured])
    return dict(zip(pages, found, strict=True))
