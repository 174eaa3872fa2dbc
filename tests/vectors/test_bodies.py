"""Every golden body: decoded to what Apache was given, and encoded again to the same bytes."""

from __future__ import annotations

import zlib
from typing import Any

import msgspec
import pytest

from harness.wire import bodies
from harness.wire.bodies import RegisterBody, TopicRoute
from harness.wire.fastjson import Dialect
from harness.wire.versions import V3_0_11, V5_0_0

from .golden import BODY_VECTORS, Vector

TYPES: dict[str, Any] = {
    "DataVersion": bodies.DataVersion,
    "body.ClusterInfo": bodies.ClusterInfo,
    "body.TopicList": bodies.TopicList,
    "body.KVTable": bodies.KvTable,
    "statictopic.TopicQueueMappingInfo": bodies.TopicQueueMappingInfo,
}

SIMPLE = [vector for vector in BODY_VECTORS if vector.type in TYPES]
REGISTER = [vector for vector in BODY_VECTORS if vector.type.startswith("body.RegisterBrokerBody")]
BARE = [vector for vector in BODY_VECTORS if vector.type == "body.TopicConfigSerializeWrapper"]
ROUTES = [vector for vector in BODY_VECTORS if vector.type.startswith("route.")]
GROUPS = [vector for vector in BODY_VECTORS if vector.type == "body.GetBrokerMemberGroupResponseBody"]


def test_no_vector_is_forgotten() -> None:
    assert len(SIMPLE + REGISTER + BARE + ROUTES + GROUPS) == len(BODY_VECTORS)


def given(vector: Vector, kind: Any, fields: Any = None) -> Any:
    return msgspec.convert(vector.fields if fields is None else fields, kind, str_keys=True)


@pytest.mark.parametrize("vector", SIMPLE, ids=str)
def test_simple(vector: Vector) -> None:
    kind = TYPES[vector.type]
    body = kind.decode(vector.data, engine=vector.engine)
    assert body == given(vector, kind)
    assert vector.written(body.encode()) == vector.data


@pytest.mark.parametrize("vector", ROUTES, ids=str)
def test_route(vector: Vector) -> None:
    route = TopicRoute.decode(vector.data, engine=vector.engine)
    assert route == given(vector, TopicRoute)
    flavour: Dialect = "legacy" if vector.type.endswith("#legacy") else "standard"
    assert vector.written(route.encode(flavour)) == vector.data


@pytest.mark.parametrize("vector", GROUPS, ids=str)
def test_member_group(vector: Vector) -> None:
    group = bodies.BrokerMemberGroup.decode(vector.data, engine=vector.engine)
    assert group == given(vector, bodies.BrokerMemberGroup, vector.fields["brokerMemberGroup"])
    assert vector.written(group.encode()) == vector.data


def register_body(vector: Vector) -> RegisterBody:
    wrapper = vector.fields.get("topicConfigSerializeWrapper", vector.fields)
    return RegisterBody(
        topics=given(vector, dict[str, bodies.TopicConfig], wrapper["topicConfigTable"]),
        data_version=given(vector, bodies.DataVersion, wrapper["dataVersion"]),
        filter_servers=vector.fields.get("filterServerList"),
        mappings=given(
            vector, dict[str, bodies.TopicQueueMappingInfo] | None, wrapper.get("topicQueueMappingInfoMap")
        )
        if "topicQueueMappingInfoMap" in wrapper
        else None,
        mapping_data_version=given(vector, bodies.DataVersion, wrapper["mappingDataVersion"])
        if "mappingDataVersion" in wrapper
        else None,
        mapping_details=wrapper.get("topicQueueMappingDetailMap"),
    )


@pytest.mark.parametrize("vector", REGISTER, ids=str)
def test_register(vector: Vector) -> None:
    expected = register_body(vector)
    compressed = vector.type.endswith("#compressed")
    body = RegisterBody.decode(
        vector.data, compressed=compressed, version=V5_0_0, v5=vector.is_v5, engine=vector.engine
    )
    if not compressed:
        assert body == expected
        assert vector.written(body.encode()) == vector.data
        return
    # The compressed form carries neither flags nor order, nor the two other mapping members.
    for topic in (expected.topics or {}).values():
        topic.topic_sys_flag, topic.order = 0, False
    expected.mapping_data_version = expected.mapping_details = None
    assert body == expected
    assert body.layout(vector.is_v5) == zlib.decompress(vector.data)
    again = body.encode_compressed(vector.is_v5)
    assert RegisterBody.decode(again, compressed=True, version=V5_0_0, v5=vector.is_v5) == body


@pytest.mark.parametrize("vector", BARE, ids=str)
def test_bare(vector: Vector) -> None:
    body = RegisterBody.decode(vector.data, version=V3_0_11 - 1, v5=vector.is_v5, engine=vector.engine)
    assert body == register_body(vector)
    assert vector.written(body.encode_bare()) == vector.data
