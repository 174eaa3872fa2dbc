"""Which kinds of values no case sends: what counts as sent, and what is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from harness.catalogue import Member, Message
from harness.cli import main
from harness.cli.measures import values
from harness.cli.measures.members import values_in
from harness.cli.measures.values import BEYOND_ASCII, BOTH, LARGE, TWO_NUMBERS, WIDE, Requests, never_sent
from harness.wire import Command

ASKED = Message(
    code=7,
    name="ASK",
    text="",
    source="",
    role="nameserver",
    request=(
        Member("topic", "text", ""),
        Member("addr", "text, ip:port", ""),
        Member("id", "int64", ""),
        Member("flag", "boolean", ""),
    ),
    request_body="Body",
)


def sent(*commands: Command) -> Requests:
    """What cases have sent; each command by three of them."""
    found = Requests()
    for number, command in enumerate(commands * 3):
        found.add(f"case {number}", command)
    return found


def lacking(*commands: Command) -> list[str]:
    return [name.removeprefix("7 ASK: ") for name in never_sent([ASKED], [{7: sent(*commands)}])]


def command(body: object = None, **ext: str | None) -> Command:
    return Command(7, ext=ext, body=b"" if body is None else json.dumps(body).encode())


def test_what_has_never_been_sent_is_asked_for_in_full() -> None:
    assert lacking() == [
        f"ext.topic: {BEYOND_ASCII}",
        f"ext.id: {TWO_NUMBERS}",
        f"ext.id: {WIDE}",
        f"ext.flag: {BOTH}",
        f"body: {LARGE}",
    ]


def test_what_has_been_sent_is_not_asked_for() -> None:
    whole = {"name": "é", "counts": [2, 3], "set": [True, False], "x": "é" * 2**16}
    assert lacking(command(whole, topic="é", id="3", flag="true"), command(id=str(2**31), flag="false")) == []


def test_numbers_beyond_64_bits_are_wide_and_prove_no_more() -> None:
    numbers = [command(id=str(one)) for one in (2**64, -(2**63) - 1, 10**30)]
    assert f"ext.id: {TWO_NUMBERS}" in lacking(*numbers)
    assert f"ext.id: {WIDE}" not in lacking(*numbers)
    assert lacking(command(id=str(2**64 - 1)), command(id=str(-(2**63)))).count(f"ext.id: {TWO_NUMBERS}") == 0
    msgspec.msgpack.encode(msgspec.to_builtins(sent(*numbers)))


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ({"name": "a"}, f"body.name: {BEYOND_ASCII}"),
        ({"count": 1}, f"body.count: {TWO_NUMBERS}"),
        ({"count": [2, 2, -1, 0]}, f"body.count[]: {TWO_NUMBERS}"),
        ({"is": True}, f"body.is: {BOTH}"),
        ({"map": {"1:2": {"count": 7}}}, f"body.map{{}}.count: {TWO_NUMBERS}"),
    ],
)
def test_members_of_bodies_are_judged_by_their_kind(body: object, asked: str) -> None:
    assert asked in lacking(command(body))


def test_a_member_that_one_case_sends_is_made_up() -> None:
    found = Requests()
    found.add("case", command({"invented": 0}))
    assert not any("invented" in name for name in never_sent([ASKED], [{7: found}]))


def test_a_member_is_of_the_kind_that_most_of_its_values_are() -> None:
    found = lacking(command({"count": 2}), command({"count": 3}), command({"count": "x"}))
    assert not any("count" in name for name in found)


def test_values_have_places() -> None:
    found = Command(0, ext={"a": "1", "none": None}, body=b'{"t":{{"q":"x"}:{"at":[true,2]}},"n":null}')
    assert list(values_in(found)) == [
        ("ext.a", "1"),
        ("body.t{key}.q", "x"),
        ("body.t{}.at[]", True),
        ("body.t{}.at[]", 2),
    ]


def test_the_command_names_what_is_missing_and_what_is_explained_in_vain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(values, "requests_of", lambda _: [ASKED])
    monkeypatch.setattr(values, "_measured", lambda *_: [{7: sent(command(id="3"))}])
    explained = tmp_path / "explained.yaml"
    explained.write_text(f'- fixed: why\n  of: ["7 ASK: ext.flag: {BOTH}", "7 ASK: ext.id: gone"]\n')
    assert main(["selftest", "--values", "--explained", str(explained), "--out", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert f"✘ 7 ASK: ext.topic: {BEYOND_ASCII}" in said
    assert "7 ASK: ext.flag" not in said
    assert "take it out of the file\n  7 ASK: ext.id: gone" in said
    assert json.loads((tmp_path / "values-nameserver.json").read_text())["explained"] == 1
