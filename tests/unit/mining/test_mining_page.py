"""The page of mining: whole, self-contained, escaped, the same every time, and plain where it is empty."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="needs the extra spark: make .venv/.spark")

import browser
import page_samples as samples
from pages import Page, mistakes_of, style_of

from harness.catalogue import catalogue
from harness.mining.page import plots
from harness.mining.page.amounts import interval, micros, percent
from harness.mining.page.report import About, headline, readable, render
from harness.mining.tables import TABLES

STATEMENTS = {one.id: one for one in catalogue().statements}
ABOUT = About(
    root="out/campaign",
    against="out/before",
    suite="0.1.0",
    command=("rmq-harness", "mine", "out/campaign"),
    troubles=(("out/campaign/runs/a.parquet", "it ends too soon"),),
)
SAMPLES = [samples.failing, samples.passing, samples.empty, samples.hostile]


@functools.cache
def page_of(made: Callable[[], samples.Tables]) -> str:
    return render(made(), STATEMENTS, ABOUT)


def text_of(page: str, tag: str = "body") -> str:
    return " ".join(" ".join(Page(page).texts.get(tag, [])).split())


@pytest.fixture(params=SAMPLES, ids=lambda made: made.__name__)
def page(request: pytest.FixtureRequest) -> str:
    return page_of(request.param)


@pytest.mark.parametrize("made", SAMPLES)
def test_samples_have_the_columns_of_the_tables(made: Callable[[], samples.Tables]) -> None:
    tables = made()
    assert list(tables) == list(TABLES)
    for name, rows in tables.items():
        for row in rows:
            assert set(row) == set(TABLES[name].names), name


def test_it_is_well_formed_and_loads_nothing(page: str) -> None:
    parsed = Page(page)
    tags = {tag for tag, _ in parsed.elements}
    assert not {"script", "link", "iframe", "img", "object", "image", "foreignobject", "a:href"} & tags
    assert not {"src", "srcset", "action", "data", "poster", "onload"} & {
        name for _, attrs in parsed.elements for name in attrs
    }
    inside = re.compile(r"#[\w.-]+|tables/\w+\.(csv|parquet)")
    assert all(inside.fullmatch(target) for target in parsed.attributes("href"))
    assert all(target.startswith("#") for target in parsed.attributes("xlink:href"))
    assert "@import" not in page
    assert set(re.findall(r"url\((.)", page)) <= {"#"}
    spaces = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[^\"'<\s]+", page)) <= spaces
    policies = [attrs["content"] for tag, attrs in parsed.elements if "http-equiv" in attrs]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_it_is_valid(page: str) -> None:
    assert mistakes_of(page) == []


@browser.needed
def test_it_is_whole_on_a_phone_and_for_a_keyboard(tmp_path: Path) -> None:
    pages = {made.__name__: page_of(made) for made in SAMPLES}
    for name, seen in browser.measured(pages, tmp_path).items():
        assert seen.beyond == 0, (name, seen.widest)
        assert seen.rules == style_of(pages[name]).count("{")
        assert seen.unmarked == []


def test_ids_are_unique_and_links_lead_somewhere(page: str) -> None:
    parsed = Page(page)
    ids = parsed.attributes("id")
    assert len(ids) == len(set(ids))
    within = [one[1:] for name in ("href", "xlink:href") for one in parsed.attributes(name) if one[0] == "#"]
    assert set(within) <= set(ids)


def test_nothing_that_a_target_chose_gets_into_the_markup() -> None:
    page = page_of(samples.hostile)
    assert "<script" not in page
    assert "\x1b" not in page and "\u202e" not in page
    said = text_of(page)
    assert r"<script>alert('x')</script> $a_b$ & " in said
    assert r"\x1b[31m\u202e" in said
    assert r"<script>alert('x')</script> $a_b$" in text_of(page, "text"), "formulas are not drawn"


def test_the_same_tables_give_the_same_bytes(page: str, request: pytest.FixtureRequest) -> None:
    again = render(request.node.callspec.params["page"](), STATEMENTS, ABOUT)
    assert again == page


def test_the_first_screen_answers_the_four_questions() -> None:
    page = page_of(samples.failing)
    said = text_of(page, "header")
    assert said.startswith("4 findings in 14,000 runs")
    assert "✔ 12,902 passed ✘ 1,086 failed ≠ 11 named quirks ∿ 1 flaky of 14,000 runs" in said
    first = (
        "Within one broker name an address MUST be listed under one id only, that of its latest registration."
    )
    assert f"{first} – 812 of 2,000 runs (41 %), builtin:5.3?mutant=one-id-per-address" in said
    assert "1,086 of 14,000 runs failed (7.8 %); 3 of 7 targets never did" in said
    assert "1 of 3 goals (ns.promotion-beside-a-live-master); no run judged 1 of 4 statements" in said
    assert "ns.kv.get-returns-what-was-put on builtin:5.3: 12 of 2,000 before, 240 of 2,000 after" in said
    assert "1 path could not be read" in said and "it ends too soon" in said


def test_a_finding_is_a_card_with_steps_in_words_and_a_replay_line() -> None:
    page = page_of(samples.failing)
    assert "130 s of protocol time pass" in text_of(page, "pre")
    card = text_of(page, "details")
    assert "812 of 2,000 runs (41 %)" in card
    assert "reproduced 3 of 3 times on fresh targets" in card
    assert "rmq-harness replay D/traces/r1.trace 'builtin:5.3?mutant=one-id-per-address'" in card
    assert "register, time, route" in card, "an unshrunk program is described by its kinds of step"


def test_every_figure_is_there_and_read_aloud() -> None:
    parsed = Page(page_of(samples.failing))
    drawings = [attrs for tag, attrs in parsed.elements if tag == "svg"]
    assert [attrs["aria-label"] for attrs in drawings] == [
        "Failure rates with 95 % intervals",
        "Share of failing runs by campaign",
        "Failure rates before and after",
        "Distinct states by number of runs",
        "Transitions between steps",
        "Latency over a run, faults shaded",
        "Steps to the first failure of each mutant",
    ]
    assert all(attrs["role"] == "img" for attrs in drawings)


def test_every_section_says_how_it_is_read() -> None:
    page = page_of(samples.failing)
    assert page.count("<section") == page.count('<p class="read">') == 13


def test_figures_take_the_colours_of_the_page() -> None:
    drawn = plots.rates(samples.failing()["rates"])
    assert drawn is not None
    colours = set(re.findall(r"#[0-9a-f]{6}\b", drawn.figure))
    assert colours == set(), "a colour of its own would not follow a dark page"
    used = set(re.findall(r"var\((--[a-z]+)\)", drawn.figure))
    page = page_of(samples.failing)
    assert used and all(f"{name}: #" in page for name in used)
    assert "font-family:inherit!important" in page


def test_what_does_not_fit_is_reported() -> None:
    row = samples.failing()["rates"][0]
    drawn = plots.rates([{**row, "statement": f"ns.one-{n}"} for n in range(40)])
    assert drawn is not None
    assert drawn.note == "16 of 40 rows with failures are not drawn; the table has them all."


def test_one_that_does_not_fit_is_reported_as_one() -> None:
    row = samples.failing()["mutants"][0]
    drawn = plots.hunts([{**row, "mutant": f"m-{n}"} for n in range(61)])
    assert drawn is not None
    assert drawn.note == "1 of 61 mutants is not drawn; the table has them all."


def test_a_sure_failure_stands_before_a_single_run_that_failed() -> None:
    tables = samples.failing()
    seen = {**tables["rates"][0], "statement": "ns.a.seen-often", "runs": 100, "failed": 60, "rate": 0.6}
    once = {**seen, "statement": "ns.a.seen-once", "runs": 1, "failed": 1, "rate": 1.0}
    tables["rates"] = [{**once, "low": 0.21, "high": 1.0}, {**seen, "low": 0.5, "high": 0.69}]
    said = text_of(render(tables, STATEMENTS, ABOUT))
    assert said.index("ns.a.seen-often 60 of 100") < said.index("ns.a.seen-once 1 of 1")


def test_three_runs_without_a_failure_bound_nothing() -> None:
    tables = samples.passing()
    tables["rates"][0] |= {"runs": 2}
    said = text_of(render(tables, STATEMENTS, ABOUT))
    assert "Some were judged in three runs or fewer, which bounds nothing." in said
    assert "below 100 %" not in said
    assert "which bounds nothing" not in text_of(page_of(samples.passing))


@pytest.mark.parametrize(("bound", "drawn"), [(25_000, True), (900_000, False)])
def test_a_bound_far_above_the_states_does_not_press_the_curve_flat(bound: int, drawn: bool) -> None:
    rows = [row for row in samples.failing()["saturation"] if row["target"] == samples.REFERENCE]
    (state,) = samples.failing()["states"]
    figure = plots.saturation(rows, [{**state, "chao2": float(bound)}])
    assert figure is not None
    assert f"at least {bound:,} states are reachable (Chao2)" in figure.figure
    assert ("far above this figure" not in figure.figure) == drawn
    ticks = [int(one.replace(",", "")) for one in re.findall(r">([\d,]+)<", figure.figure)]
    assert max(ticks) < 50_000


def test_all_populations_of_a_figure_are_named_in_full() -> None:
    rows = samples.failing()["saturation"][:20]
    uris = [f"builtin:5.3?mutant=a-mutant-with-a-rather-long-name-{n}" for n in range(4)]
    figure = plots.saturation([{**row, "target": one, "mutant": one} for one in uris for row in rows], [])
    assert figure is not None
    left = re.findall(r' x="([\d.]+)"[^>]*>mutant a-mutant-with', figure.figure)
    assert len(left) == 4
    assert len(set(left)) == 1, "one below the other, so that none is cut off at the side"


def test_times_of_a_few_answers_are_not_compared() -> None:
    tables = samples.failing()
    row = {**tables["latency_effect"][0], "rule": "seldom", "steps_a": 5, "steps_b": 3}
    tables["latency_effect"] = [row]
    said = text_of(render(tables, STATEMENTS, ABOUT))
    assert "No step was answered 30 times by both of two targets." in said
    assert "seldom" not in said


def test_where_nothing_failed_it_says_so_with_its_bound() -> None:
    page = page_of(samples.passing)
    said = text_of(page)
    assert headline(samples.passing()) == ("Nothing failed", "pass")
    assert "Never in 4,000 runs: with 95 % confidence the true rate is below 0.075 %" in said
    assert "No statement failed in any run." in said


def test_a_section_with_nothing_to_show_is_one_line() -> None:
    page = page_of(samples.passing)
    ids = set(Page(page).attributes("id"))
    silent = {"findings", "changes", "reasons", "divergences", "mutants"}
    assert not silent & ids
    assert {"rates", "unreached", "states", "followers", "latency", "flaky", "nothing"} <= ids
    said = text_of(page, "dd")
    assert "Nothing failed, so nothing precedes a failure." in said
    assert "out/before has no run of the same target and profile." in said
    assert "Nothing, in 0" not in text_of(page)
    whole = page_of(samples.failing)
    assert silent <= set(Page(whole).attributes("id")) and "nothing" not in Page(whole).attributes("id")


def test_a_run_without_a_verdict_is_not_green() -> None:
    tables = samples.passing()
    tables["populations"][0] |= {"timeout": 3, "passed": 1997}
    assert headline(tables) == ("Nothing failed, but some runs were not measured", "blocked")


@pytest.mark.parametrize(("slope", "said"), [(84.0, "▲ slower"), (-33.5, "▼ faster")])
def test_the_sign_of_a_drift_is_read(slope: float, said: str) -> None:
    tables = samples.failing()
    tables["drift"] = [{**tables["drift"][0], "slope_us": slope, "low": slope - 1, "high": slope + 1}]
    assert f"{said} {slope:+.1f} µs" in text_of(render(tables, STATEMENTS, ABOUT))


@pytest.mark.parametrize(("effect", "said"), [(0.9, "▲ slower"), (0.1, "▼ faster")])
def test_the_direction_of_a_difference_between_targets_is_read(effect: float, said: str) -> None:
    tables = samples.failing()
    row = {**tables["latency_effect"][0], "a12": effect, "size": "large"}
    tables["latency_effect"] = [row]
    assert f"{row['target_b']} {row['target_a']} {said}" in text_of(render(tables, STATEMENTS, ABOUT))


def test_nothing_mined_is_said_and_nothing_else() -> None:
    page = page_of(samples.empty)
    assert headline(samples.empty()) == ("Nothing was mined", "blocked")
    assert "There are no runs in out/campaign." in text_of(page)
    assert "<section" not in page and "<svg" not in page


@pytest.mark.parametrize(
    "figure_of", [plots.rates, plots.changes, plots.campaigns, plots.latency, plots.followers, plots.hunts]
)
def test_a_figure_of_nothing_is_none(figure_of: Callable[..., object]) -> None:
    assert figure_of([]) is None
    assert plots.saturation([], []) is None


def test_a_line_that_is_no_step_stays_as_it_is() -> None:
    lines = readable('{"do":"time","seconds":5}\n{"do":"fly"}\nnot json')
    assert lines[0].split() == ["1", "5", "s", "of", "protocol", "time", "pass"]
    assert lines[1:] == ['  2  {"do":"fly"}', "  3  not json"]


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.000123, "0.012 %"),
        (0.034, "3.4 %"),
        (0.57, "57 %"),
        (0.9996, "99.96 %"),
        (1e-9, "< 0.001 %"),
        (None, "–"),
    ],
)
def test_percentages_keep_two_digits_that_count(rate: float | None, said: str) -> None:
    assert percent(rate) == said


def test_amounts_have_units() -> None:
    assert [micros(value) for value in (None, 8.24, 120, 1400, 2e6, 9e7)] == [
        "–",
        "8.2 µs",
        "120 µs",
        "1.4 ms",
        "2.0 s",
        "90 s",
    ]
    assert interval(0.004, 0.009) == "0.4 to 0.9 %"
