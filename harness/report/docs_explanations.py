"""Concepts and algorithms, rendered: each sentence and each step with links to what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.catalogue import Catalogue
from harness.catalogue.errors import CatalogueError, CatalogueProblems
from harness.catalogue.explanations import Algorithm, Concept, Resting
from harness.report.docs_markup import page, table
from harness.report.docs_messages import PAGES
from harness.report.md import anchor, plain

CONCEPTS = "concepts.md"
_BLANKS = "&emsp;"
"""What a level of indentation is in a table, which drops blanks."""

Places = Mapping[str, str]
"""Where each statement and quirk is described, by its id."""


def explanation_pages(
    concepts: Sequence[Concept], algorithms: Sequence[Algorithm], catalogue: Catalogue
) -> dict[str, str]:
    """File name -> Markdown text. Raises CatalogueProblems for ids that are neither statements nor quirks."""
    places = _places(catalogue)
    _refuse_unknown({"concepts": [*concepts], "algorithms": [*algorithms]}, places)
    pages = {
        CONCEPTS: page("concepts", pages=PAGES, concepts=concepts, rests=lambda one: _numbers(one, places))
    }
    for name in dict.fromkeys(one.page for one in algorithms):
        shown = [one for one in algorithms if one.page == name]
        pages[f"{name}.md"] = page(
            "algorithms",
            page=f"{name}.md",
            pages=PAGES,
            algorithms=shown,
            steps=lambda one: _steps(one, places),
        )
    return pages


def _refuse_unknown(files: Mapping[str, Sequence[Concept | Algorithm]], places: Places) -> None:
    problems = [
        CatalogueError(
            f"specs/{name}.yaml, {one.name if isinstance(one, Concept) else one.title}",
            f"rests on {identifier}, which is neither a statement nor a quirk",
            "correct the id",
        )
        for name, entries in files.items()
        for one in entries
        for resting in (one.sentences if isinstance(one, Concept) else one.steps)
        for identifier in resting.rests_on
        if identifier not in places
    ]
    if problems:
        raise CatalogueProblems(problems)


def _places(catalogue: Catalogue) -> Places:
    statements = {one.id: f"{one.chapter}.md#{anchor(one.id)}" for one in catalogue.statements}
    quirks = {
        quirk.id: f"{server.name}.md#{anchor(quirk.id)}"
        for server in catalogue.servers
        for quirk in server.quirks
    }
    return statements | quirks


def _numbers(sentence: Resting, places: Places) -> str:
    """`1 2`: a link to each, with its id as title."""
    links = (f'[{number}]({places[one]} "{one}")' for number, one in enumerate(sentence.rests_on, start=1))
    return f"<sup>{' '.join(links)}</sup>"


def _steps(algorithm: Algorithm, places: Places) -> str:
    rows = [
        [str(number), _line(step.text), " · ".join(f"[{_slug(one)}]({places[one]})" for one in step.rests_on)]
        for number, step in enumerate(algorithm.steps, start=1)
    ]
    return table((":", "step", "statements"), rows)


def _line(text: str) -> str:
    depth = (len(text) - len(text.lstrip())) // 2
    return _BLANKS * depth + plain(text)


def _slug(identifier: str) -> str:
    return identifier.rpartition(".")[2]
