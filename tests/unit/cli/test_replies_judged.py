"""Lies about members of frames: which there are, what they change, and what is said of unnoticed ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from harness.cli import main
from harness.cli.measures import replies
from harness.cli.measures.members import CHANGED, MISSING, SHORT, lied, lies_about
from harness.cli.measures.trying import Outcome
from harness.wire import Command
from harness.wire.messages import Message, decode_messages, encode_message

BODY = b'{"table":{"1:2":{"a":1,"b":[true,"x"]},"3:4":{"a":2}},"empty":{},"none":null}'


def test_every_member_of_an_answer_can_be_lied_about() -> None:
    command = Command(0, ext={"masterAddr": "1.2.3.4:5", "count": "7"}, body=BODY)
    assert dict.fromkeys(lies_about(command)) == dict.fromkeys(
        [
            ("ext.masterAddr", MISSING),
            ("ext.masterAddr", CHANGED),
            ("ext.count", MISSING),
            ("ext.count", CHANGED),
            ("body.table", MISSING),
            ("body.table", SHORT),
            ("body.table{}.a", MISSING),
            ("body.table{}.a", CHANGED),
            ("body.table{}.b", MISSING),
            ("body.table{}.b", SHORT),
            ("body.table{}.b[]", CHANGED),
            ("body.empty", MISSING),
            ("body.none", MISSING),
        ]
    )


@pytest.mark.parametrize(
    ("place", "what", "expected"),
    [
        ("body.table{}.a", CHANGED, b'"1:2":{"a":2,"b":[true,"x"]},"3:4":{"a":3}}'),
        ("body.table{}.a", MISSING, b'"1:2":{"b":[true,"x"]},"3:4":{}}'),
        ("body.table{}.b[]", CHANGED, b'"1:2":{"a":1,"b":[false,"xx"]},"3:4":{"a":2}}'),
        ("body.table{}.b", SHORT, b'"1:2":{"a":1,"b":[true]},"3:4":{"a":2}}'),
        ("body.table", SHORT, b'"1:2":{"a":1,"b":[true,"x"]}}'),
    ],
)
def test_a_lie_changes_its_place_and_nothing_else(place: str, what: str, expected: bytes) -> None:
    found = lied(Command(0, body=BODY), (place, what), "5.3")
    assert found.body == b'{"table":{' + expected + b',"empty":{},"none":null}'


def test_numbers_without_quotes_as_names_are_kept() -> None:
    found = lied(Command(0, body=b'{"addrs":{0:"a",1:"b"}}'), ("body.addrs{}", CHANGED), "4.9")
    assert found.body == b'{"addrs":{0:"ax",1:"bx"}}'


def test_objects_as_names_are_lied_about() -> None:
    command = Command(0, body=b'{"tps":0.5,"table":{{"topic":"T"}:{"at":7}}}')
    lies = dict.fromkeys(lies_about(command))
    for place, expected in (
        ("body.table{key}.topic", b'{"tps":0.5,"table":{{"topic":"Tx"}:{"at":7}}}'),
        ("body.table{}.at", b'{"tps":0.5,"table":{{"topic":"T"}:{"at":8}}}'),
        ("body.tps", b'{"tps":1.5,"table":{{"topic":"T"}:{"at":7}}}'),
    ):
        assert (place, CHANGED) in lies
        assert lied(command, (place, CHANGED), "5.3").body == expected


def test_fields_that_an_answer_lacks_are_no_lie() -> None:
    command = Command(0, ext={"a": "1"}, body=b"text")
    for lie in (("ext.b", CHANGED), ("ext.b", MISSING), ("body.x", MISSING), ("messages.flag", CHANGED)):
        assert lied(command, lie, "5.3") is command
    assert lied(command, ("ext.a", CHANGED), "5.3").ext == {"a": "2"}
    assert lied(command, ("ext.a", MISSING), "5.3").ext == {}


def test_messages_are_lied_about_field_by_field() -> None:
    sent = [
        Message(topic="t", body=b"one", properties={"KEYS": "k", "n": "8"}),
        Message(topic="t", body=b"two"),
    ]
    command = Command(0, body=b"".join(encode_message(one, "5.3") for one in sent))
    lies = dict.fromkeys(lies_about(command))
    assert ("messages.properties.KEYS", MISSING) in lies
    assert ("messages.born_host", CHANGED) in lies
    for lie in lies:
        found = decode_messages(lied(command, lie, "5.3").body)
        assert [one for one in found if one not in decode_messages(command.body)] or len(found) == 1, lie
    changed = decode_messages(lied(command, ("messages.queue_id", CHANGED), "5.3").body)
    assert [one.queue_id for one in changed] == [1, 1]
    assert len(decode_messages(lied(command, ("messages", SHORT), "5.3").body)) == 1


def test_a_lie_that_nothing_notices_fails_until_it_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [
        replies.Told((105, True), ("body.queueDatas[].perm", CHANGED), 3, Outcome("failure", "routes.x")),
        replies.Told((105, True), ("body.queueDatas[].perm", MISSING), 3, Outcome("unseen")),
        replies.Told(
            (40, False), ("ext.consumerGroup", MISSING), 1, Outcome("blocked", "client.x", "5.3", "no")
        ),
    ]

    def all_told(options: object, known: dict[str, str], people: object) -> list[replies.Told]:
        return [msgspec.structs.replace(one, explained=known.get(one.name, "")) for one in told]

    monkeypatch.setattr(replies, "_told", all_told)
    arguments = ["selftest", "--replies", "--json", "--out", str(tmp_path)]
    assert main(arguments) == 1
    shown = capsys.readouterr()
    answer = json.loads(shown.out)
    assert (answer["lies"], answer["noticed"], answer["missed"]) == (3, 1, 2)
    assert "✘ answer to 105 GET_ROUTEINFO_BY_TOPIC: no case notices" in shown.err
    assert "✘ sent 40 NOTIFY_CONSUMER_IDS_CHANGED: no case notices" in shown.err
    assert "client.x is blocked: no" in shown.err
    path = tmp_path / "unjudged.yaml"
    whole = f"- free: either\n  of: {json.dumps([one.name for one in told[1:]])}\n"
    path.write_text(whole)
    assert main([*arguments, "--explained", str(path)]) == 0
    assert "EVERY LIE NOTICED OR EXPLAINED, exit 0" in capsys.readouterr().err
    path.write_text(whole + f'- free: either\n  of: ["{told[0].name}"]\n')
    assert main([*arguments, "--explained", str(path)]) == 1
    assert "EXPLANATIONS IN VAIN" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="lies are told in forked processes")
def test_lies_are_sent_and_received(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def some_cases(role: str, profile: str | None) -> list[replies.Work]:
        return [replies.Work("nameserver", "5.3", ("kv.get-returns-what-was-put", "kv.list-has-every-pair"))]

    monkeypatch.setattr(replies, "all_cases", some_cases)
    assert main(["selftest", "--replies", "-n", "1", "--json", "--out", str(tmp_path)]) in (0, 1)
    answer = json.loads(capsys.readouterr().out)
    by_name = {one["name"]: one for one in answer["all"]}
    assert by_name["answer to 101 GET_KV_CONFIG: ext.value changed"]["how"] == "failure"
    assert answer["noticed"] >= 2
