"""Judges the English of our documents: proselint's rules, and words that we avoid. Code is left out.

Prints a line for each finding, and exits with 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from proselint.checks import __register__
from proselint.config import DEFAULT
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

ROOT = Path(__file__).parents[1]
PAGES = ("*.md", "docs/**/*.md", "specs/rendered/*.md")
OFF = (
    "typography",  # plain quotation marks are wanted
    "lexical_illusions",  # bytes and numbers repeat
    "misc.phrasal_adjectives.ly",  # names of statements have hyphens
    "weasel_words.very",
)
AVOIDED = {
    r"\bnobody\b": "name who does not",
    r"\bwhoever\b": "name who does",
    r"\b(?:is|are) told\b": "say who says it, or: learns",
    r"\bof whom\b": "write two sentences",
    r"\bthat there is not\b": "that is missing",
}
"""What we do not write, and what to do instead."""


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each paragraph, item and cell."""
    for token in MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
        if token.type == "inline" and token.map is not None:
            words = (one.content if one.type == "text" else " " for one in token.children or ())
            yield token.map[0] + 1, "".join(words)


def findings(page: Path, name: str) -> Iterator[str]:
    paragraphs = list(prose(page))
    checks = dict.fromkeys(OFF, False) | {key: on for key, on in DEFAULT["checks"].items() if key not in OFF}
    text = LintFile(name, "\n".join(words for _, words in paragraphs))
    for found in text.lint({"max_errors": DEFAULT["max_errors"], "checks": checks}):
        line, _ = paragraphs[found.pos[0] - 1]
        yield f"{name}:{line}: {found.check_result.message} ({found.check_result.check_path})"
    for line, words in paragraphs:
        for pattern, hint in AVOIDED.items():
            if avoided := re.search(pattern, words, re.IGNORECASE):
                yield f"{name}:{line}: {avoided[0]!r}: {hint}"


CheckRegistry().register_many(__register__)


def main() -> int:
    pages = (page for kind in PAGES for page in sorted(ROOT.glob(kind)))
    found = [one for page in pages for one in findings(page, str(page.relative_to(ROOT)))]
    sys.stdout.writelines(f"{one}\n" for one in found)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
