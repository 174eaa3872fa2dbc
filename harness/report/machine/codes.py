"""Requests and responses by their codes: one JSON document, and the same as three tables in CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from harness.catalogue import Member, Message, Messages, Profile
from harness.catalogue.messages import Numbered
from harness.catalogue.types import Text, type_of
from harness.catalogue.usage import Usage
from harness.report.machine.lines import lines_of, since_and_until

JSON: Final = "codes.json"
REQUESTS: Final = "requests.csv"
FIELDS: Final = "fields.csv"
RESPONSES: Final = "responses.csv"

_REQUEST: Final = (
    "code",
    "name",
    "server",
    "direction",
    "sent_by",
    "one_way",
    "since",
    "until",
    "request_body",
    "response_body",
)
_FIELD: Final = ("code", "request", "of", "name", "type", "form", "required", "default", "since", "until")
_RESPONSE: Final = ("code", "name", "server", "since", "until", "text")

Tables: TypeAlias = dict[str, Any]
"""What `JSON` holds."""


def tables(messages: Messages, profiles: Sequence[Profile], usage: Usage) -> Tables:
    """Everything about codes, of the types of JSON. Members that have nothing to say are left out."""
    header = messages.header
    return {
        "lines": lines_of(profiles, None),
        "flags": [_numbered("bit", one, profiles) for one in header.flags],
        "serializations": [_numbered("number", one, profiles) for one in header.serializations],
        "languages": list(header.languages),
        "requests": [
            _request(one, profiles, usage) for one in sorted(messages.messages, key=lambda one: one.code)
        ],
        "responses": [
            _numbered("code", one, profiles)
            for one in sorted(messages.responses.codes, key=lambda one: one.number)
        ],
    }


def render(found: Tables) -> dict[str, str]:
    """File name -> text."""
    requests = found["requests"]
    fields = [
        {**field, "code": one["code"], "request": one["name"], "of": of}
        for one in requests
        for of in ("request", "response")
        for field in one.get(f"{of}_fields", ())
    ]
    return {
        JSON: json.dumps(found, indent=1, ensure_ascii=False) + "\n",
        REQUESTS: _table(_REQUEST, requests),
        FIELDS: _table(_FIELD, fields),
        RESPONSES: _table(_RESPONSE, found["responses"]),
    }


def _request(one: Message, profiles: Sequence[Profile], usage: Usage) -> dict[str, Any]:
    lines = lines_of(profiles, one.role)
    sent_by, one_way = usage.of(one.role, one.code), usage.one_way_of(one.role, one.code)
    if one.sent:
        one_way = (one.role,) if one.one_way else ()
        sent_by = {one.role: tuple(line for line in lines if not one.profiles or line in one.profiles)}
    made: dict[str, Any] = {
        "code": one.code,
        "name": one.name,
        "server": one.role,
        "direction": "from server" if one.sent else "to server",
        "text": one.text,
        "sent_by": {peer: list(those) for peer, those in sent_by.items()},
    }
    if one_way:
        made["one_way"] = list(one_way)
    made |= since_and_until(one.profiles, lines)
    for of, members, body, text in (
        ("request", one.request, one.request_body, one.request_body_text),
        ("response", one.response, one.response_body, one.response_body_text),
    ):
        said = {
            f"{of}_fields": [_field(member, lines) for member in members],
            f"{of}_body": body,
            f"{of}_body_text": text,
        }
        made |= {key: value for key, value in said.items() if value}
    if one.codes:
        made["answers"] = {str(code): text for code, text in one.codes.items()}
    return made


def _field(one: Member, lines: Sequence[str]) -> dict[str, Any]:
    kind = type_of(one.type, ())
    made: dict[str, Any] = {"name": one.name, "type": "text" if isinstance(kind, Text) else one.type}
    if isinstance(kind, Text) and kind.form:
        made["form"] = kind.form
    made["required"] = one.required
    if one.default is not None:
        made["default"] = one.default
    made |= since_and_until(one.profiles, lines)
    if one.text:
        made["text"] = one.text
    return made


def _numbered(key: str, one: Numbered, profiles: Sequence[Profile]) -> dict[str, Any]:
    made: dict[str, Any] = {key: one.number, "name": one.name, "text": one.text}
    if one.role is not None:
        made["server"] = one.role
    return made | since_and_until(one.profiles, lines_of(profiles, one.role))


def _table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Comma-separated values (RFC 4180, but for lines that end in LF), the names of the columns first."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row.get(column)) for column in columns] for row in rows)
    return file.getvalue()


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list():
            return "; ".join(value)
        case dict():  # peers, with the lines of each
            return "; ".join(f"{peer} ({' '.join(lines)})" for peer, lines in value.items())
    return str(value)
