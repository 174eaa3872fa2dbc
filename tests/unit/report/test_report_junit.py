"""JUnit XML: golden, well-formed whatever a target sent, and never green where nothing was measured."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import msgspec
import pytest
import report_samples as samples
from report_golden import check

from harness.report import junit
from harness.report.results import Run, Verdict
from harness.report.verdicts import ending

# What Jenkins' JUnit plugin and the actions for GitHub read; anything else would be lost or refused.
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "testcase": {"properties", "failure", "error", "skipped", "system-out"},
    "properties": {"property"},
}
ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"},
    "testcase": {"classname", "name", "time"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"type", "message"},
    "property": {"name", "value"},
    "properties": set(),
    "system-out": set(),
}


@pytest.mark.parametrize("name", ["run", "green", "interrupted", "unreachable"])
def test_the_document_has_the_shape_that_readers_know(name: str) -> None:
    root = ElementTree.fromstring(junit.render(getattr(samples, name)()))
    assert root.tag == "testsuites"
    for element in root.iter():
        assert set(element.attrib) == ATTRIBUTES[element.tag], element.tag
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
    for suite in [root, *root]:
        cases = list(suite.iter("testcase"))
        assert int(suite.attrib["tests"]) == len(cases)
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[attribute]) == sum(case.find(tag) is not None for case in cases)
        assert re.fullmatch(r"[0-9]+\.[0-9]{3}", suite.attrib["time"])
    names = [(case.attrib["classname"], case.attrib["name"]) for case in root.iter("testcase")]
    assert len(names) == len(set(names))


def test_golden() -> None:
    check("junit.xml", junit.render(samples.run()))


@pytest.mark.parametrize(
    ("verdict", "tag"),
    [
        (Verdict.PASS, None),
        (Verdict.FAIL, "failure"),
        (Verdict.XFAIL, "skipped"),
        (Verdict.XPASS, "failure"),
        (Verdict.QUIRK, "skipped"),
        (Verdict.DEVIATES, None),
        (Verdict.OBSERVED, None),
        (Verdict.UNSUPPORTED, "skipped"),
        (Verdict.BLOCKED, "skipped"),
        (Verdict.FLAKY, "error"),
        (Verdict.ERROR, "error"),
    ],
)
def test_each_verdict_has_its_element(verdict: Verdict, tag: str | None) -> None:
    whole = samples.green()
    first = msgspec.structs.replace(whole.results[0], verdict=verdict, reason="because")
    run = Run(header=whole.header, results=(first, *whole.results[1:]))
    case = ElementTree.fromstring(junit.render(run)).find("testsuite/testcase")
    assert case is not None
    found = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
    assert found == ([tag] if tag else [])
    if tag:
        assert case.find(tag).attrib == {"type": verdict.value, "message": "because"}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "errors"), [("green", 0), ("run", 2), ("interrupted", 1), ("unreachable", 1)]
)
def test_a_run_that_says_nothing_is_no_green_document(name: str, errors: int) -> None:
    assert ElementTree.fromstring(junit.render(getattr(samples, name)())).attrib["errors"] == str(errors)


def test_a_failing_run_needs_no_further_error() -> None:
    whole = samples.green()
    failed = msgspec.structs.replace(whole.results[0], verdict=Verdict.FAIL)
    measured = Run(header=whole.header, results=(failed, *whole.results[1:]))
    run = Run(header=whole.header, results=measured.results, end=ending(measured, seconds=1.0))
    root = ElementTree.fromstring(junit.render(run))
    assert (root.attrib["failures"], root.attrib["errors"]) == ("1", "0")


def test_every_character_can_be_written() -> None:
    whole = samples.green()
    everything = "".join(map(chr, [*range(0x300), 0x202E, 0xFFFD, 0xFFFE, 0xFFFF, 0xD800, 0x1F600])) + "]]>"
    first = msgspec.structs.replace(
        whole.results[0], verdict=Verdict.ERROR, reason=everything, detail=everything, trace=everything
    )
    document = junit.render(Run(header=whole.header, results=(first, *whole.results[1:])))
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", document)
    ElementTree.fromstring(document.encode("utf-8"))
