"""`rmq-harness fields`: forms of ext fields, the table of what Apache answers, and what differs from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.catalogue.fields import Answer, Asked, FieldTable, Unjudged, field_table, forms_of, updated
from harness.catalogue.messages import Member, Message
from harness.cli import main

MESSAGE = Message(
    code=1,
    name="ASK",
    text="",
    source="",
    request=(
        Member(name="topic", type="text", text=""),
        Member(name="queue", type="int32", text=""),
        Member(name="force", type="boolean", text="", profiles=("5.3",)),
    ),
)


def forms(line: str, ordinary: dict[str, str | None]) -> dict[tuple[str, str], dict[str, str | None]]:
    return {(one.field, one.name): one.ext for one in forms_of(MESSAGE, line, ordinary, "-n1")}


def test_one_field_is_unusual_and_the_others_are_not() -> None:
    found = forms("5.3", {"topic": "T", "queue": "3"})
    assert found["topic", "absent"] == {"queue": "3"}
    assert found["topic", "in other letters"] == {"queue": "3", "TOPIC": "T"}
    assert found["queue", "padded"] == {"topic": "T", "queue": " 3 "}
    assert found["queue", "2147483648"] == {"topic": "T", "queue": "2147483648"}
    assert found["force", "yes"] == {"topic": "T", "queue": "3", "force": "yes"}


def test_texts_are_names_that_nothing_has() -> None:
    found = forms("5.3", {"topic": "T"})
    assert found["topic", "beyond ASCII"]["topic"] == "ü€😀-n1"
    assert found["topic", "of 300 characters"]["topic"] == "x" * 297 + "-n1"


def test_a_field_of_another_line_is_not_sent() -> None:
    assert {field for field, _ in forms("4.9", {})} == {"topic", "queue"}


def test_a_field_that_is_not_in_the_ordinary_request_is_never_absent_from_it() -> None:
    assert ("queue", "absent") not in forms("5.3", {"topic": "T"})


TABLE = FieldTable(
    recorded={"4.9": "4.9.8"},
    unjudged=(Unjudged(codes=(1,), why="chance", fields=("queue",), forms=("-1",), harmful=True),),
    requests={1: Asked("code 0", {"queue": (Answer("code 1", ("x", "empty")),)})},
)


def test_what_another_line_answers_is_kept_beside_what_was_known() -> None:
    seen = {1: {"": {"": "code 0"}, "queue": {"x": "code 1", "empty": "code 0", "0": "silent"}}}
    table = updated(TABLE, "5.3", "5.3.3", seen)
    assert table.recorded == {"4.9": "4.9.8", "5.3": "5.3.3"}
    assert [table.answer(1, "queue", "x", line) for line in ("4.9", "5.3")] == ["code 1", "code 1"]
    assert [table.answer(1, "queue", "empty", line) for line in ("4.9", "5.3")] == ["code 1", "code 0"]
    assert [table.answer(1, "queue", "0", line) for line in ("4.9", "5.3")] == ["code 0", "silent"]
    assert table.requests[1].fields["queue"][0] == Answer("code 1", ("x",))
    assert updated(table, "5.3", "5.3.3", seen) == table


def test_an_ordinary_request_has_one_answer() -> None:
    with pytest.raises(
        ValueError, match="1: the ordinary request is answered code 3, other lines say code 0"
    ):
        updated(TABLE, "5.3", "5.3.3", {1: {"": {"": "code 3"}}})


def test_what_is_not_known_has_no_answer() -> None:
    assert TABLE.answer(2, "queue", "x", "4.9") is None
    assert TABLE.answer(1, "queue", "x", "5.5") is None


def test_what_is_not_judged() -> None:
    assert not TABLE.is_judged(1, "queue", "-1", "4.9")
    assert not TABLE.is_harmless(1, "queue", "-1", "4.9")
    assert TABLE.is_judged(1, "queue", "0", "4.9")
    assert TABLE.is_harmless(1, "queue", "0", "4.9")


@pytest.mark.parametrize("role", ["nameserver", "broker"])
def test_the_reference_answers_as_apache_does(
    role: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fields", "builtin:5.3", "--role", role, "--out", str(tmp_path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["conclusion"] == "EVERY FORM ANSWERED AS APACHE DOES"
    assert answer["not_asked"] == {}
    assert answer["requests"] == len(json.loads((tmp_path / "fields.json").read_bytes())["seen"])
    assert answer["forms"] > 300


def test_a_server_that_reads_names_in_any_case_is_found_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = "builtin:5.3?mutant=names-of-fields-are-read-in-any-case"
    assert main(["fields", target, "--out", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "✘ 100 PUT_KV_CONFIG\n  expected code 1, got code 0   namespace: in other letters\n" in said
    assert "FORMS ANSWERED OTHERWISE, exit 1" in said


def test_a_server_that_answers_nothing_is_no_conformant_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = "builtin:5.3?mutant=serves-probes-and-refuses-others"
    assert main(["fields", target, "--out", str(tmp_path)]) == 4
    said = capsys.readouterr().out
    assert "\n– not asked: 100 PUT_KV_CONFIG, " in said
    assert "\n  the ordinary request is not answered as it must be: reply SYSTEM_ERROR (1)" in said
    assert "NOTHING WAS ASKED, exit 4" in said


def test_only_apache_decides_what_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = field_table("nameserver")
    assert main(["fields", "builtin:5.3", "--write", "--out", str(tmp_path)]) == 3
    assert "expected an Apache server (apache:VERSION)" in capsys.readouterr().err
    assert field_table("nameserver") == before


def test_a_server_that_does_not_start_is_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fields", "exec:false {port}", "--out", str(tmp_path)]) == 4
    said = capsys.readouterr()
    assert (said.out + said.err).count("it ended with status 1 before it listened") == 1
