"""Bodies of JSON as JSON Schemas (2020-12), a file for each. It holds the schemas of the bodies inside of it
too, so that any tool reads it alone.

A schema says what is written: which members there are, of which types, and which may be absent. What a server
makes of members that are missing or of another type is in the statements. Members that are not described are
allowed, because later releases add some.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from harness.catalogue import Member, Messages, Profile
from harness.catalogue.messages import Body
from harness.catalogue.types import (
    Anything,
    Boolean,
    Integer,
    ListOf,
    MapOf,
    Named,
    Number,
    Text,
    Type,
    Words,
    type_of,
)
from harness.report.machine.lines import lines_of, since_and_until

FOLDER: Final = "bodies"
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_DIGITS: Final = "^-?[0-9]+$"


def file_of(body: str) -> str:
    """The name of the file of a body."""
    return f"{FOLDER}/{body}.schema.json"


def render(messages: Messages, profiles: Sequence[Profile]) -> dict[str, str]:
    """File name -> text."""
    names = [body.name for body in messages.bodies]
    lines = lines_of(profiles, None)
    described = {body.name: _described(body, names, lines) for body in messages.bodies}
    inside = {
        body.name: {name for one in body.members for name in _named(type_of(one.type, names))}
        for body in messages.bodies
    }
    files = {}
    for name, schema in described.items():
        whole: dict[str, Any] = {"$schema": _DIALECT, "$id": f"urn:rocketmq:body:{name}", **schema}
        if needed := _reached(name, inside):
            whole["$defs"] = {one: described[one] for one in names if one in needed}
        files[file_of(name)] = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    return files


def _described(body: Body, names: Collection[str], lines: Sequence[str]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "title": body.name,
        "description": body.text,
        "$comment": f"Apache: {body.source}",
        "type": "object",
        "properties": {one.name: _member(one, names, lines) for one in body.members},
    }
    required = [
        one.name
        for one in body.members
        if not one.optional and one.default is None and not since_and_until(one.profiles, lines)
    ]
    if required:
        made["required"] = required
    return made | _annotated(since_and_until(body.profiles, lines))


def _named(kind: Type) -> Iterator[str]:
    """The bodies in a type."""
    match kind:
        case Named(body=body):
            yield body
        case ListOf(item=item):
            yield from _named(item)
        case MapOf(name=name, value=value):
            yield from _named(name)
            yield from _named(value)


def _reached(name: str, inside: Mapping[str, Collection[str]]) -> set[str]:
    """The bodies inside of a body, at any depth."""
    found: set[str] = set()
    ahead = [*inside[name]]
    while ahead:
        if (one := ahead.pop()) not in found:
            found.add(one)
            ahead += inside[one]
    return found


def _reference(body: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{body}"}


def _member(one: Member, names: Collection[str], lines: Sequence[str]) -> dict[str, Any]:
    made = _typed(type_of(one.type, names))
    if one.text:
        made["description"] = one.text
    if one.default is not None:
        made["x-default"] = one.default
    return made | _annotated(since_and_until(one.profiles, lines))


def _annotated(bounds: dict[str, str]) -> dict[str, str]:
    return {f"x-{name}": line for name, line in bounds.items()}


def _typed(kind: Type) -> dict[str, Any]:
    match kind:
        case Text(form=form):
            return {"type": "string", "x-form": form} if form else {"type": "string"}
        case Integer():
            number = {"type": "integer", "minimum": kind.least, "maximum": kind.most}
            return {"anyOf": [number, {"type": "string", "pattern": _DIGITS}]} if kind.or_text else number
        case Number():
            return {"type": "number"}
        case Boolean():
            return {"type": "boolean"}
        case Words(words=words):
            place = {"type": "integer", "minimum": 0, "maximum": len(words) - 1}
            return {"anyOf": [{"enum": list(words)}, place]}
        case Named(body=body):
            return _reference(body)
        case ListOf(item=item):
            return {"type": "array", "items": _typed(item)}
        case MapOf(name=name, value=value):
            return {"type": "object", **_names(name), "additionalProperties": _typed(value)}
        case Anything():
            return {"type": "object"}


def _names(kind: Type) -> dict[str, Any]:
    """What the names of a map must look like, which are texts in JSON whatever they stand for."""
    match kind:
        case Integer(bits=bits):
            return {"propertyNames": {"pattern": _DIGITS, "x-form": f"int{bits}"}}
        case Named(body=body):
            return {
                "propertyNames": {
                    "contentMediaType": "application/json",
                    "contentSchema": _reference(body),
                }
            }
        case Text(form=form) if form:
            return {"propertyNames": {"x-form": form}}
    return {}
