"""Commands on the site: comments stand above commands that are long, and no line ends inside of an option."""

from __future__ import annotations

import re
from typing import Any

_FENCE = re.compile(r"^( *)```sh\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_COMMENTED = re.compile(r"(?P<indent> *)(?P<command>[^#\s].*?) {2,}(?P<comment># .*)")
_LONGEST = 84
"""Characters that fit beside the tables of contents."""
_BLOCK = re.compile(r'<div class="language-sh highlight">.*?</div>', re.DOTALL)
_OPTION = re.compile(r"(?<=[\s>\[|])--[a-z][a-z-]*(?=[\s<|\]])")


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """The page, whose blocks of commands have their comments above if one is too long for its line."""
    return _FENCE.sub(_arranged, markdown)


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """The page, in which `--option` keeps its two hyphens."""
    return _BLOCK.sub(lambda block: _OPTION.sub(r'<span class="option">\g<0></span>', block[0]), html)


def _arranged(fence: re.Match[str]) -> str:
    lines = fence[2].splitlines(keepends=True)
    if max((len(line) for line in lines), default=0) <= _LONGEST:
        return fence[0]
    return f"{fence[1]}```sh\n{''.join(map(_comment_first, lines))}{fence[1]}```"


def _comment_first(line: str) -> str:
    return _COMMENTED.sub(r"\g<indent>\g<comment>\n\g<indent>\g<command>", line)
