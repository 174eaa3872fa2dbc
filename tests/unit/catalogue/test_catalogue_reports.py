"""Upstream bug reports: which statements speak of them, and what is wrong with one that is written badly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from test_catalogue_load import empty, write

from harness.catalogue import CatalogueProblems, catalogue, load, tag_of
from harness.conformance.loading import cases
from reference_impl.mutants import MUTANTS

STATEMENT = {
    "id": "ns.lease.expires",
    "level": "MUST",
    "text": "A broker whose lease has run out MUST leave every route.",
    "stimulus": "A registration, then silence.",
    "observable": "Code 17.",
    "source": ["RouteInfoManager (5.3.3)"],
    "issues": ["apache/rocketmq#5374", "ROCKETMQ-140"],
    "tags": ["ghost"],
}


def loaded(directory: Path, *reports: dict[str, Any]) -> list[str]:
    """What is wrong with `specs/` when these are its reports; empty when all is well."""
    specs = empty(directory)
    write(specs, "lease", [STATEMENT])
    (specs / "reports.yaml").write_text(yaml.safe_dump(list(reports)), encoding="utf-8")
    try:
        load(specs)
    except CatalogueProblems as error:
        return [str(problem) for problem in error.problems]
    return []


def report(**members: Any) -> dict[str, Any]:
    return {"title": "A broker is lost.", "fixed": ["5.1.0"], **members}


@pytest.mark.parametrize(
    ("issue", "tag"),
    [
        ("apache/rocketmq#5374", "issue-5374"),
        ("alibaba/RocketMQ#243", "issue-243"),
        ("ROCKETMQ-140", "rocketmq-140"),
    ],
)
def test_an_issue_is_a_tag(issue: str, tag: str) -> None:
    assert tag_of(issue) == tag


@pytest.mark.parametrize(
    "sound",
    [
        report(issues=["apache/rocketmq#5374", "apache/rocketmq#1"]),
        report(issues=["ROCKETMQ-140"]),
        report(name="ghost"),
        report(issues=["apache/rocketmq#7"], untestable="Only a client can show it."),
    ],
)
def test_a_report_is_spoken_of_or_says_why_not(tmp_path: Path, sound: dict[str, Any]) -> None:
    assert loaded(tmp_path, sound) == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            report(issues=["apache/rocketmq#7"]),
            "issue-7: no statement speaks of it; put it into `issues` of one",
        ),
        (report(name="nobody"), "nobody: no statement speaks of it; put it into `tags` of one"),
        (
            report(issues=["ROCKETMQ-140"], untestable="It is not on the wire."),
            "rocketmq-140: it is untestable, and a statement speaks of rocketmq-140",
        ),
        (report(issues=["5374"]), 'issues.0: "5374" does not match'),
        (report(), "is not valid under any of the schemas listed in the 'oneOf' keyword"),
    ],
)
def test_a_wrong_report_is_named(tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    (problem,) = loaded(tmp_path, wrong)
    assert problem.startswith("specs/reports.yaml ")
    assert said in problem


def test_an_issue_belongs_to_one_report(tmp_path: Path) -> None:
    (problem,) = loaded(tmp_path, report(issues=["ROCKETMQ-140"]), report(issues=["ROCKETMQ-140"]))
    assert "rocketmq-140 is in two reports" in problem


def test_historical_mutants_name_a_report_or_say_why_not() -> None:
    known = {issue for statement in catalogue().statements for issue in statement.issues}
    historical = [one for one in MUTANTS.values() if one.chapter == "historical"]
    assert len(historical) >= 10
    assert [one.name for one in MUTANTS.values() if bool(one.history) != (one in historical)] == []
    for one in historical:
        issue, _, releases = one.history.partition(", ")
        assert releases, f"{one.name}: its history names no release"
        assert one.name.startswith("historical-")
        assert issue == "no report" or issue in known, f"{one.name}: no statement speaks of {issue}"


REPORTS = [
    "issue-5374",
    "issue-11043",
    "issue-4522",
    "issue-9411",
    "issue-1464",
    "state-version-conflict",
    "issue-9455",
    "issue-7600",
    "issue-313",
    "issue-4682",
    "issue-4726",
    "issue-5894",
    "issue-5322",
    "issue-1432",
    "issue-723",
    "issue-288",
    "issue-4263",
    "issue-4644",
    "issue-1989",
    "issue-3991",
    "issue-1445",
    "issue-4432",
    "issue-5536",
    "issue-270",
    "issue-3381",
    "issue-2935",
    "issue-11123",
    "issue-3527",
    "issue-10438",
    "issue-9682",
    "issue-9881",
    "issue-4245",
    "issue-6668",
    "issue-8963",
    "issue-7542",
    "issue-2090",
    "issue-11187",
    "issue-10284",
    "issue-5905",
    "issue-8913",
    "rocketmq-140",
    "rocketmq-200",
    "shared-connection",
]
"""What is known to have gone wrong with NameServers, by the first tag of each report."""


@pytest.mark.parametrize("tag", REPORTS)
def test_what_is_known_is_accounted_for(tag: str) -> None:
    found = catalogue().report(tag)
    assert found is not None
    chosen = {statement.id for statement in catalogue().tagged(*found.tags)}
    proving = [one.name for one in cases() if chosen.intersection(one.case.statements)]
    assert bool(proving) == (found.untestable is None)
