"""The JSON result: valid by its published schema, golden, and true to its denominators."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples
from jsonschema_rs import Draft202012Validator
from report_golden import check

from harness.report import json_report
from harness.report.results import Run

SCHEMA = Path(__file__).resolve().parents[3] / "specs" / "schema" / "result.schema.json"


def schema() -> Any:
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["run", "green", "interrupted", "unreachable"])
def test_every_result_is_valid(name: str) -> None:
    Draft202012Validator(schema()).validate(json.loads(json_report.render(getattr(samples, name)())))


def test_a_result_with_a_member_too_many_is_not_valid() -> None:
    data = json.loads(json_report.render(samples.run()))
    for place in (data, data["cases"], data["chapters"][0], data["results"][0], data["target"]):
        place["surprise"] = 1
        assert not Draft202012Validator(schema()).is_valid(data)
        del place["surprise"]
    assert Draft202012Validator(schema()).is_valid(data)


def test_golden() -> None:
    check("result.json", json_report.render(samples.run()))


def test_parts_add_up_to_their_wholes() -> None:
    data = json_report.result_object(samples.run())
    for counts in (data["cases"], *data["chapters"], *data["levels"]):
        assert sum(counts["verdicts"].values()) + counts["not_run"] == counts["total"]
    for parts in (data["chapters"], data["levels"]):
        assert sum(part["total"] for part in parts) == data["cases"]["total"]
    assert len(data["results"]) + len(data["not_run"]) == data["cases"]["total"]


def test_a_record_cut_short_says_so() -> None:
    whole = samples.green()
    cut = Run(header=whole.header, results=whole.results, truncated=True)
    data = json_report.result_object(cut)
    assert (data["complete"], data["exit_status"], data["conclusion"]) == (False, 2, "INCONCLUSIVE")
