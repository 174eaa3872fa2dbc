"""The chapters of the catalogue, rendered to be read in order: the sentence first, its proof folded away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

import msgspec

from harness.catalogue import LEVELS, Catalogue, Messages, Source, Statement
from harness.catalogue.replaced import successors
from harness.report.docs_markup import page, profiles_text
from harness.report.docs_messages import message_links
from harness.report.docs_quirks import quirk_lines
from harness.report.md import source_url

_LEVEL = re.compile(r"\b(?:MUST|SHOULD|MAY)(?: NOT)?\b")


class ProvingCase(msgspec.Struct, frozen=True):
    """A case as far as the document shows it."""

    name: str
    title: str
    """Empty where it is the text of its statement."""
    kills: tuple[str, ...]
    """Names of the mutants that it must kill."""


Cases = Mapping[str, Sequence[ProvingCase]]
"""The cases of each statement, by its id."""


class Group(msgspec.Struct, frozen=True):
    """Statements that stand under one heading; an empty one in a chapter that needs none."""

    heading: str
    statements: list[Statement]


def chapter_pages(catalogue: Catalogue, cases: Cases, messages: Messages) -> dict[str, str]:
    """File name -> Markdown text. Names of messages link to their description."""
    quirks = quirk_lines(catalogue)
    newer = successors(catalogue.statements)
    pages = {}
    for name, statements in by_chapter(catalogue).items():
        text = page(
            "chapter",
            name=name,
            about=catalogue.about.get(name, ""),
            total=len(statements),
            groups=[
                Group(heading, list(some)) for heading, some in groupby(statements, lambda one: one.heading)
            ],
            levels=level_words(statements),
            place=_place(statements),
            cases=cases,
            quirks=quirks,
            lines={one.id: _lines(one, catalogue) for one in statements},
            older={one.id: [catalogue.statement(name) for name in one.replaces] for one in statements},
            newer=newer,
            sources=_places,
            urls=_urls(statements),
            normative=_normative,
        )
        pages[f"{name}.md"] = message_links(text, messages)
    return pages


def by_chapter(catalogue: Catalogue) -> dict[str, list[Statement]]:
    """The statements of each chapter, both in the order of the catalogue."""
    chapters: dict[str, list[Statement]] = {}
    for statement in catalogue.statements:
        chapters.setdefault(statement.chapter, []).append(statement)
    return chapters


def level_words(statements: Sequence[Statement]) -> str:
    """`3 MUST, 1 MAY`."""
    counts = [(sum(one.level == level for one in statements), level) for level in LEVELS]
    return ", ".join(f"{number} {level}" for number, level in counts if number)


def _normative(text: str) -> str:
    return _LEVEL.sub(r"**\g<0>**", text)


def _lines(statement: Statement, catalogue: Catalogue) -> str:
    """The release lines that it is limited to; nothing where it holds for all of its roles."""
    everywhere = [one.name for one in catalogue.profiles if set(one.roles) & set(statement.servers)]
    return profiles_text(statement.profiles, everywhere)


def _place(statements: Sequence[Statement]) -> str:
    """The file of a chapter, or the directory of its files."""
    files = list(dict.fromkeys(one.file for one in statements))
    return files[0] if len(files) == 1 else f"{files[0].rpartition('/')[0]}/"


def _places(sources: Iterable[Source]) -> str:
    """`RouteInfoManager#registerBroker` with a link for each version, whose address stands below the page."""
    places: dict[str, list[str]] = {}
    for source in sources:
        places.setdefault(source.place, []).append(f"[{source.version}][{_label(source)}]")
    return "; ".join(f"`{place}` {' '.join(links)}" for place, links in places.items())


def _urls(statements: Sequence[Statement]) -> dict[str, str]:
    """The address of each source of a page, by its label."""
    found = {_label(source): source_url(source) for one in statements for source in one.source}
    return dict(sorted(found.items()))


def _label(source: Source) -> str:
    method = f"#{source.methods[0]}" if source.methods else ""
    return f"{source.name}{method} {source.version}"
