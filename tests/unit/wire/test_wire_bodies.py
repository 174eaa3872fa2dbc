"""Bodies: the exact rules of acceptance, and the lenient path beside the fast one."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.wire import WireError, body_crc32
from harness.wire.bodies import (
    BrokerData,
    BrokerMemberGroup,
    ClusterInfo,
    DataVersion,
    KvTable,
    NullBodyError,
    QueueData,
    RegisterBody,
    TopicConfig,
    TopicList,
    TopicQueueMappingInfo,
    TopicRoute,
)
from harness.wire.bodies.nameserver import register

VERSION = DataVersion(7, 1700000000000, 3)
V49, V50 = 409, 413


def layout(*topics: str, version: bytes = b"{}", filters: bytes = b"[]", tail: bytes = b"\0\0\0\0") -> bytes:
    def sized(data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + data

    lines = b"".join(sized(topic.encode()) for topic in topics)
    return sized(version) + len(topics).to_bytes(4, "big") + lines + sized(filters) + tail


def compressed(data: bytes, *, v5: bool = True, version: int = V50) -> RegisterBody:
    return RegisterBody.decode(zlib.compress(data), compressed=True, version=version, v5=v5)


def whole(data: bytes, *, v5: bool = True) -> RegisterBody:
    return RegisterBody.decode(data, version=V50, v5=v5)


def test_no_body_is_an_empty_table() -> None:
    assert RegisterBody.decode(b"").data_version == DataVersion(0, 0, 0)
    assert RegisterBody.decode(b"", v5=False) == RegisterBody(topics={}, data_version=DataVersion(0, 0, None))


def test_topic_name_counts_and_not_the_key() -> None:
    topics = whole(
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"key":{"topicName":"name"}}}}'
    ).topics
    assert topics == {"key": TopicConfig("name")}


def test_members_that_are_missing_have_defaults() -> None:
    assert TopicConfig() == TopicConfig(None, 16, 16, 6, "SINGLE_TAG", 0, False, None)
    topic = b'{"Perm":"2","perm":4,"unknown":[{}],"readQueueNums":null,"attributes":{"a":null,"b":"c"}}'
    body = whole(b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"T":%b}}}' % topic)
    assert body.topics == {"T": TopicConfig(perm=2, attributes={"b": "c"})}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"{}", msgspec.UNSET),
        (b'{"filterServerList":null}', None),
        (b'{"filterServerList":[]}', []),
        (b'{"filterServerList":["f:1"]}', ["f:1"]),
        (b'{"filterServerList":""}', None),
        (b'{"filterServerList":5}', ["5"]),
        (b'{"filterServerList":[null,"f:1"]}', [None, "f:1"]),
    ],
)
def test_three_kinds_of_no_filter_servers(text: bytes, value: Any) -> None:
    body = whole(text)
    assert body.filter_servers == value
    assert whole(body.encode()) == body
    assert (b"filterServerList" in body.encode()) == (b"filterServerList" in text)


@pytest.mark.parametrize(
    "text",
    [
        b'{"topicConfigSerializeWrapper":null}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":null,"dataVersion":null}}',
    ],
)
def test_null_inside_a_register_body(text: bytes) -> None:
    body = whole(text)
    assert body.topics is None
    assert body.data_version is None


def test_null_as_a_whole_is_an_error_of_its_own() -> None:
    for text in (b"null", b" null ", b" ", b"[]", b'""'):
        with pytest.raises(NullBodyError):
            whole(text)
    with pytest.raises(NullBodyError):
        whole(b'{"x":"\xff"}')
    assert whole(b'{"x":"\xff"}', v5=False).topics == {}


@pytest.mark.parametrize("text", [b"[1]", b"{", b"1", b'{"topicConfigSerializeWrapper":[1]}'])
def test_what_is_no_register_body(text: bytes) -> None:
    with pytest.raises(WireError):
        whole(text)


def test_unquoted_numbers_are_keys_where_keys_are_numbers() -> None:
    body = whole(
        b'{"topicConfigSerializeWrapper":{"topicQueueMappingInfoMap":{"T":{"currIdMap":{0:1},"topic":"T"}}}}'
    )
    assert body.mappings == {"T": TopicQueueMappingInfo("T", curr_id_map={0: 1})}
    with pytest.raises(WireError, match="0 without quotes"):
        whole(b'{"topicConfigSerializeWrapper":{"topicConfigTable":{0:{}}}}')


def test_4_9_knows_nothing_of_what_came_with_5() -> None:
    body = RegisterBody(
        {"T": TopicConfig("T", attributes={"a": "b"})},
        VERSION,
        [],
        {"T": TopicQueueMappingInfo("T")},
        VERSION,
        {},
    )
    old = whole(body.encode(), v5=False)
    assert old.topics == {"T": TopicConfig("T")}
    assert old.data_version == DataVersion(VERSION.counter, VERSION.timestamp)
    assert compressed(layout(version=VERSION.encode(), tail=b""), v5=False).data_version == old.data_version
    odd = b'{"topicConfigSerializeWrapper":{"dataVersion":{"stateVersion":[]},"mappingDataVersion":5}}'
    assert whole(odd, v5=False) == RegisterBody(filter_servers=msgspec.UNSET)
    with pytest.raises(WireError):
        whole(odd)
    assert (old.mappings, old.mapping_data_version, old.mapping_details) == (None, None, None)
    assert whole(body.encode()) == body


@pytest.mark.parametrize("version", (36, 37))
def test_a_body_without_data_version(version: int) -> None:
    body = RegisterBody({"T": TopicConfig("T")}, versioned=False)
    filters: list[str] | None = None if version < 37 else []
    data = body.encode_bare() if version < 37 else body.encode()
    assert b"dataVersion" not in data
    found = RegisterBody.decode(data, version=version)
    assert (found.versioned, found.data_version, found.filter_servers) == (False, DataVersion(), filters)
    assert RegisterBody.decode(data[:-1] + b",}", version=version) == found


def test_bare_body_before_3_0_11() -> None:
    body = RegisterBody({"T": TopicConfig("T")}, VERSION, None)
    assert RegisterBody.decode(body.encode_bare(), version=36, compressed=True) == body
    with pytest.raises(WireError):
        RegisterBody.decode(b"x", version=36)


@pytest.mark.parametrize(
    ("line", "v4", "v5"),
    [
        ("T 4 8 6 SINGLE_TAG", True, True),
        ("T 4 8 6 SINGLE_TAG {}", False, True),
        ('T 4 8 6 SINGLE_TAG {"a":"b"}', False, True),
        ("T 4 8 6 SINGLE_TAG no-json more", False, True),
        ("T 4 8 6 SINGLE_TAG ", True, True),
        (" 4 8 6 MULTI_TAG", True, True),
        ("T +4 08 -6 MULTI_TAG", True, True),
        ("T 4 8 6", False, False),
        ("T 4 8 x SINGLE_TAG", False, False),
        ("T 4 8  SINGLE_TAG", False, False),
        ("T 4 8 6 OTHER", False, False),
        ("T 4 8 2147483648 SINGLE_TAG", False, False),
        ("T 4 8 99999999999999999999 SINGLE_TAG", False, False),
        ("", False, False),
    ],
)
def test_tokens_of_a_topic(line: str, v4: bool, v5: bool) -> None:
    for is_v5, accepted in ((False, v4), (True, v5)):
        data = layout(line, tail=b"\0\0\0\0" if is_v5 else b"")
        if accepted:
            (topic,) = (compressed(data, v5=is_v5).topics or {}).values()
            assert topic.topic_name == line.split(" ")[0]
            assert topic.attributes == (({"a": "b"} if "b" in line else {}) if is_v5 else None)
        else:
            with pytest.raises(WireError):
                compressed(data, v5=is_v5)


def test_mapping_section_is_read_by_5_x_from_version_413_on() -> None:
    without = layout("T 4 8 6 SINGLE_TAG", tail=b"")
    assert compressed(without, v5=False).mappings is None
    assert compressed(without, version=V50 - 1).mappings is None
    with pytest.raises(WireError, match="too early"):
        compressed(without)
    info = b'{"currIdMap":{0:1},"topic":"T"}'
    tail = b"\0\0\0\1" + len(info).to_bytes(4, "big") + info + b"trailing"
    assert compressed(layout(tail=tail)).mappings == {"T": TopicQueueMappingInfo("T", curr_id_map={0: 1})}
    with pytest.raises(WireError, match="mapping that is null") as error:
        compressed(layout(tail=b"\0\0\0\1\0\0\0\4null"))
    assert not isinstance(error.value, NullBodyError)
    absent = b'{"topicConfigSerializeWrapper":{"topicQueueMappingInfoMap":{"T":null}}}'
    assert whole(absent).mappings == {}
    with pytest.raises(WireError, match="without a topic"):
        compressed(layout(tail=b"\0\0\0\1\0\0\0\2{}"))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (b'["a"]', ["a"]),
        (b"null", None),
        (b"garbage", []),
        (b"{}", []),
        (b"[]", []),
        (b"[1,null]", ["1", None]),
        (b"", None),
    ],
)
def test_filters_that_are_no_list_clear_the_list(filters: bytes, expected: list[str | None] | None) -> None:
    assert compressed(layout(filters=filters)).filter_servers == expected


def test_data_version_of_the_compressed_form() -> None:
    for text in (b"null", b"", b"[]"):
        assert compressed(layout(version=text)).data_version is None
    assert compressed(layout(version=VERSION.encode())).data_version == VERSION
    with pytest.raises(WireError):
        compressed(layout(version=b"{"))


@pytest.mark.parametrize(
    "data",
    [b"", b"\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", layout()[:8], b"\0\0\0\2{}\x7f\xff\xff\xff"],
)
def test_layouts_that_end_too_early(data: bytes) -> None:
    with pytest.raises(WireError):
        compressed(data)


def test_a_negative_number_of_topics_is_none() -> None:
    assert compressed(b"\0\0\0\2{}\xff\xff\xff\xff\0\0\0\2[]\0\0\0\0").topics == {}


def test_raw_deflate_is_no_zlib_stream() -> None:
    deflater = zlib.compressobj(wbits=-15)
    raw = deflater.compress(layout()) + deflater.flush()
    with pytest.raises(WireError, match="zlib"):
        RegisterBody.decode(raw, compressed=True)


def test_inflation_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register, "INFLATED_LIMIT", 1000)
    assert compressed(layout("T" * 500 + " 4 8 6 SINGLE_TAG"))
    with pytest.raises(WireError, match="more than 1000"):
        compressed(layout("T" * 1000 + " 4 8 6 SINGLE_TAG"))


def test_data_version_of_both_lines() -> None:
    assert DataVersion(7, 5).encode() == b'{"counter":7,"timestamp":5}'
    assert DataVersion(7, 5, 3).encode() == b'{"counter":7,"stateVersion":3,"timestamp":5}'
    assert DataVersion.decode(b'{"counter":"7","timestamp":5}') == DataVersion(7, 5)
    assert DataVersion.decode(b'{"counter":7,"stateVersion":null}') == DataVersion(7)
    with pytest.raises(WireError):
        DataVersion.decode(b'{"counter":9223372036854775808}')


@pytest.mark.parametrize(
    "kind", [TopicRoute, ClusterInfo, TopicList, KvTable, BrokerMemberGroup, TopicQueueMappingInfo]
)
def test_every_body_refuses_what_is_no_object(kind: Any) -> None:
    for text in (b"[1]", b"{", b'{"a":}'):
        with pytest.raises(WireError):
            kind.decode(text)
    for text in (b"null", b"[]", b""):
        with pytest.raises(NullBodyError):
            kind.decode(text)
    assert kind.decode(b'{"unknown":[1]}') == kind()


@pytest.mark.parametrize("text", [b'{"brokerMemberGroup":null}', b'{"brokerMemberGroup":{}}'])
def test_member_group_without_a_group(text: bytes) -> None:
    assert BrokerMemberGroup.decode(text) == BrokerMemberGroup()


def test_keys_that_are_no_broker_id() -> None:
    with pytest.raises(WireError, match="instead of a number as a key"):
        BrokerMemberGroup.decode(b'{"brokerMemberGroup":{"brokerAddrs":{null:"a"}}}')


def test_checksum_has_no_sign() -> None:
    assert body_crc32(b"") == 0
    assert body_crc32(b"123456789") == 0xCBF43926 & 0x7FFFFFFF


NAMES = st.text('Aé0{,:/"\\ ', max_size=5)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
ADDRESSES = st.dictionaries(INT64, NAMES, max_size=3)
VERSIONS = st.builds(DataVersion, INT64, INT64, st.none() | INT64)
MAPPINGS = st.builds(
    TopicQueueMappingInfo,
    NAMES,
    NAMES,
    INT32,
    INT64,
    st.booleans(),
    NAMES,
    st.dictionaries(INT32, INT32, max_size=3),
)
TOPICS = st.builds(
    TopicConfig,
    NAMES,
    INT32,
    INT32,
    INT32,
    st.sampled_from(["SINGLE_TAG", "MULTI_TAG"]),
    INT32,
    st.booleans(),
    st.none() | st.dictionaries(NAMES, NAMES, max_size=2),
)
REGISTER = st.builds(
    RegisterBody,
    st.none() | st.dictionaries(NAMES, TOPICS, max_size=3),
    VERSIONS,
    st.just(msgspec.UNSET) | st.none() | st.lists(NAMES, max_size=3),
    st.none() | st.dictionaries(NAMES, MAPPINGS, max_size=2),
    st.none() | VERSIONS,
    st.none() | st.dictionaries(NAMES, st.just({"hostedQueues": {"0": []}}), max_size=2),
)
BROKERS = st.builds(BrokerData, NAMES, NAMES, ADDRESSES, st.none() | st.booleans(), st.none() | NAMES)
QUEUES = st.builds(QueueData, NAMES, INT32, INT32, INT32, INT32)
ROUTES = st.builds(
    TopicRoute,
    st.lists(QUEUES, max_size=2),
    st.lists(BROKERS, max_size=2),
    st.dictionaries(NAMES, st.lists(NAMES, max_size=2), max_size=2),
    st.none() | NAMES,
    st.none() | st.dictionaries(NAMES, MAPPINGS, max_size=2),
)
CLUSTERS = st.builds(
    ClusterInfo,
    st.dictionaries(NAMES, BROKERS, max_size=2),
    st.dictionaries(NAMES, st.lists(NAMES, max_size=2), max_size=2),
)
BODIES = st.one_of(
    VERSIONS,
    MAPPINGS,
    ROUTES,
    CLUSTERS,
    st.builds(BrokerMemberGroup, NAMES, NAMES, ADDRESSES),
    st.builds(TopicList, st.lists(NAMES, max_size=3), st.none() | NAMES),
    st.builds(KvTable, st.dictionaries(NAMES, NAMES, max_size=3)),
    REGISTER,
)

relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no bug


@relaxed
@given(BODIES)
def test_fast_path_equals_lenient_path(body: Any) -> None:
    decode: Callable[[bytes], Any] = type(body).decode
    text = body.encode()
    assert decode(text) == body
    # A comma too many is nothing to fastjson, but sends the text down the lenient path.
    assert decode(text[:-1] + b",}") == body


@relaxed
@given(ROUTES)
def test_both_flavours_of_a_route_say_the_same(route: TopicRoute) -> None:
    assert TopicRoute.decode(route.encode("legacy")) == TopicRoute.decode(route.encode("standard")) == route


@relaxed
@given(BODIES, st.data())
def test_nothing_but_wire_error_escapes(body: Any, data: st.DataObject) -> None:
    text = bytearray(body.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from([b"", b"1", b'"', b"[", b"\xff", b"null"])
        )
        if not text:
            return
    try:
        type(body).decode(bytes(text))
    except WireError as error:
        assert str(error)


@relaxed
@given(st.binary(max_size=60), st.booleans())
def test_nothing_but_wire_error_escapes_from_a_compressed_body(data: bytes, v5: bool) -> None:
    for body in (data, zlib.compress(data)):
        try:
            RegisterBody.decode(body, compressed=True, v5=v5)
        except WireError as error:
            assert str(error)
