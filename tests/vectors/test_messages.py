"""The message format, compared with what Apache's own classes made (fixtures/messages)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.wire.messages import (
    LineName,
    Message,
    decode_batch,
    decode_message,
    decode_messages,
    decode_offset_id,
    decode_properties,
    encode_batch,
    encode_message,
    offset_id,
    tag_hash,
)

FIXTURES = Path(__file__).parents[2] / "fixtures"


class Vector(NamedTuple):
    line: LineName
    name: str
    type: str
    fields: Any
    hex: str

    @property
    def data(self) -> bytes:
        return bytes.fromhex(self.hex)

    def __str__(self) -> str:
        return f"{self.line}:{self.name}"


def load() -> list[Vector]:
    vectors = []
    for path in sorted((FIXTURES / "messages").glob("*.json")):
        document = json.loads(path.read_text("ascii"))
        line: LineName = "4.9" if document["rocketmq"].startswith("4.9") else "5.3"
        vectors += [Vector(line, v["name"], v["type"], v["fields"], v["hex"]) for v in document["vectors"]]
    return vectors


VECTORS = load()


def of_type(kind: str) -> pytest.MarkDecorator:
    found = [vector for vector in VECTORS if vector.type == kind]
    assert {vector.line for vector in found} == {"4.9", "5.3"}
    return pytest.mark.parametrize("vector", found, ids=str)


def message_of(fields: dict[str, Any]) -> Message:
    """`body` is written as hex; two spellings of one IPv6 address are one host."""
    plain = {**fields, "body": bytes.fromhex(fields["body"])}
    for host in ("born_host", "store_host"):
        if host in plain:
            plain[host] = plain[host].replace("2001:db8:0:0:0:0:0:7", "2001:db8::7")
    return Message(**{"topic": "T", **plain})


@of_type("message")
def test_a_message_has_the_bytes_that_apache_writes(vector: Vector) -> None:
    assert encode_message(message_of(vector.fields), vector.line) == vector.data


@of_type("message")
def test_a_message_is_read_as_apache_reads_it(vector: Vector) -> None:
    assert decode_message(vector.data) == message_of(vector.fields)
    assert decode_messages(vector.data * 2) == [message_of(vector.fields)] * 2


@of_type("offset-id")
def test_an_offset_id_is_apaches_both_ways(vector: Vector) -> None:
    host = vector.fields["store_host"].replace("2001:db8:0:0:0:0:0:7", "2001:db8::7")
    assert offset_id(host, vector.fields["physical_offset"]) == vector.hex
    assert decode_offset_id(vector.hex) == (host, vector.fields["physical_offset"])


@of_type("batch")
def test_a_batch_is_apaches_both_ways(vector: Vector) -> None:
    messages = [message_of(fields) for fields in vector.fields]
    assert encode_batch(messages, vector.line) == vector.data
    assert decode_batch(vector.data, "T") == messages


@of_type("properties")
def test_properties_are_read_as_apache_reads_them(vector: Vector) -> None:
    assert decode_properties(vector.data.decode()) == vector.fields


@of_type("tag")
def test_the_hash_of_a_tag_is_javas(vector: Vector) -> None:
    assert tag_hash(vector.data.decode()) == vector.fields


@pytest.mark.parametrize(("version", "line"), [("4.9.8", "4.9"), ("5.3.3", "5.3")])
def test_what_apaches_broker_stored_is_read_and_written_again(version: str, line: LineName) -> None:
    pulled = json.loads((FIXTURES / "pulled" / f"{version}.json").read_text("ascii"))["bodies"]
    count = 0
    for body in map(bytes.fromhex, pulled.values()):
        messages = decode_messages(body)
        count += len(messages)
        assert b"".join(encode_message(message, line) for message in messages) == body
    assert count == 6
