"""What a release says of itself in several files is said alike; what is not known is made up nowhere."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_citation_is_that_of_the_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])


def test_the_changelog_has_its_form() -> None:
    releases = re.findall(r"^## (.*)$", CHANGES, re.MULTILINE)
    assert releases[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", one) for one in releases[1:])
    kinds = re.findall(r"^### (.*)$", CHANGES, re.MULTILINE)
    assert kinds
    assert set(kinds) <= KINDS


def test_the_tests_run_on_the_pythons_that_are_named() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))
    named = re.findall(r"Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"


def test_the_account_that_is_not_known_is_left_open_in_one_place() -> None:
    files = subprocess.run(
        ["git", "ls-files", "*.md", "*.yml", "*.toml", "*.cff", "*Jenkinsfile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    found = [name for name in files if "OWNER/" in (ROOT / name).read_text(encoding="utf-8")]
    assert found == ["action.yml"]


@pytest.mark.parametrize("name", sorted(file.name for file in (ROOT / ".github" / "workflows").glob("*.yml")))
def test_a_workflow_only_calls_what_everybody_can_call(name: str) -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            assert "uses" in step or re.match(r"(make [a-z]+|(sudo )?\.ci/run)( |$)", step["run"]), step


def test_a_report_of_a_wrong_verdict_has_to_have_a_trace() -> None:
    text = (ROOT / ".github/ISSUE_TEMPLATE/1-judged-wrongly.yml").read_text(encoding="utf-8")
    required = {
        one["id"] for one in yaml.safe_load(text)["body"] if one.get("validations", {}).get("required", False)
    }
    assert required >= {"statement", "why", "trace", "version"}
