"""Codes for machines: the tables say what the catalogue says, and what people read is what machines read."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from harness.catalogue import catalogue, messages, usage
from harness.report.machine import codes
from harness.report.machine.lines import since_and_until
from harness.wire.codes import RequestCode, ResponseCode
from harness.wire.requests import REQUESTS

TABLES = codes.tables(messages(), catalogue().profiles, usage())
FILES = codes.render(TABLES)
BY_CODE: dict[int, dict[str, Any]] = {one["code"]: one for one in TABLES["requests"]}


def rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(FILES[name])))


def test_every_code_is_there_with_its_name() -> None:
    assert {one["code"]: one["name"] for one in TABLES["requests"]} == {
        one.value: one.name for one in RequestCode
    }
    assert {one["code"]: one["name"] for one in TABLES["responses"]} == {
        one.value: one.name for one in ResponseCode
    }
    for code, form in REQUESTS.items():
        told = BY_CODE[code]
        assert told["server"] == form.role
        assert (told["direction"] == "from server") == form.sent
        assert tuple(field["name"] for field in told.get("request_fields", ())) == form.fields
        assert told.get("request_body") == form.request_body
        assert told.get("response_body") == form.response_body


def test_the_tables_hold_what_the_document_holds() -> None:
    assert json.loads(FILES[codes.JSON]) == TABLES
    requests = rows(codes.REQUESTS)
    assert [(int(row["code"]), row["name"]) for row in requests] == [
        (one["code"], one["name"]) for one in TABLES["requests"]
    ]
    fields = [
        (one["code"], of, field["name"], field["type"], field["required"])
        for one in TABLES["requests"]
        for of in ("request", "response")
        for field in one.get(f"{of}_fields", ())
    ]
    assert [
        (int(row["code"]), row["of"], row["name"], row["type"], row["required"] == "true")
        for row in rows(codes.FIELDS)
    ] == fields
    assert [(int(row["code"]), row["name"]) for row in rows(codes.RESPONSES)] == [
        (one["code"], one["name"]) for one in TABLES["responses"]
    ]


def test_fields_have_a_type_of_few_and_the_form_beside_it() -> None:
    assert {row["type"] for row in rows(codes.FIELDS)} == {"text", "int32", "int64", "boolean"}
    address = next(one for one in BY_CODE[103]["request_fields"] if one["name"] == "brokerAddr")
    assert address["type"] == "text"
    assert address["form"] == "ip:port"
    assert address["required"]


def test_who_sends_a_request() -> None:
    assert BY_CODE[103]["sent_by"] == {"broker": ["4.9", "5.3"]}
    assert BY_CODE[901]["sent_by"] == {"broker": ["5.3"]}
    pushed = BY_CODE[40]
    assert pushed["direction"] == "from server"
    assert pushed["sent_by"] == {"broker": ["4.9", "5.3", "5.5"]}
    assert pushed["one_way"] == ["broker"]
    one_way = {int(row["code"]): row for row in rows(codes.REQUESTS) if row["one_way"]}
    from_server = {code for code, row in one_way.items() if row["direction"] == "from server"}
    assert from_server == {39, 40, 220, 905, 200073}
    assert one_way[37]["one_way"] == "client-java"
    assert all(set(one.get("one_way", ())) <= set(one["sent_by"]) for one in TABLES["requests"])


@pytest.mark.parametrize(
    ("present", "bounds"),
    [
        ([], {}),
        (["a", "b", "c"], {}),
        (["b", "c"], {"since": "b"}),
        (["a", "b"], {"until": "b"}),
        (["b"], {"since": "b", "until": "b"}),
        (["z"], {}),
    ],
)
def test_bounds_are_shown_where_there_are_any(present: list[str], bounds: dict[str, str]) -> None:
    assert since_and_until(present, ["a", "b", "c"]) == bounds


def test_what_began_or_ended_with_a_line_says_so() -> None:
    assert BY_CODE[217]["since"] == "5.3"
    assert BY_CODE[400]["since"] == "5.3"
    response = {one["code"]: one for one in TABLES["responses"]}
    assert (response[210]["server"], response[209]["server"]) == ("broker", "broker")
    assert "since" not in response[209]  # an account in 4.9, a full Broker in 5.x
    assert {one["code"] for one in TABLES["requests"] if "until" in one} == {50, 51, 52, 53}
    assert {one["code"] for one in TABLES["responses"] if "until" in one} == {211}
