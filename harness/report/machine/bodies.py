"""Bodies of JSON as JSON Schemas (2020-12), a file for each.

A schema says what is written: which members there are, of which types, and which may be absent. What a server
makes of members that are missing or of another type is in the statements. Members that are not described are
allowed, because later releases add some.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
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
_INTEGERS: Final = "^-?[0-9]+$"


def file_of(body: str) -> str:
    """The name of the file of a body, which is its `$id` too: schemas refer to each other by it."""
    return f"{body}.schema.json"


def render(messages: Messages, profiles: Sequence[Profile]) -> dict[str, str]:
    """File name -> text."""
    names = [body.name for body in messages.bodies]
    lines = lines_of(profiles, None)
    schemas = {file_of(body.name): _schema(body, names, lines) for body in messages.bodies}
    return {
        f"{FOLDER}/{file}": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for file, schema in schemas.items()
    }


def _schema(body: Body, names: Collection[str], lines: Sequence[str]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "$schema": _DIALECT,
        "$id": file_of(body.name),
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
            return {"type": "integer", "minimum": kind.least, "maximum": kind.most}
        case Number():
            return {"type": "number"}
        case Boolean():
            return {"type": "boolean"}
        case Words(words=words):
            return {"enum": list(words)}
        case Named(body=body):
            return {"$ref": file_of(body)}
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
            return {"propertyNames": {"pattern": _INTEGERS, "x-form": f"int{bits}"}}
        case Named(body=body):
            inside = {"contentMediaType": "application/json", "contentSchema": {"$ref": file_of(body)}}
            return {"propertyNames": inside}
        case Text(form=form) if form:
            return {"propertyNames": {"x-form": form}}
    return {}
