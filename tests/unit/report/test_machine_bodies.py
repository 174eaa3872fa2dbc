"""JSON Schemas of bodies: what Apache's encoder wrote fits, and what ordinary requests and answers carry."""

from __future__ import annotations

import json
from collections.abc import Iterator

import jsonschema_rs
import pytest
from schemas import FILES, SCHEMAS, misfits, validator, wrong
from vectors.golden import BODY_VECTORS, Vector

from harness.catalogue import ROLES, Role, messages, profiles
from harness.catalogue.fields import requests_with_fields
from harness.conformance.asking_fields import OrdinaryRequest, owner_of
from harness.conformance.sessions import session_of
from harness.report.commands import Commands, Told
from harness.targets import parse


def test_each_body_has_a_schema_that_is_one() -> None:
    assert len(FILES) == len(SCHEMAS)
    for name, schema in SCHEMAS.items():
        jsonschema_rs.meta.validate(schema)
        assert schema["$id"] == f"urn:rocketmq:body:{name}"
        assert "://" not in json.dumps({**schema, "$schema": ""})


@pytest.mark.parametrize(
    "vector",
    [one for one in BODY_VECTORS if not one.type.endswith("#compressed")],
    ids=str,
)
def test_what_apaches_encoder_wrote_fits(vector: Vector) -> None:
    body = vector.type.rpartition(".")[2].partition("#")[0]
    assert wrong(body, vector.data) == []


def test_what_a_client_in_cpp_writes_fits() -> None:
    subscription = {"codeSet": [0, 0], "subString": "A || C", "subVersion": "1700000000000", "topic": "T"}
    group = {"consumeFromWhere": 0, "consumeType": 1, "groupName": "G", "messageModel": 1}
    group |= {"subscriptionDataSet": [subscription | {"tagsSet": ["A", "C"]}]}
    body = json.dumps({"clientID": "c", "consumerDataSet": [group]}).encode()
    assert wrong("HeartbeatData", body) == []


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
    seen: set[str] = set()
    assert list(misfits(told(role, line), seen)) == []
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
    data_version = SCHEMAS["DataVersion"]
    assert data_version["properties"]["stateVersion"]["x-since"] == "5.3"
    assert data_version["required"] == ["counter", "timestamp"]
    assert SCHEMAS["TopicConfig"]["properties"]["perm"]["x-default"] == "6"
    assert SCHEMAS["TopicQueueMappingInfo"]["x-since"] == "5.3"
