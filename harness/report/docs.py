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
from harness.report.docs_markup import page
from harness.report.docs_messages import PAGES, message_links
from harness.report.md import anchor, one_line

INDEX = "README.md"
REPORTS = "reports.md"
_DIFFERENCES = 6


class ProvingCase(msgspec.Struct, frozen=True):
    """A case as far as the document shows it."""

    name: str
    title: str
    """Empty where it is the text of its statement."""
    kills: tuple[str, ...]
    """Names of the mutants that it must kill."""


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


Cases = Mapping[str, Sequence[ProvingCase]]
"""The cases of each statement, by its id."""


def render(
    catalogue: Catalogue, cases: Cases, messages: Messages, programs: Mapping[str, InPrograms]
) -> dict[str, str]:
    """File name -> Markdown text. ``programs`` is by quirk. Names of messages link to their description."""
    chapters: dict[str, list[Statement]] = {}
    for statement in catalogue.statements:
        chapters.setdefault(statement.chapter, []).append(statement)
    quirks = _quirk_lines(catalogue)
    pages = {INDEX: _index(catalogue, chapters, cases)}
    for name, statements in chapters.items():
        text = page(
            "chapter",
            name=name,
            statements=statements,
            levels=_levels(statements),
            place=_place(statements),
            cases=cases,
            quirks=quirks,
        )
        pages[f"{name}.md"] = message_links(text, messages)
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


def _index(catalogue: Catalogue, chapters: Mapping[str, Sequence[Statement]], cases: Cases) -> str:
    statements = catalogue.statements
    return page(
        "index",
        catalogue=catalogue,
        chapters=chapters,
        total=len(statements),
        classes=CLASSES,
        levels=_levels(statements),
        proven=sum(1 for one in statements if cases.get(one.id)),
        untestable=sum(1 for one in statements if one.untestable is not None),
        pages=PAGES,
    )


def _proving(cases: Cases) -> Callable[[Sequence[Statement]], list[str]]:
    def names(statements: Sequence[Statement]) -> list[str]:
        return list(dict.fromkeys(case.name for one in statements for case in cases.get(one.id, ())))

    return names


def _place(statements: Sequence[Statement]) -> str:
    """The file of a chapter, or the directory of its files."""
    files = list(dict.fromkeys(one.file for one in statements))
    return files[0] if len(files) == 1 else f"{files[0].rpartition('/')[0]}/"


def _quirk_lines(catalogue: Catalogue) -> dict[str, list[str]]:
    """For each statement that a known server breaks: a line for each quirk, with a link to it."""
    lines: dict[str, list[str]] = {}
    for server in catalogue.servers:
        for quirk in server.quirks:
            releases = ", ".join(map(str, quirk.versions))
            link = f"[{server.title}, {releases}]({server.name}.md#{anchor(quirk.id)})"
            for statement in quirk.statements:
                lines.setdefault(statement, []).append(f"{link}: {one_line(quirk.instead)}")
    return lines


def _levels(statements: Sequence[Statement]) -> str:
    counts = [(sum(one.level == level for one in statements), level) for level in LEVELS]
    return ", ".join(f"{number} {level}" for number, level in counts if number)
