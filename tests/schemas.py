"""Bodies beside the JSON Schemas that are made of the catalogue."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import jsonschema_rs

from harness.catalogue import catalogue, messages
from harness.report.commands import Told
from harness.report.machine import bodies
from harness.wire.bodies.broker.queue_tables import plain_tables
from harness.wire.fastjson import ParseError
from harness.wire.requests import REQUESTS
from harness.wire.view import json_value

FILES = bodies.render(messages(), catalogue().profiles)
SCHEMAS: dict[str, dict[str, Any]] = {
    body.name: json.loads(FILES[bodies.file_of(body.name)]) for body in messages().bodies
}


def closed(schema: Any) -> Any:
    """The same schema, which refuses members that it does not describe."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    return found | {"additionalProperties": False} if "properties" in schema else found


def validator(body: str, *, whole: bool = True) -> Any:
    """Of a body; ``whole``: it refuses members that are not described."""
    return jsonschema_rs.Draft202012Validator(closed(SCHEMAS[body]) if whole else SCHEMAS[body])


WHOLE = {body.name: validator(body.name) for body in messages().bodies}


def wrong(body: str, data: bytes) -> list[str]:
    """What does not fit, members that are not described included."""
    try:
        value = json_value(data)
    except ParseError:  # queues are names of members
        value = plain_tables(data)
    found = WHOLE[body].iter_errors(value)
    return [f"{'.'.join(map(str, one.instance_path))}: {one.message}" for one in found]


def misfits(commands: Iterable[Told], seen: set[str]) -> Iterator[str]:
    """What does not fit of the bodies of recorded commands; the names of bodies that were looked at are added
    to ``seen``.
    """
    for one in commands:
        command = one.command
        if command is None or not command.body or one.asked not in REQUESTS:
            continue
        form = REQUESTS[one.asked]
        body = form.response_body if command.is_response else form.request_body
        if body in WHOLE and (command.ext or {}).get("compressed") != "true":
            seen.add(body)
            yield from (f"{one.asked} {body} {problem}" for problem in wrong(body, command.body))
