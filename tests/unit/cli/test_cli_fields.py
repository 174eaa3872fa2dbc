"""`rmq-harness fields`: what it says of a server, and how what Apache answers is written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.catalogue.fields import Answer, Asked, FieldTable, field_table
from harness.cli import main
from harness.cli.field_recording import updated
from harness.conformance.asking_fields import OrdinaryRequest
from harness.session.exchange import Exchange

TABLE = FieldTable(
    recorded={"4.9": "4.9.8"},
    unjudged=(),
    requests={1: Asked("code 0", {"queue": (Answer("code 1", ("x", "empty")),)}), 2: Asked("code 5")},
)


def test_what_another_line_answers_is_kept_beside_what_was_known() -> None:
    seen = {1: {"": {"": "code 0"}, "queue": {"x": "code 1", "empty": "code 0", "0": "silent"}}}
    table = updated(TABLE, "5.3", "5.3.3", seen)
    assert table.recorded == {"4.9": "4.9.8", "5.3": "5.3.3"}
    assert [table.answer(1, "queue", "x", line) for line in ("4.9", "5.3")] == ["code 1", "code 1"]
    assert [table.answer(1, "queue", "empty", line) for line in ("4.9", "5.3")] == ["code 1", "code 0"]
    assert [table.answer(1, "queue", "0", line) for line in ("4.9", "5.3")] == ["code 0", "silent"]
    assert table.requests[1].fields["queue"][0] == Answer("code 1", ("x",))
    assert table.requests[2] == TABLE.requests[2]
    assert updated(table, "5.3", "5.3.3", seen) == table


def test_an_ordinary_request_has_one_answer() -> None:
    with pytest.raises(
        ValueError, match="1: the ordinary request is answered code 3, other lines say code 0"
    ):
        updated(TABLE, "5.3", "5.3.3", {1: {"": {"": "code 3"}}})


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


def test_a_request_that_cannot_be_asked_is_not_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = "builtin:5.3?mutant=put-reaches-every-namespace"
    assert main(["fields", target, "--out", str(tmp_path)]) == 2
    assert "1 REQUEST NOT ASKED, exit 2" in capsys.readouterr().out


def test_what_was_seen_before_the_interrupt_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    again, asked = OrdinaryRequest.again, []

    def interrupted(self: OrdinaryRequest) -> Exchange:
        asked.append(self)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return again(self)

    monkeypatch.setattr(OrdinaryRequest, "again", interrupted)
    assert main(["fields", "builtin:5.3", "--out", str(tmp_path), "--json"]) == 130
    answer = json.loads(capsys.readouterr().out)
    assert (answer["conclusion"], answer["requests"]) == ("INTERRUPTED", 2)
    assert len(json.loads((tmp_path / "fields.json").read_bytes())["seen"]) == 2
