"""Every report of a run says the same numbers: how many cases hold, in all and of each class."""

from __future__ import annotations

import io
import json
import re
from xml.etree import ElementTree

import pytest
import report_samples as samples
from test_causes_shown import shown

from harness.report import badge, html, json_report, junit, markdown
from harness.report.results import Run

RUNS = {"run": samples.run, "green": samples.green, "interrupted": samples.interrupted}


def numbers(run: Run) -> dict[str, tuple[int, int]]:
    """By what is counted: how many hold, of how many. As JSON has them."""
    result = json.loads(json_report.render(run))
    counted = {"cases": result["cases"], **{one["name"]: one for one in result["classes"] if one["total"]}}
    return {name: (one["hold"], one["total"]) for name, one in counted.items()}


def in_a_line(text: str) -> dict[str, tuple[int, int]]:
    """As the line of classes has them."""
    (line,) = (one for one in text.splitlines() if " hold " in one and "essential" in one)
    held, of = re.search(r"([\d,]+) of ([\d,]+) cases? hold", line).groups()  # type: ignore[union-attr]
    classes = re.findall(r"([a-z]+) ([\d,]+) of ([\d,]+) [✔✘–]", line)
    return {"cases": (int(held), int(of)), **{name: (int(one), int(two)) for name, one, two in classes}}


@pytest.mark.parametrize("name", RUNS)
def test_the_console_and_markdown_say_what_json_says(name: str) -> None:
    run = RUNS[name]()
    assert in_a_line(shown(run)) == in_a_line(markdown.render(run)) == numbers(run)


@pytest.mark.parametrize("name", RUNS)
def test_the_page_says_what_json_says(name: str) -> None:
    run = RUNS[name]()
    found = numbers(run)
    table = html.render(run).partition('aria-label="Classes"')[2].partition("</section>")[0]
    rows = re.findall(
        r'<th scope="row">(\w+)</th>.*?<td class="number">(\d+) of (\d+)</td>', table, re.DOTALL
    )
    assert {one: (int(held), int(of)) for one, held, of in rows} == {
        name: number for name, number in found.items() if name != "cases"
    }


@pytest.mark.parametrize("name", RUNS)
def test_junit_says_what_json_says(name: str) -> None:
    run = RUNS[name]()
    root = ElementTree.parse(io.BytesIO(junit.render(run).encode())).getroot()
    said = {one.get("name"): one.get("value", "") for one in root.iter("property")}
    for counted, (held, of) in numbers(run).items():
        assert said["cases that hold" if counted == "cases" else counted].startswith(f"{held} of {of} ")


def test_the_badge_says_what_json_says() -> None:
    run = samples.green()
    held, of = numbers(run)["cases"]
    assert f"{held}/{of}" in "".join(badge.text(run))


@pytest.mark.parametrize("name", RUNS)
def test_classes_add_up_to_all_cases(name: str) -> None:
    whole = numbers(RUNS[name]())
    held, of = whole.pop("cases")
    assert (sum(one for one, _ in whole.values()), sum(one for _, one in whole.values())) == (held, of)
