"""A command as plain data: equal to what the lenient parser reads, by the code that it goes with."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wire import FLAG_RESPONSE, Command, RequestCode
from harness.wire.bodies import DataVersion, RegisterBody, TopicConfig
from harness.wire.fastjson import ParseError, parse
from harness.wire.messages import Message, encode_message
from harness.wire.view import json_value, view

TEXTS = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_json_is_read_as_the_lenient_parser_reads_it(value: Any) -> None:
    data = msgspec.json.encode({"value": value})
    assert json_value(data) == parse(data) == {"value": value}


@given(st.text(alphabet='{}[],:"1-ab\\ ', max_size=16))
def test_what_looks_like_a_bare_number_is_read_as_the_lenient_parser_reads_it(text: str) -> None:
    data = text.encode()
    try:
        expected = parse(data)
    except ParseError:
        return
    assert json_value(data) == expected


def reply(body: bytes) -> Command:
    return Command(0, flag=FLAG_RESPONSE, body=body)


def test_a_body_of_json() -> None:
    seen = view(reply(b'{"brokerAddrs":{0:"a/b"}}'), RequestCode.GET_BROKER_CLUSTER_INFO)
    assert (seen.form, seen.body) == ("json", {"brokerAddrs": {"0": "a/b"}})
    assert (seen.dialect, seen.is_standard) == (("bare numbers as names",), False)


def test_the_ways_of_writing() -> None:
    assert view(reply(b'{"a":"b"}'), None).dialect == ()
    assert view(reply(b'{"a":"b"}'), None).is_standard
    seen = view(reply('{"ä":"a\\/b"}'.encode()), None)
    assert seen.dialect == ("characters beyond ASCII as they are", "escaped slashes")


def test_a_body_of_properties() -> None:
    seen = view(reply(b"a=1\nb\\ c=2\n"), RequestCode.GET_NAMESRV_CONFIG)
    assert (seen.form, seen.body) == ("properties", {"a": "1", "b c": "2"})


@pytest.mark.parametrize("compressed", [False, True])
def test_a_registration(compressed: bool) -> None:
    body = RegisterBody({"T": TopicConfig("T")}, data_version=DataVersion(7, 8, 9))
    data = body.encode_compressed(v5=True) if compressed else body.encode()
    ext: dict[str, str | None] = {"compressed": str(compressed).lower()}
    seen = view(Command(103, version=479, ext=ext, body=data), RequestCode.REGISTER_BROKER)
    assert (seen.form, seen.is_compressed) == ("registration", compressed)
    assert seen.body["topics"]["T"]["topicName"] == "T"
    assert seen.body["data_version"]["counter"] == 7


def test_messages() -> None:
    one = Message(topic="T", body=b"hello", queue_id=3, properties={"KEYS": "k"})
    seen = view(reply(encode_message(one, "5.3")), RequestCode.PULL_MESSAGE)
    assert seen.form == "messages"
    assert [(item["topic"], item["queue"], item["body"]) for item in seen.body] == [("T", 3, "hello")]


def test_no_body() -> None:
    assert view(reply(b""), RequestCode.GET_NAMESRV_CONFIG).form == "none"


@pytest.mark.parametrize(
    ("data", "asked", "form"),
    [
        (b"{nothing", RequestCode.GET_BROKER_CLUSTER_INFO, "text"),
        (b"\xff\xfe", None, "bytes"),
        (b"not stored", RequestCode.PULL_MESSAGE, "text"),
        (b"a=\\u00", RequestCode.GET_NAMESRV_CONFIG, "text"),
    ],
)
def test_what_is_not_as_it_should_be(data: bytes, asked: int | None, form: str) -> None:
    seen = view(reply(data), asked)
    assert seen.form == form
    assert (seen.problem is None) == (asked is None)
