"""`specs/examples/`: what was recorded fits what the catalogue says, and can be recorded again."""

from __future__ import annotations

import json

import pytest
from schemas import wrong

from harness.catalogue import ROLES, Message, messages
from harness.catalogue.examples import Example, ExampleFrame, Examples, examples
from harness.catalogue.messages import NOT_JSON
from harness.cli import example_recording, main
from harness.report.docs_examples import example_text
from harness.targets import parse

RECORDED = [
    (message, examples(role).examples[message.code])
    for role in ROLES
    for message in messages().of(role)
    if message.code in examples(role).examples
]


def named(value: object) -> str | None:
    return f"{value.role}-{value.code}" if isinstance(value, Message) else None


@pytest.mark.parametrize(("message", "example"), RECORDED, ids=named)
def test_an_example_is_a_request_of_its_code_and_the_answer(message: Message, example: Example) -> None:
    asked = json.loads(example.request.header)
    assert asked["code"] == message.code
    assert {one.name for one in message.request if one.required} <= set(asked.get("extFields", ()))
    if example.response is not None:
        told = json.loads(example.response.header)
        assert (told["opaque"], told["flag"] & 1) == (asked["opaque"], 1)
        assert told["code"] in message.codes or told["code"] == 0


@pytest.mark.parametrize(("message", "example"), RECORDED, ids=named)
def test_every_ext_field_of_an_example_is_one_of_its_message(message: Message, example: Example) -> None:
    for frame, members in ((example.request, message.request), (example.response, message.response)):
        shown = json.loads(frame.header).get("extFields") or {} if frame is not None else {}
        assert shown.keys() <= {one.name for one in members}


@pytest.mark.parametrize(("message", "example"), RECORDED, ids=named)
def test_bodies_of_an_example_are_as_the_catalogue_describes_them(message: Message, example: Example) -> None:
    for body, frame in ((message.request_body, example.request), (message.response_body, example.response)):
        if body is not None and body not in NOT_JSON and frame is not None and frame.body:
            assert wrong(body, frame.body.encode()) == []


def test_every_request_of_a_nameserver_has_an_example() -> None:
    asked = {one.code for one in messages().of("nameserver") if one.owner}
    assert asked <= examples("nameserver").examples.keys()


def test_every_request_that_a_broker_sends_has_an_example() -> None:
    sent = {one.code for one in messages().of("broker") if one.sent}
    assert sent <= examples("broker").examples.keys()


def test_examples_are_recorded_from_a_server() -> None:
    found = example_recording.record(parse("builtin:5.3", "nameserver"), "nameserver", "5.3", [105])
    assert found.keys() == {105}
    assert found[105].response is not None
    assert "queueDatas" in found[105].response.body


def test_what_a_server_sends_is_recorded_from_a_case_of_its_chapter() -> None:
    found = example_recording.record(parse("builtin:5.3", "nameserver"), "nameserver", "5.3", [905])
    assert found.keys() == {905}
    assert found[905].response is None


def test_only_apaches_servers_are_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "--record", "builtin:5.3"]) == 3
    assert "expected an Apache server (apache:VERSION)" in capsys.readouterr().err


def test_an_example_is_shown_as_json_as_text_or_as_bytes() -> None:
    asked = ExampleFrame('{"code":1}', body="{0:1}")
    recorded = Examples("5.3.3", {1: Example(asked, ExampleFrame('{"code":0}', hex="00ff"))})
    shown = example_text(1, recorded)
    assert '```json\n{\n  "code": 1\n}\n```' in shown
    assert "```text\n{0:1}\n```" in shown
    assert "00 ff" in shown
    assert example_text(2, recorded) == ""


def test_a_long_body_is_cut_and_says_so() -> None:
    asked = ExampleFrame('{"code":1}', body=json.dumps(list(range(100))))
    assert "… and 42 more lines" in example_text(1, Examples("5.3.3", {1: Example(asked)}))
    assert "there is no answer" in example_text(1, Examples("5.3.3", {1: Example(asked)}))
