"""`explain` by code, by name, by chapter, by tag."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.catalogue import catalogue, messages
from harness.cli import main

ROOT = Path(__file__).resolve().parents[3]


def explained(capsys: pytest.CaptureFixture[str], name: str) -> dict[str, Any]:
    assert main(["explain", name, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


@pytest.mark.parametrize("name", ["322", "QUERY_DATA_VERSION", "query_data_version", "query-data-version"])
def test_a_request_is_found_by_code_and_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer = explained(capsys, name)
    assert answer["request"] == "322 QUERY_DATA_VERSION"
    assert answer["chapter"] == "data-version"
    first = answer["statements"][0]
    assert first.startswith("ns.data-version.equal-version-is-unchanged: ")
    assert "data-version.equal-version-is-unchanged" in answer["cases"]
    assert "brokerName (text, required)" in answer["fields"]


def test_a_request_tells_the_members_of_its_bodies(capsys: pytest.CaptureFixture[str]) -> None:
    answer = explained(capsys, "322")
    page = "DataVersion (specs/rendered/bodies.md#dataversion)"
    assert answer["body"][0] == f"{page}: The data version that the broker has now."
    assert answer["body"][1].startswith("counter (int64): ")
    assert answer["answer body"][0].startswith(page)


def test_what_is_needed_most_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    lines = explained(capsys, "103")["statements"]
    classes = {one.id: one.class_ for one in catalogue().statements if one.chapter == "registration"}
    own = [classes[line.partition(":")[0]] for line in lines if line.partition(":")[0] in classes]
    assert own == sorted(own, key=["essential", "administration", "robustness", "exactness"].index)


def test_the_page_of_every_request_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    for message in messages().messages[::20]:
        answer = explained(capsys, message.name)
        page, _, anchor = answer["page"].partition("#")
        heading = f"\n## {message.code} {message.name}"
        assert heading in (ROOT / page).read_text(encoding="utf-8")
        assert anchor == f"{message.code}-{message.name}".lower()


def test_a_response_says_who_answers_it(capsys: pytest.CaptureFixture[str]) -> None:
    answer = explained(capsys, "TOPIC_NOT_EXIST")
    assert answer["response"] == "17 TOPIC_NOT_EXIST"
    assert any(line.startswith("105 GET_ROUTEINFO_BY_TOPIC") for line in answer["answers"])
    assert any(line.startswith("ns.routes.") for line in answer["statements"])


def test_a_number_that_is_both_is_explained_as_both(capsys: pytest.CaptureFixture[str]) -> None:
    request, response = explained(capsys, "17")["found"]
    assert request["request"] == "17 UPDATE_AND_CREATE_TOPIC"
    assert response["response"] == "17 TOPIC_NOT_EXIST"


def test_a_chapter_has_its_requests_statements_and_cases(capsys: pytest.CaptureFixture[str]) -> None:
    answer = explained(capsys, "lease")
    assert answer["requests"] == ["904 BROKER_HEARTBEAT"]
    assert len(answer["statements"]) == sum(one.chapter == "lease" for one in catalogue().statements)
    assert "lease.expired-broker-is-removed" in [line.partition(":")[0] for line in answer["cases"]]


def test_a_name_of_a_chapter_and_a_tag_is_explained_as_both(capsys: pytest.CaptureFixture[str]) -> None:
    chapter, tag = explained(capsys, "acting-master")["found"]
    assert chapter["chapter"] == tag["tag"] == "acting-master"


def test_people_get_the_beginning_of_long_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "lease"]) == 0
    assert "more; --json has all" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("QUERY_DATA_VERSON", "did you mean QUERY_DATA_VERSION"),
        ("query-data-verson", "did you mean query-data-version"),
        ("leese", "did you mean lease"),
        ("99999", "is not in the catalogue"),
    ],
)
def test_a_name_that_is_nothing_gets_a_hint(name: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", name]) == 3
    assert hint in capsys.readouterr().err


def test_a_setting_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    answer = explained(capsys, "supportActingMaster")
    assert (answer["default"], answer["profiles"]) == ("false", ["5.3", "5.5"])
    assert answer["in force"] == "at once"
    assert any(one.startswith("ns.acting-master.") for one in answer["statements"])


def test_a_system_property_is_a_setting_too(capsys: pytest.CaptureFixture[str]) -> None:
    answer = explained(capsys, "tls.server.mode")
    assert answer["default"] == "permissive"
    assert answer["in force"].startswith("from the start")
    assert any(one.startswith("wire.connection.enforcing-closes-plain") for one in answer["statements"])
