"""JSON Schemas of bodies: what Apache's encoder wrote fits, and what ordinary requests and answers carry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from vectors.golden import BODY_VECTORS, Vector

from harness.catalogue import ROLES, Role, catalogue, messages, profiles
from harness.catalogue.fields import requests_with_fields
from harness.conformance.asking_fields import OrdinaryRequest, owner_of
from harness.conformance.sessions import session_of
from harness.report.commands import Commands, Told
from harness.report.machine import bodies
from harness.targets import parse
from harness.wire.bodies.broker.queue_tables import plain_tables
from harness.wire.fastjson import ParseError
from harness.wire.requests import REQUESTS
from harness.wire.view import json_value

FILES = bodies.render(messages(), catalogue().profiles)
SCHEMAS: dict[str, dict[str, Any]] = {
    name.removeprefix(f"{bodies.FOLDER}/"): json.loads(text) for name, text in FILES.items()
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
    """Of a body, by its own name and those of the schemas that it refers to."""
    known = {name: closed(schema) for name, schema in SCHEMAS.items()} if whole else SCHEMAS
    registry = jsonschema_rs.Registry(list(known.items()))
    return jsonschema_rs.Draft202012Validator(known[bodies.file_of(body)], registry=registry)


WHOLE = {body.name: validator(body.name) for body in messages().bodies}


def wrong(body: str, data: bytes) -> list[str]:
    """What does not fit, members that are not described included."""
    try:
        value = json_value(data)
    except ParseError:  # queues are names of members
        value = plain_tables(data)
    found = WHOLE[body].iter_errors(value)
    return [f"{'.'.join(map(str, one.instance_path))}: {one.message}" for one in found]


def test_each_body_has_a_schema_that_is_one() -> None:
    assert set(SCHEMAS) == {bodies.file_of(body.name) for body in messages().bodies}
    for name, schema in SCHEMAS.items():
        jsonschema_rs.meta.validate(schema)
        assert schema["$id"] == name
        assert "://" not in FILES[f"{bodies.FOLDER}/{name}"].replace(schema["$schema"], "")


@pytest.mark.parametrize(
    "vector",
    [one for one in BODY_VECTORS if not one.type.endswith("#compressed")],
    ids=str,
)
def test_what_apaches_encoder_wrote_fits(vector: Vector) -> None:
    body = vector.type.rpartition(".")[2].partition("#")[0]
    assert wrong(body, vector.data) == []


def told(role: Role, line: str) -> Iterator[Told]:
    """Every command of an exchange of the ordinary requests of a line with the reference."""
    target = parse(f"builtin:{line}", role=role)
    for message in requests_with_fields(messages().of(role), line):
        instance = target.another(owner_of(message)[0].setup)
        session = session_of(role, instance, line, case=str(message.code), target=target.uri)
        with session:
            OrdinaryRequest(session, message).again().outcome(silence_is_an_answer=True)
        instance.stop()
        commands = Commands(all_speak=True)
        for event in session.trace.events:
            yield from (one for one in commands.add(event) if isinstance(one, Told))


@pytest.mark.parametrize(("role", "line"), [(role, one.name) for role in ROLES for one in profiles(role)])
def test_what_ordinary_requests_and_answers_carry_fits(role: Role, line: str) -> None:
    seen = set()
    for one in told(role, line):
        command = one.command
        if command is None or not command.body or one.asked not in REQUESTS:
            continue
        form = REQUESTS[one.asked]
        body = form.response_body if command.is_response else form.request_body
        is_compressed = (command.ext or {}).get("compressed") == "true"
        if body in WHOLE and not is_compressed:
            assert wrong(body, command.body) == [], (one.asked, command.body)
            seen.add((one.asked, command.is_response))
    assert len(seen) > 5, seen


@pytest.mark.parametrize(
    ("body", "data", "said"),
    [
        ("QueueData", b'{"perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}', '"brokerName"'),
        ("TopicConfig", b'{"topicName":"T","perm":2147483648}', "2147483648"),
        ("TopicConfig", b'{"topicName":"T","perm":"6"}', '"6"'),
        ("TopicConfig", b'{"topicName":"T","topicFilterType":"NONE"}', '"NONE"'),
        ("BrokerData", b'{"brokerAddrs":{"a":"b"},"brokerName":"b","cluster":"c"}', '"a"'),
        ("ClusterInfo", b'{"brokerAddrTable":{"b":{}},"clusterAddrTable":{}}', '"brokerAddrs"'),
        ("TopicList", b'{"topicList":["T"],"other":1}', "'other'"),
    ],
)
def test_what_is_wrong_is_found(body: str, data: bytes, said: str) -> None:
    assert said in " ".join(wrong(body, data))


def test_members_of_later_releases_are_let_be() -> None:
    later = {"topicList": ["T"], "other": 1}
    assert validator("TopicList", whole=False).is_valid(later)


def test_releases_and_defaults_stand_beside() -> None:
    data_version = SCHEMAS["DataVersion.schema.json"]
    assert data_version["properties"]["stateVersion"]["x-since"] == "5.3"
    assert data_version["required"] == ["counter", "timestamp"]
    assert SCHEMAS["TopicConfig.schema.json"]["properties"]["perm"]["x-default"] == "6"
    assert SCHEMAS["TopicQueueMappingInfo.schema.json"]["x-since"] == "5.3"
