"""The site as it is built: what its search finds, and what of its text a reader would stumble over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import browser
import built_site
import pytest
from document_pages import ROOT

from harness.catalogue import Statement, catalogue, messages
from harness.catalogue.codes import request_codes

pytest.importorskip("material", reason="needs the group site: make .venv/.spark")

PROTOCOL = "specs/rendered"
FIRST = 3
"""Pages that a reader looks at."""
SEARCHES = {
    "No route info of this topic": f"{PROTOCOL}/routes.html",
    "TOPIC_NOT_EXIST": f"{PROTOCOL}/routes.html",
    "REQUEST_CODE_NOT_SUPPORTED": f"{PROTOCOL}/errors.html",
    "unknown request code": f"{PROTOCOL}/errors.html",
    "DLQ": f"{PROTOCOL}/broker-retry.html",
    "%DLQ%": f"{PROTOCOL}/broker-retry.html",
    "%RETRY%": f"{PROTOCOL}/broker-retry.html",
    "dead letter": f"{PROTOCOL}/broker-retry.html",
    "upgrade": f"{PROTOCOL}/differences.html",
    "vanished": f"{PROTOCOL}/lease.html",
    "broker vanished": f"{PROTOCOL}/lease.html",
    "continuous integration": "docs/guides/checking.html",
    "CI": "docs/guides/checking.html",
    "105": f"{PROTOCOL}/messages.html",
    "SEND_MESSAGE_V2": f"{PROTOCOL}/broker-requests.html",
    "17": f"{PROTOCOL}/frame.html",
    "bodyCrc32": f"{PROTOCOL}/registration.html",
    "transaction check": f"{PROTOCOL}/broker-transaction.html",
    "zone": f"{PROTOCOL}/concepts.html",
    "lease": f"{PROTOCOL}/lease.html",
    "slave promoted": f"{PROTOCOL}/registration.html",
    "heartbeatTimeoutMillis": f"{PROTOCOL}/lease.html",
    "BrokerData": f"{PROTOCOL}/bodies.html",
    "exit status": "index.html",
    "baseline": "docs/guides/checking.html",
}


def section_of(one: Statement) -> str:
    """Where a statement stands."""
    return f"{PROTOCOL}/{one.chapter}.html#{re.sub('[^a-z0-9-]', '', one.id)}"


HARD_TO_FIND = (
    "ns.lease.expired-broker-is-removed",
    "bk.send.batch-is-of-no-transaction",
    "cl.transactions.answer-is-about-the-check",
)
"""The last words of these name pages."""
STATEMENTS = {
    one.id: section_of(one)
    for one in catalogue().statements
    if crc32(one.id.encode()) % 10 == 0 or one.id in HARD_TO_FIND
}
"""A sample that stays the same when other statements are added."""
ANSWERS = {one.name: f"{PROTOCOL}/frame.html#{one.name.lower()}" for one in messages().responses.codes}
DESCRIBED = [
    (str(one.code), one.name, f"{PROTOCOL}/{page}.html#{one.code}-{one.name.lower()}")
    for role, page in (("nameserver", "messages"), ("broker", "broker-requests"))
    for one in messages().of(role)
]
REQUESTS = {
    **{name: f"{PROTOCOL}/request-codes.html#{name.lower()}" for name in request_codes().codes.values()},
    **{name: section for _, name, section in DESCRIBED},
}
NUMBERS = {number: section for number, _, section in DESCRIBED}
EVERY = {**STATEMENTS, **ANSWERS, **REQUESTS, **NUMBERS}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site.build(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def found(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[list[str]]]:
    return built_site.found(site, [*SEARCHES, *EVERY, "qwertz"], tmp_path_factory.mktemp("search"))


def pages_of(groups: list[list[str]]) -> list[str]:
    return [group[0].partition("#")[0] for group in groups]


@browser.needed
@pytest.mark.parametrize(("query", "page"), SEARCHES.items(), ids=list(SEARCHES))
def test_a_search_leads_to_its_page(found: Mapping[str, list[list[str]]], query: str, page: str) -> None:
    assert page in pages_of(found[query])[:FIRST]


def searched(statement: str) -> set[str]:
    """The words of an id as the search takes them: singular and plural are one, and articles say nothing."""
    return {word.removesuffix("s") for word in re.split(r"[.-]", statement)} - {"a", "an", "the"}


@browser.needed
def test_a_statement_is_found_first_by_its_id(found: Mapping[str, list[list[str]]]) -> None:
    """An id that has all its words and more, as the search knows them, may stand above it; so may the
    statement that takes its place on other lines, which names it.
    """
    assert len(STATEMENTS) > 100
    successors = {(old, section_of(one)) for one in catalogue().statements for old in one.replaces}
    words = {section_of(one): searched(one.id) for one in catalogue().statements}
    first = {
        one: next(
            section
            for section in found[one][0]
            if not words.get(section, set()) > searched(one) and (one, section) not in successors
        )
        for one in STATEMENTS
    }
    assert first == STATEMENTS


@browser.needed
@pytest.mark.parametrize("some", [ANSWERS, REQUESTS, NUMBERS], ids=["answers", "requests", "numbers"])
def test_a_code_leads_to_its_page(found: Mapping[str, list[list[str]]], some: Mapping[str, str]) -> None:
    assert len(some) > 40
    pages = {query: section.partition("#")[0] for query, section in some.items()}
    missed = {query: pages_of(found[query])[:FIRST] for query in some}
    assert {query: got for query, got in missed.items() if pages[query] not in got} == {}


@browser.needed
def test_what_is_nowhere_is_not_found(found: Mapping[str, list[list[str]]]) -> None:
    assert found["qwertz"] == []


def test_marks_of_markdown_are_not_shown(site: Path) -> None:
    shown = dict(built_site.texts(site))
    assert len(shown) > 80
    marks = re.compile(r".{0,20}(?:\\[<>_|*`\[\]]|&[lg]t;|\*\*).{0,20}")
    assert {name: some for name, text in shown.items() if (some := unwanted(marks, text))} == {}


def test_names_keep_their_underscores(site: Path) -> None:
    names = {
        name
        for path in (ROOT / "specs" / "statements").glob("**/*.yaml")
        for name in re.findall(r"\b__[a-zA-Z]+__\b", path.read_text(encoding="utf-8"))
    }
    assert names
    whole = "\n".join(text for _, text in built_site.texts(site))
    for name in names:
        bare = name.strip("_")
        assert name in whole
        assert re.findall(rf"(?<!_)_{bare}_?\b|\b_?{bare}_(?!_)", whole) == []


def unwanted(marks: re.Pattern[str], text: str) -> list[str]:
    return marks.findall(text)
