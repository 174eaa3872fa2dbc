"""What the site needs beside its configuration: the chapters in the navigation, links that leave it, the
reading of Markdown that Git hosts have, and long names that break where a line ends.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

import yaml
from markdown import Extension, Markdown
from pymdownx.slugs import slugify

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
_RENDERED = re.compile(r"Rendered from `[^`]+`; do not edit\. ?")
_LONG_NAME = re.compile(r"(?<=[A-Z0-9])_(?=[A-Z0-9])")
_CODE_OR_TEXT = re.compile(r"<(pre|script|style)\b.*?</\1>|(?<=>)[^<>]+(?=<)", re.DOTALL)
_WITHOUT_NEIGHBOURS = ("README.md", "docs/tutorial.md")
"""Pages that are alone in their part of the navigation."""
_WIDE = ("docs/compatibility.md",)
"""Pages whose tables need the whole width; they link to their sections themselves."""
_PROTOCOL = "specs/rendered"
_FIRST = ("frame", "messages", "broker-requests", "bodies", "settings", "differences")
_ELSEWHERE = ("README", "concepts", "algorithms", "broker-algorithms", "scenes")
"""Pages that the configuration names."""


class _Lists(Extension):
    """Lists inside of lists are indented by two blanks in our documents."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - a name of Markdown's
        md.tab_length = 2
        md.build_parser()  # What it is made of has read the length already.


def on_config(config: Any) -> Any:
    """Adds what a file of configuration cannot name."""
    config.markdown_extensions.insert(0, _Lists())
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    for entry in config.nav:
        if "Protocol" in entry:
            entry["Protocol"] = [entry["Protocol"], *_protocol()]
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """The page, with the words alone of links to files of the repository that are no part of the site, and
    without what only those who read the file should know.
    """
    if page.file.src_uri in _WITHOUT_NEIGHBOURS:
        page.meta["hide"] = ["navigation"]
    if page.file.src_uri in _WIDE:
        page.meta["hide"] = ["navigation", "toc"]
    here = PurePosixPath(page.file.src_uri).parent

    def linked(found: re.Match[str]) -> str:
        target = normpath(str(here / found[2]))
        is_elsewhere = files.get_file_from_path(target) is None and (ROOT / target).exists()
        return found[1] if is_elsewhere else found[0]

    return _LINK.sub(linked, _RENDERED.sub("", markdown))


def on_post_page(output: str, page: Any, config: Any) -> str:
    """The page, in which a NAME_OF_SEVERAL_WORDS breaks behind each of them. The search never sees that."""
    head, begin, body = output.partition("<body")
    return head + begin + _CODE_OR_TEXT.sub(_breakable, body)


def _breakable(found: re.Match[str]) -> str:
    return found[0] if found[1] else _LONG_NAME.sub("_<wbr>", found[0])


def _protocol() -> list[Any]:
    """The pages of the protocol: what is read first, the chapters in their order, the rest."""
    there = {path.stem: f"{_PROTOCOL}/{path.name}" for path in (ROOT / _PROTOCOL).glob("*.md")}
    first = [there.pop(name) for name in _FIRST]
    for name in _ELSEWHERE:
        del there[name]
    parts: dict[str, list[str]] = {"shared": [], "nameserver": [], "broker": [], "client": []}
    for entry in yaml.safe_load((ROOT / "specs/chapters.yaml").read_text(encoding="utf-8")):
        for name in entry:
            place, _, slug = name.partition("/")
            page = there.pop(f"{place}-{slug}" if place in ("broker", "client") else slug)
            parts[place].append(page)
    shared, nameserver, broker, client = parts.values()
    return [
        *first,
        {"Every server": shared},
        {"NameServers": nameserver},
        {"Brokers": broker},
        {"Clients": client},
        {"Tables": sorted(there.values())},
    ]
