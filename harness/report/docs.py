"""Renders the catalogue to Markdown that reads as a protocol document: chapters, upstream bug reports, known
servers, and an index.

Invariants:

1. Pure but for :func:`write` and :func:`stale`. The same catalogue and cases give the same bytes: no date, no
   path.
2. Cases come as data, by the statement that they prove.
3. A directory holds the rendered files of its kind and no others: the page of a removed chapter is removed.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from harness.catalogue import CLASSES, LEVELS, Catalogue, Messages, Scope, Statement
from harness.report.docs_chapters import Cases, by_chapter, chapter_pages, level_words
from harness.report.docs_markup import page
from harness.report.docs_messages import PAGES

INDEX = "README.md"
REPORTS = "reports.md"
_DIFFERENCES = 6


class InPrograms(msgspec.Struct, frozen=True, kw_only=True):
    """How a program causes a quirk, as far as the document shows it."""

    steps: tuple[str, ...]
    """Titles of operations."""
    holds: tuple[str, ...]
    """What must hold before, a sentence each."""
    differs: tuple[str, ...]
    taints: Scope


class NamedRule(msgspec.Struct, frozen=True):
    """A rule of normal forms, as far as the document shows it."""

    name: str
    what: str
    why: str


def render(
    catalogue: Catalogue, cases: Cases, messages: Messages, programs: Mapping[str, InPrograms]
) -> dict[str, str]:
    """File name -> Markdown text. ``programs`` is by quirk."""
    pages = {INDEX: _index(catalogue, cases), **chapter_pages(catalogue, cases, messages)}
    if catalogue.reports:
        pages[REPORTS] = page(
            "reports", catalogue=catalogue, reports=catalogue.reports, proving=_proving(cases)
        )
    places = {one.id: one.chapter for one in catalogue.statements}
    for server in catalogue.servers:
        pages[f"{server.name}.md"] = page("server", server=server, chapters=places, programs=programs)
    return pages


def same_answers(rules: Sequence[NamedRule], asking: Sequence[str]) -> dict[str, str]:
    """The page about what `diff` takes for the same. ``asking`` are rules about how servers are asked."""
    return {"same-answers.md": page("same-answers", rules=rules, asking=asking)}


def write(pages: Mapping[str, str], directory: Path, kind: str = "*.md") -> list[str]:
    """Make the directory hold exactly these files of a kind, which is a pattern of names below it.

    Returns the names of those that changed, came or went.
    """
    changed = [name for name in _names(pages, directory, kind) if _text(directory / name) != pages.get(name)]
    for name in changed:
        if name in pages:
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(pages[name], encoding="utf-8")
        else:
            (directory / name).unlink()
    return changed


def stale(pages: Mapping[str, str], directory: Path, kind: str = "*.md") -> list[str]:
    """What is not as it would be rendered now, a line for each difference shown. Empty when all is well."""
    found = []
    for name in _names(pages, directory, kind):
        old, new = _text(directory / name), pages.get(name)
        if old == new:
            continue
        if old is None or new is None:
            found.append(f"{name}: {'missing' if old is None else 'no longer rendered'}")
            continue
        lines = [
            line
            for line in difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
            if line[:1] in "+-" and line[:3] not in ("+++", "---")
        ]
        found.append(f"{name}: {len(lines)} lines differ")
        found += [f"  {line}" for line in lines[:_DIFFERENCES]]
        if len(lines) > _DIFFERENCES:
            found.append(f"  … {_DIFFERENCES} of {len(lines)} shown")
    return found


def _names(pages: Mapping[str, str], directory: Path, kind: str) -> list[str]:
    there = (path for path in directory.glob(kind) if path.is_file())
    return sorted({*pages, *(path.relative_to(directory).as_posix() for path in there)})


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def _index(catalogue: Catalogue, cases: Cases) -> str:
    statements = catalogue.statements
    chapters = by_chapter(catalogue)
    return page(
        "index",
        catalogue=catalogue,
        parts={
            title: [(name, listed) for name, listed in chapters.items() if _part(listed[0]) == title]
            for title in ("Every server", "NameServers", "Brokers", "Clients")
        },
        total=len(statements),
        classes=CLASSES,
        levels=level_words(statements),
        level_counts=_level_counts,
        proven=sum(1 for one in statements if cases.get(one.id)),
        of_clients=sum(1 for one in statements if not one.roles),
        untestable=sum(1 for one in statements if one.untestable is not None),
        pages=PAGES,
    )


def _part(statement: Statement) -> str:
    if "/shared/" in statement.file:
        return "Every server"
    if not statement.roles:
        return "Clients"
    return "Brokers" if statement.roles == ("broker",) else "NameServers"


def _level_counts(statements: Sequence[Statement]) -> list[int]:
    return [sum(one.level == level for one in statements) for level in LEVELS]


def _proving(cases: Cases) -> Callable[[Sequence[Statement]], list[str]]:
    def names(statements: Sequence[Statement]) -> list[str]:
        return list(dict.fromkeys(case.name for one in statements for case in cases.get(one.id, ())))

    return names
