"""Allure: one result for each case, with labels and evidence; and a plain word where it is not installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import report_samples as samples

from harness.report import allure as reporting
from harness.report.results import ResultsWriter
from harness.trace import write_trace

ITEMS = """
from pathlib import Path

import pytest

from harness.report.allure import decorate
from harness.report.results import Verdict, read_run

RUN = read_run(Path(__file__).parent)


@pytest.mark.parametrize("number", range(len(RUN.results)))
def test_case(number):
    result = RUN.results[number]
    decorate(result, profile=RUN.header.profile, judged="NameServer", directory=Path(__file__).parent)
    if result.verdict is Verdict.FAIL:
        pytest.fail(result.failure.actual, pytrace=False)
    if result.verdict is Verdict.BLOCKED:
        pytest.skip(result.reason)
"""


@pytest.fixture(scope="module")
def allure_results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, object]]]:
    pytest.importorskip("allure_pytest")
    directory = tmp_path_factory.mktemp("allure")
    run = samples.run()
    with ResultsWriter(directory / "results.jsonl") as writer:
        writer.write(run.header)
        for result in run.results:
            writer.write(result)
    (directory / "traces").mkdir()
    write_trace(directory / "traces" / "promotion.trace", samples.TRACE)
    (directory / "test_items.py").write_text(ITEMS, encoding="utf-8")
    (directory / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    out = directory / "allure-results"
    arguments = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(directory)]
    checkout = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [*arguments, *reporting.pytest_arguments(out)],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(out.glob("*-result.json"))]
    return out, found


def of(results: list[dict[str, object]], title: str) -> dict[str, object]:
    return next(result for result in results if result["name"] == title)


def labels(result: dict[str, object]) -> set[tuple[str, str]]:
    return {(label["name"], label["value"]) for label in result["labels"]}  # type: ignore[attr-defined]


def test_there_is_one_result_for_each_case(allure_results: tuple[Path, list[dict[str, object]]]) -> None:
    _, results = allure_results
    assert sorted(str(result["name"]) for result in results) == sorted(r.title for r in samples.results())
    statuses = [str(result["status"]) for result in results]
    assert (statuses.count("failed"), statuses.count("skipped"), statuses.count("passed")) == (2, 1, 6)


def test_level_chapter_and_statement_are_labels(allure_results: tuple[Path, list[dict[str, object]]]) -> None:
    _, results = allure_results
    assert {
        ("severity", "critical"),
        ("level", "MUST"),
        ("chapter", "registration"),
        ("statement", "ns.registration.one-record-per-address"),
        ("profile", "5.3"),
        ("verdict", "fail"),
        ("suite", "registration"),
    } <= labels(of(results, "After a promotion an address is listed once."))
    assert ("severity", "normal") in labels(of(results, "The remark names the code."))
    assert ("severity", "minor") in labels(of(results, "An overloaded server may say so."))


def test_frame_trace_and_diagram_are_attached(allure_results: tuple[Path, list[dict[str, object]]]) -> None:
    out, results = allure_results
    failed = of(results, "After a promotion an address is listed once.")
    attached = {one["name"]: (out / one["source"]) for one in failed["attachments"]}  # type: ignore[attr-defined]
    assert list(attached) == ["decisive frame #9", "trace", "sequence diagram"]
    assert "> 000144" in attached["decisive frame #9"].read_text(encoding="utf-8")
    assert "<- decisive" in attached["trace"].read_text(encoding="utf-8")
    assert attached["sequence diagram"].suffix == ".svg"
    assert failed["links"] == [
        {
            "type": "issue",
            "url": "https://github.com/apache/rocketmq/issues/5374",
            "name": "apache/rocketmq#5374",
        }
    ]


def test_a_case_without_a_trace_has_its_frame(allure_results: tuple[Path, list[dict[str, object]]]) -> None:
    _, results = allure_results
    failed = of(results, "An unknown code is refused.")
    names = {one["name"] for one in failed["attachments"]}  # type: ignore[attr-defined]
    assert names == {"decisive frame #2"}


def test_without_allure_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "allure", None)
    with pytest.raises(reporting.AllureMissingError, match=r"pip install 'rmq-harness\[allure\]'"):
        reporting.pytest_arguments(tmp_path)


def test_no_other_report_imports_allure() -> None:
    code = (
        "import sys, harness.report.write, harness.report.console, harness.report.docs; "
        "sys.exit(any(name.split('.')[0].startswith('allure') for name in sys.modules))"
    )
    checkout = Path(__file__).resolve().parents[3]
    assert subprocess.run([sys.executable, "-c", code], cwd=checkout, timeout=60, check=False).returncode == 0
