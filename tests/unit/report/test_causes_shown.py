"""How reports show causes: console, Markdown, HTML and JSON."""

from __future__ import annotations

import io
import json
import re

import cause_samples as made
import msgspec
import pytest
from cause_samples import (
    REGISTER,
    failed,
    member,
    passed,
    run_of,
)
from pages import Page
from report_golden import check

from harness.report import html, json_report, markdown
from harness.report.cause_words import explained
from harness.report.console import Console
from harness.report.results import Run


def shown(run: Run, width: int | None = None) -> str:
    stream = io.StringIO()
    console = Console(stream, environ={}, width=width)
    console.start(run.header)
    for result in run.results:
        console.case(result)
    console.finish(run.end, ["out/report.html"])
    return stream.getvalue()


def test_a_console_shows_causes_then_failures_in_short() -> None:
    text = shown(made.several())
    check("console-causes.txt", text)
    places = [
        text.index(one) for one in ("4 causes explain", "1  103 REGISTER_BROKER", "9 failures in short")
    ]
    assert places == sorted(places)
    assert max(map(len, text.splitlines())) <= 120


def test_a_narrow_console_wraps_causes() -> None:
    lines = shown(made.several(), width=60).splitlines()
    assert [line for line in lines if len(line) > 60 and "#2" not in line] == []


def test_causes_beyond_fifteen_are_counted_in_short() -> None:
    places = [f"extFields.{chr(97 + n)}" for n in range(20)]
    run = run_of(*(failed(f"a.{n}", REGISTER, member(place)) for n, place in enumerate(places)))
    text = shown(run)
    assert text.count("  again ") == 15
    assert len(re.findall(r"^    \d+  The answer", text, re.MULTILINE)) == 5


@pytest.mark.parametrize("name", ["a cause", "none"])
def test_markdown_begins_with_them(name: str) -> None:
    text = markdown.render(made.several() if name == "a cause" else run_of(passed("a.b")))
    if name == "a cause":
        check("summary-causes.md", text)
        assert text.index("**4 causes explain") < text.index("<b>9 failed")
    else:
        assert "cause" not in text


def test_the_page_begins_with_them_and_every_link_leads_somewhere() -> None:
    page = html.render(made.several())
    begin = page.index('<section aria-label="Causes">')
    check("html-causes.html", page[begin : page.index("</section>", begin)] + "\n")
    assert begin < page.index('aria-label="Classes"') < page.index("<h2>Chapters")
    parsed = Page(page)
    assert {target[1:] for target in parsed.attributes("href")} <= set(parsed.attributes("id"))


def test_json_has_them_by_its_schema() -> None:
    found = json.loads(json_report.render(made.several()))["causes"]
    check("causes.json", json.dumps(found, indent=2, ensure_ascii=False) + "\n")


def test_a_cause_quotes_what_the_server_wrote_in_every_report() -> None:
    failing = made.failed("a.b", made.QUERY, made.outcome(made.OK, made.REFUSED))
    run = run_of(msgspec.structs.replace(failing, log=("panic: no such table",)))
    assert explained(run).causes[0].log == ("panic: no such table",)
    head = markdown.render(run).split("## ")[1]
    page = html.render(run)
    begin = page.index('<section aria-label="Causes">')
    for text in (head, page[begin : page.index("</section>", begin)], shown(run)):
        assert "panic: no such table" in text
    assert json.loads(json_report.render(run))["causes"]["list"][0]["log"] == ["panic: no such table"]


def test_hostile_text_in_a_cause_is_text() -> None:
    run = made.several()
    hostile = "<script>alert(1)</script>\x1b[31m\u202e"
    results = tuple(
        one
        if one.failure is None
        else msgspec.structs.replace(
            one, failure=msgspec.structs.replace(one.failure, actual=hostile, text=hostile, where=hostile)
        )
        for one in run.results
    )
    run = msgspec.structs.replace(run, results=results)
    for text in (shown(run), html.render(run), markdown.render(run)):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<script>alert" not in html.render(run)
    assert "<script>alert" not in markdown.render(run)
