"""Ext fields in unusual forms, and the table of what Apache's servers answer to them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.catalogue import ROLES, Role, messages
from harness.catalogue.body_forms import BODY
from harness.catalogue.field_forms import ALL_FIELDS, forms_of
from harness.catalogue.fields import Answer, Asked, FieldTable, Unjudged, field_table, requests_with_fields
from harness.catalogue.messages import Member, Message

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


def test_what_is_not_known_has_no_answer() -> None:
    assert TABLE.answer(2, "queue", "x", "4.9") is None
    assert TABLE.answer(1, "queue", "x", "5.5") is None


def test_what_is_not_judged() -> None:
    assert not TABLE.is_judged(1, "queue", "-1", "4.9")
    assert not TABLE.is_harmless(1, "queue", "-1", "4.9")
    assert TABLE.is_judged(1, "queue", "0", "4.9")
    assert TABLE.is_harmless(1, "queue", "0", "4.9")


def named(role: Role) -> Iterator[tuple[int, str, str]]:
    """Code, ext field and form of everything that the table of a role speaks of."""
    table = field_table(role)
    for code, asked in table.requests.items():
        for field, answers in asked.fields.items():
            if field.startswith(BODY):
                continue
            yield from ((code, field, form) for one in answers for form in one.forms)
    for one in table.unjudged:
        for code in one.codes:
            fields = one.fields or tuple(table.requests[code].fields)
            named = (field for field in fields if not field.startswith(BODY))
            yield from ((code, field, form) for field in named for form in one.forms)


@pytest.mark.parametrize("role", ROLES)
def test_the_table_speaks_of_forms_that_are_sent(role: Role) -> None:
    known = {one.code: one for one in messages().of(role)}
    every = {
        (code, form.field, form.name)
        for code, message in known.items()
        for line in field_table(role).recorded
        for form in forms_of(message, line, {one.name: "x" for one in message.request}, "")
    }
    rules = field_table(role).unjudged
    for code, field, form in named(role):
        is_of_some = any(code in one.codes and field in one.fields and len(one.codes) > 1 for one in rules)
        assert (code, field, form) in every or is_of_some, (code, field, form)


@pytest.mark.parametrize("role", ROLES)
def test_every_rule_about_what_is_not_judged_covers_something(role: Role) -> None:
    known = {one.code: one for one in messages().of(role)}
    for rule in field_table(role).unjudged:
        is_of_body = bool(rule.fields) and all(field.startswith(BODY) for field in rule.fields)
        for code in rule.codes:
            fields = {ALL_FIELDS, *(one.name for one in known[code].request)}
            assert is_of_body or not rule.fields or fields & set(rule.fields), rule
        ext = {ALL_FIELDS, *(one.name for code in rule.codes for one in known[code].request)}
        assert is_of_body or set(rule.fields) <= ext, rule


@pytest.mark.parametrize("role", ROLES)
def test_every_request_with_fields_was_asked_of_apache(role: Role) -> None:
    table = field_table(role)
    for line in table.recorded:
        asked = {one.code for one in requests_with_fields(messages().of(role), line)}
        assert asked - table.requests.keys() == set(), "rmq-harness fields apache:VERSION --write"
