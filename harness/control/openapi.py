"""The description of the operations: OpenAPI 3.1, of the same table that the routes are made of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from .operations import OPERATIONS, TAGS, Operation
from .problems import MEDIA_TYPE, STATUSES, Problem

PATH: Final = "/openapi.json"
"""Where a control port has the description."""
FOLDER: Final = "control"
"""Where the file is in `specs/rendered`."""
_REFERENCE: Final = "#/components/schemas/{name}"
_OF_NO_OPERATION: Final = {"unknown", "method"}
_OF_BODIES: Final = {"slow", "too-large", "media-type"}
_ABOUT: Final = """\
A RocketMQ for tests, over HTTP: what `rmq-harness serve cluster --control PORT` offers. Each operation is the
method of that name of Python's `harness.testing.RocketMQ`; its description is that of the method. Where it
speaks of an exception, a problem is answered: AssertionError and FaultNotMetError are 409 `not-met`,
OptionError and ValueError are 422 `argument`, RocketMQError is 409 `not-possible`.

Operations that only look are GET, with their parameters in the query. All others are POST, with a JSON object
as body. A length of time is a number of seconds, or a text such as "90s", "1h30m", "500ms".
"""


def description() -> dict[str, Any]:
    """The description, as a value that JSON can say."""
    bodies = [
        one.parameters for one in OPERATIONS if one.method == "POST" and one.parameters.__struct_fields__
    ]
    results = [one.result for one in OPERATIONS if one.result not in (None, bytes)]
    shown, components = msgspec.json.schema_components([*bodies, *results, Problem], ref_template=_REFERENCE)
    schema_of_bodies = dict(zip((one.__name__ for one in bodies), shown, strict=False))
    schema_of_results = iter(shown[len(bodies) :])
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        result = next(schema_of_results) if one.result not in (None, bytes) else None
        body = schema_of_bodies.get(one.parameters.__name__) if one.method == "POST" else None
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, body, result)
    paths[PATH] = {"get": _itself()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "RocketMQ for tests",
            "version": "1",
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "tags": [{"name": name, "description": what} for name, what in TAGS.items()],
        "paths": paths,
        "components": {"schemas": components, "responses": _responses()},
    }


def render() -> dict[str, str]:
    """The file, by its name."""
    return {PATH.strip("/"): json.dumps(description(), indent=2, ensure_ascii=False) + "\n"}


def _operation(one: Operation, body: Any, result: Any) -> dict[str, Any]:
    said: dict[str, Any] = {
        "operationId": identifier(one),
        "tags": [one.tag],
        "summary": one.description.replace("\n", " ").partition(". ")[0].rstrip(".:"),
        "description": one.description,
        "responses": {**dict([_success(one, result)]), **_problems(one)},
    }
    if one.method == "GET" and one.parameters.__struct_fields__:
        said["parameters"] = list(_in_query(one))
    if body is not None:
        is_needed = any(field.required for field in msgspec.structs.fields(one.parameters))
        said["requestBody"] = {"required": is_needed, "content": {"application/json": {"schema": body}}}
    return said


def identifier(one: Operation) -> str:
    """What programs that are made of the description call an operation."""
    if one.name == "speed" and one.method == "POST":
        return "set_speed"
    return one.name.replace("/", "_") or "about"


def _success(one: Operation, result: Any) -> tuple[str, dict[str, Any]]:
    if one.result is None:
        return "204", {"description": "It is done."}
    media, schema = "application/json", result
    if one.result is bytes:
        media, schema = "application/octet-stream", {}
    return "200", {"description": "What the method returns.", "content": {media: {"schema": schema}}}


def _problems(one: Operation) -> dict[str, dict[str, Any]]:
    left_out = _OF_NO_OPERATION if one.method == "POST" else _OF_NO_OPERATION | _OF_BODIES
    statuses = sorted({status for kind, (status, _) in STATUSES.items() if kind not in left_out})
    return {str(status): {"$ref": f"#/components/responses/{status}"} for status in statuses}


def _responses() -> dict[str, dict[str, Any]]:
    texts: dict[int, list[str]] = {}
    for kind, (status, title) in STATUSES.items():
        texts.setdefault(status, []).append(f"`{kind}`: {title}")
    content = {MEDIA_TYPE: {"schema": {"$ref": _REFERENCE.format(name=Problem.__name__)}}}
    return {
        str(status): {"description": " ".join(told), "content": content} for status, told in texts.items()
    }


def _in_query(one: Operation) -> Iterator[dict[str, Any]]:
    schema = next(iter(_alone([one.parameters]).values()))
    for name, kind in schema["properties"].items():
        yield {"name": name, "in": "query", "required": name in schema["required"], "schema": kind}


def _alone(types: Iterable[type[msgspec.Struct]]) -> dict[str, dict[str, Any]]:
    _, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    return components


def _itself() -> dict[str, Any]:
    return {
        "operationId": "openapi",
        "tags": ["cluster"],
        "summary": "This description",
        "description": "This description.",
        "responses": {"200": {"description": "It.", "content": {"application/json": {"schema": {}}}}},
    }
