"""Judges the English of our documents: spelling, proselint's rules, words that we avoid. Code is left out.

Prints a line for each finding, and exits with 1 if there is one.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator, Set
from pathlib import Path

from markdown_it import MarkdownIt
from proselint.checks import __register__
from proselint.config import DEFAULT
from proselint.registry import CheckRegistry
from proselint.tools import LintFile
from spellchecker import SpellChecker

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


ENGLISH = SpellChecker(language="en")
WORDS = ROOT / "ci" / "words.txt"
NAME = re.compile(r"\S*(?:[a-z][A-Z]|[_/@=\d]|\.\w|\w-\w+-)\S*")
"""Members, classes, ids, files and numbers: they are held against their sources, not against a dictionary."""
WORD = re.compile(r"\b[A-Z]?[a-zà-ÿ]+\b")


TERMS = frozenset(line for line in WORDS.read_text("utf-8").splitlines() if line and line[0] != "#")
"""What the dictionary lacks, in lower case."""


def words_of(text: str) -> list[str]:
    """Each word once; one letter is none."""
    return [word for word in dict.fromkeys(WORD.findall(NAME.sub(" ", text))) if len(word) > 1]


def is_known(word: str) -> bool:
    return word.lower() in TERMS or word in ENGLISH


@functools.cache
def prose(page: Path) -> list[tuple[int, str]]:
    """Line and text of each paragraph, item and cell."""
    found = []
    for token in MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
        if token.type == "inline" and token.map is not None:
            words = (one.content if one.type == "text" else " " for one in token.children or ())
            found.append((token.map[0] + 1, "".join(words)))
    return found


def findings(page: Path, name: str) -> Iterator[str]:
    paragraphs = prose(page)
    checks = dict.fromkeys(OFF, False) | {key: on for key, on in DEFAULT["checks"].items() if key not in OFF}
    text = LintFile(name, "\n".join(words for _, words in paragraphs))
    for found in text.lint({"max_errors": DEFAULT["max_errors"], "checks": checks}):
        line, _ = paragraphs[found.pos[0] - 1]
        yield f"{name}:{line}: {found.check_result.message} ({found.check_result.check_path})"
    reported: set[str] = set()
    for line, words in paragraphs:
        for word in words_of(words):
            if not is_known(word) and word not in reported:
                reported.add(word)
                yield f"{name}:{line}: {word!r} is misspelt, or a term that ci/words.txt lacks"
        for pattern, hint in AVOIDED.items():
            if avoided := re.search(pattern, words, re.IGNORECASE):
                yield f"{name}:{line}: {avoided[0]!r}: {hint}"


CheckRegistry().register_many(__register__)


def needless(used: Set[str], terms: Set[str]) -> Iterator[str]:
    """Terms of ours that need not be there."""
    for term in sorted(terms):
        if term in ENGLISH:
            yield f"{WORDS.relative_to(ROOT)}: {term!r} is a word of the dictionary"
        elif term not in used:
            yield f"{WORDS.relative_to(ROOT)}: {term!r} is on no page"


def main() -> int:
    pages = [page for kind in PAGES for page in sorted(ROOT.glob(kind))]
    found = [one for page in pages for one in findings(page, str(page.relative_to(ROOT)))]
    used = {word.lower() for page in pages for _, text in prose(page) for word in words_of(text)}
    found += needless(used, TERMS)
    sys.stdout.writelines(f"{one}\n" for one in found)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
