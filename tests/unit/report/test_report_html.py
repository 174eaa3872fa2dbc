"""The HTML report: whole, self-contained, escaped, and readable without sight, script or network."""

from __future__ import annotations

import base64
import hashlib
import re

import markupsafe
import msgspec
import pytest
import report_samples as samples
from pages import Page
from report_golden import check

from harness.report import html
from harness.report.results import Run, Verdict

TRACES = {"traces/promotion.trace": samples.TRACE}


RUNS = ["run", "green", "interrupted", "unreachable"]


@pytest.fixture(params=RUNS)
def page(request: pytest.FixtureRequest) -> str:
    run: Run = getattr(samples, request.param)()
    return html.render(run, TRACES)


def test_it_is_well_formed_and_loads_nothing(page: str) -> None:
    parsed = Page(page)
    assert not {"src", "srcset", "action", "data", "poster"} & {
        name for _, attrs in parsed.elements for name in attrs
    }
    assert all(target.startswith("#") for target in parsed.attributes("href"))
    assert "url(" not in page
    assert "@import" not in page
    assert "link" not in {tag for tag, _ in parsed.elements}
    assert set(re.findall(r"https?://[^\"'<\s]+", page)) <= {"http://www.w3.org/2000/svg"}


def test_only_its_own_script_may_run(page: str) -> None:
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    policy = next(p for p in Page(page).attributes("content") if "default-src" in p)
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"\son\w+=", page)


def test_what_a_target_says_is_text(page: str) -> None:
    assert "<script>alert" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_hostile_text_is_shown_all_the_same() -> None:
    page = html.render(samples.run(), TRACES)
    assert (
        r"&lt;script&gt;alert(1)&lt;/script&gt; \x1b[31mred\x1b[0m &amp;amp; \u202egnp.exe ]]&gt; \x00"
        in page
    )


def test_ids_are_unique_and_links_lead_somewhere(page: str) -> None:
    parsed = Page(page)
    identifiers = parsed.attributes("id")
    assert len(identifiers) == len(set(identifiers))
    assert {target[1:] for target in parsed.attributes("href")} <= set(identifiers)


def test_pictures_and_controls_have_names(page: str) -> None:
    for tag, attrs in Page(page).elements:
        if tag in ("input", "select") or (attrs.get("role") == "img" and tag != "svg"):
            assert attrs.get("aria-label"), tag
        if tag == "th":
            assert attrs.get("scope") in ("row", "col")


def test_a_deviation_shows_what_was_sent_expected_and_seen() -> None:
    page = html.render(samples.run(), TRACES)
    shown = page[page.index(f'id="case-{samples.DEVIATING}"') :]
    shown = shown[: shown.index("</details>")]
    for fact in (samples.REMARK_FAILURE.expected, samples.REMARK_FAILURE.actual, '{"code":9999,"opaque":5}'):
        assert str(markupsafe.escape(fact)) in shown


def test_the_first_screen_has_the_verdict_with_its_denominators() -> None:
    page = html.render(samples.run(), TRACES)
    first = page[page.index("<header>") : page.index("</section>")]
    check("html-first-screen.html", first + "\n")


def test_every_failure_unfolds_to_its_six_facts_and_its_diagram() -> None:
    page = html.render(samples.run(), TRACES)
    begin = page.index('<div class="inside" id="case-test_one_record_per_address"')
    block = page[begin : page.index("</details>", begin)]
    for fact in ("statement", "expected", "actual", "frame", "source", "replay"):
        assert f"<dt>{fact}</dt>" in block
    assert '<svg class="seq"' in block
    assert "▲ decisive, #9" in block
    check("html-failure.html", block + "\n")


def test_a_missing_trace_is_said() -> None:
    page = html.render(samples.run())
    assert "The trace traces/promotion.trace was missing when this page was written." in page


def test_every_case_and_statement_is_listed_with_a_denominator() -> None:
    run = samples.run()
    page = html.render(run, TRACES)
    for case in run.header.cases:
        assert case.name in page
    for statement in run.header.statements:
        assert statement.id in page
    for words in (
        "6 of 11 statements measured",
        "10 of 11 selected",
        "11 statements of profile 5.3: 6 measured, 1 untestable",
        "10 of 12 cases selected",
    ):
        assert words in page
    assert "untestable: memory is not seen on the wire" in page


@pytest.mark.parametrize("hostile", ['"><script>alert(1)</script>', "x' onclick='alert(1)", "</title><b>"])
def test_no_name_of_a_case_statement_or_target_becomes_markup(hostile: str) -> None:
    run = samples.run()
    renamed = {one.case: f"{one.case}{hostile}" for one in run.results}
    results = tuple(
        msgspec.structs.replace(
            one,
            case=renamed[one.case],
            quirk=hostile if one.failure is not None else "",
            failure=one.failure
            and msgspec.structs.replace(one.failure, statement=hostile, where=hostile, replay=hostile),
        )
        for one in run.results
    )
    cases = tuple(
        msgspec.structs.replace(one, name=renamed.get(one.name, one.name), chapter=one.chapter, title=hostile)
        for one in run.header.cases
    )
    statements = tuple(
        msgspec.structs.replace(one, id=f"{one.id}{hostile}", text=hostile) for one in run.header.statements
    )
    header = msgspec.structs.replace(run.header, target=hostile, cases=cases, statements=statements)
    plain, parsed = (
        Page(html.render(run, TRACES)),
        Page(html.render(msgspec.structs.replace(run, header=header, results=results), TRACES)),
    )
    assert [tag for tag, _ in parsed.elements].count("script") == 1
    assert {name for _, attrs in parsed.elements for name in attrs} == {
        name for _, attrs in plain.elements for name in attrs
    }
    assert any(hostile in value for value in parsed.attributes("id"))


def test_verdicts_that_share_a_reason_stand_together() -> None:
    whole = samples.green()
    results = tuple(
        msgspec.structs.replace(r, verdict=Verdict.BLOCKED, reason="the machine was busy")
        for r in whole.results
    )
    page = html.render(Run(header=whole.header, results=results))
    assert page.count("the machine was busy") == 1
    assert "10 of 10" in page


def test_the_same_record_gives_the_same_bytes() -> None:
    assert html.render(samples.run(), TRACES) == html.render(samples.run(), TRACES)
