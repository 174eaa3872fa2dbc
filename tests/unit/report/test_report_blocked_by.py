"""Cases that build on a statement which the target breaks: every report says which, and groups them."""

from __future__ import annotations

import io
import json
from xml.etree import ElementTree

import msgspec
import report_samples as samples

from harness.report import html, json_report, junit
from harness.report.console import Console
from harness.report.results import Run, Verdict
from harness.report.verdicts import ending

OWNER = "ns.registration.routes-a-topic"
NEEDS = f"needs 103 REGISTER_BROKER, and {OWNER} does not hold"


def blocked() -> Run:
    """A run in which two cases build on the same broken statement, and saw it break."""
    whole = samples.green()
    results = tuple(
        msgspec.structs.replace(
            one, verdict=Verdict.BLOCKED, blocked_by=OWNER, reason=NEEDS, failure=samples.PROMOTION
        )
        if number in (3, 5)
        else one
        for number, one in enumerate(whole.results)
    )
    measured = Run(header=whole.header, results=results)
    return msgspec.structs.replace(measured, end=ending(measured, seconds=1.0))


def test_json_names_the_statement() -> None:
    results = json.loads(json_report.render(blocked()))["results"]
    assert [one["blocked_by"] for one in results].count(OWNER) == 2
    assert {one["blocked_by"] for one in results} == {OWNER, None}


def test_junit_names_the_statement_and_skips() -> None:
    cases = ElementTree.fromstring(junit.render(blocked())).iter("testcase")
    found = [
        case.find("skipped")
        for case in cases
        if any((one.get("name"), one.get("value")) == ("blocked by", OWNER) for one in case.iter("property"))
    ]
    assert [one is not None and one.get("message") for one in found] == [NEEDS, NEEDS]


def test_page_and_console_group_them() -> None:
    run = blocked()
    names = [one.case for one in run.results if one.blocked_by]
    assert html.render(run).count(NEEDS) == 1
    written = io.StringIO()
    console = Console(written)
    console.start(run.header)
    for one in run.results:
        console.case(one)
    console.finish(run.end)
    text = " ".join(written.getvalue().split())
    assert f"2 blocked, of {len(run.header.cases)} cases {NEEDS}: 2 cases, {', '.join(names)}" in text
