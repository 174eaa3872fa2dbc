"""How a request differs from an ordinary one, in phrases without any value that a run made."""

from __future__ import annotations

import json
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from harness import wire
from harness.catalogue import messages
from harness.report.traits import RAW, differing, families, traits_of, traits_of_bytes
from harness.wire import Command, Serialization, body_crc32, encode

VERSION = 479
HEADER = {
    "code": 206,
    "flag": 0,
    "language": "JAVA",
    "opaque": 7,
    "serializeTypeCurrentRPC": "JSON",
    "version": VERSION,
}
REGISTRATION: dict[str, Any] = {
    "filterServerList": [],
    "topicConfigSerializeWrapper": {
        "dataVersion": {"counter": 1, "stateVersion": 0, "timestamp": 1},
        "mappingDataVersion": {"counter": 0, "stateVersion": 0, "timestamp": 1},
        "topicConfigTable": {
            "T-zabcdefg": {
                "attributes": {},
                "order": False,
                "perm": 6,
                "readQueueNums": 8,
                "topicFilterType": "SINGLE_TAG",
                "topicName": "T-zabcdefg",
                "topicSysFlag": 0,
                "writeQueueNums": 8,
            }
        },
        "topicQueueMappingDetailMap": {},
        "topicQueueMappingInfoMap": {},
    },
}
EXT = {
    "brokerName": "b-zabcdefg",
    "brokerAddr": "10.1.2.3:4567",
    "clusterName": "c-zabcdefg",
    "haServerAddr": "10.1.2.4:4567",
    "brokerId": "0",
}


def register(body: object = REGISTRATION, **ext: str | None) -> Command:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Command(code=103, ext={**EXT, **ext}, version=VERSION, body=data)


def of(command: Command, profile: str = "5.3") -> tuple[str, ...]:
    return traits_of(command, profile, VERSION)


def frame(**header: object) -> bytes:
    data = json.dumps(header).encode()
    return struct.pack(">ii", 4 + len(data), len(data)) + data


def test_what_brokers_and_clients_send_has_no_traits() -> None:
    assert of(register()) == ()
    assert of(Command(code=105, ext={"topic": "T-zabcdefg"}, version=VERSION)) == ()
    assert of(Command(code=206, version=VERSION)) == ()
    assert traits_of_bytes(frame(**HEADER), "5.3", VERSION) == ("206 GET_ALL_TOPIC_LIST_FROM_NAMESERVER", ())


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (register(brokerId=""), "brokerId empty"),
        (register(brokerId="x"), "brokerId no number"),
        (register(brokerId="-1"), "brokerId below 0"),
        (register(brokerId=str(2**63)), "brokerId no int64"),
        (register(brokerId=None), "brokerId null"),
        (register(brokerName="é"), "brokerName beyond ASCII"),
        (register(brokerName="b" * 300), "brokerName longer than 255"),
        (register(compressed="maybe"), "compressed no boolean"),
        (Command(code=105, ext={"topic": "T", "__ZONE_MODE": "true"}, version=VERSION), "__ZONE_MODE true"),
        (register(invented="1"), "with the extra field invented"),
        (register(b""), "no body"),
        (Command(code=217, ext={"topic": "T"}, version=VERSION, body=b"null"), "body that is no object"),
        (register(b"{nonsense"), "body that cannot be read"),
        (register({**REGISTRATION, "unheardOf": 1}), "body with the extra member unheardOf"),
        (register({"filterServerList": []}), "body without topicConfigSerializeWrapper"),
        (register({**REGISTRATION, "filterServerList": None}), "body member filterServerList null"),
        (register(zlib.compress(b"x"), compressed="true"), "body compressed"),
        (Command(code=103, version=VERSION), "no extFields"),
        (Command(code=206, version=VERSION, body=b"x"), "with a body"),
        (register(bodyCrc32="7"), "the checksum of another body"),
        (Command(code=206, version=VERSION, flag=2), "one-way"),
        (Command(code=206, version=VERSION, language="GO"), "language GO"),
        (Command(code=206, version=409), "version of another release"),
        (Command(code=206, version=32767), "version 32767"),
        (
            Command(code=206, version=VERSION, serialization=Serialization.ROCKETMQ),
            "header in binary form",
        ),
        (Command(code=9999, version=VERSION), "a code that the catalogue does not name"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_difference_has_its_phrase(command: Command, expected: str) -> None:
    assert expected in of(command)


@pytest.mark.parametrize("trait", ["opaque below 0", "header empty", "no body"])
def test_what_is_no_field_is_not_in_the_family_of_fields(trait: str) -> None:
    of_fields = "a field missing or of an unusual value"
    assert of_fields not in families(trait)
    assert of_fields in families("brokerId below 0")


def test_a_checksum_that_fits_is_no_difference() -> None:
    right = register(bodyCrc32=str(body_crc32(register().body)))
    assert of(right) == of(register(bodyCrc32="0")) == of(register())


def test_whatever_closes_a_connection_in_a_header_is_of_one_family() -> None:
    sources = "".join(path.read_text() for path in Path(wire.__file__).parent.glob("header_*.py"))
    codes = set(re.findall(r'refuse\(\s*"([a-z-]+)"', sources))
    assert len(codes) > 10
    for code in codes:
        assert "a header that cannot be read" in families(code.replace("-", " ")), code


def test_many_invented_fields_are_one_difference() -> None:
    assert of(register(**{f"x{n}": "1" for n in range(5000)})) == ("with many extra fields",)


def test_members_of_a_later_line_are_not_missing_in_an_earlier_one() -> None:
    without = {
        **REGISTRATION,
        "topicConfigSerializeWrapper": {
            name: value
            for name, value in REGISTRATION["topicConfigSerializeWrapper"].items()
            if name in ("dataVersion", "topicConfigTable")
        },
    }
    assert any("mappingDataVersion" in trait for trait in of(register(without)))
    assert not any("mappingDataVersion" in trait for trait in of(register(without), "4.9"))


@pytest.mark.parametrize("name", sorted(set(HEADER) - {"code"}))
def test_a_header_without_a_member_says_which(name: str) -> None:
    short = {member: value for member, value in HEADER.items() if member != name}
    request, traits = traits_of_bytes(frame(**short), "5.3", VERSION)
    assert request == "206 GET_ALL_TOPIC_LIST_FROM_NAMESERVER"
    assert f"header without {name}" in traits


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "no bytes"),
        (struct.pack(">i", 2**30), "length too large"),
        (frame(**HEADER)[:20], "frame truncated"),
        (struct.pack(">ii", 8, 4) + b"{..}", "json malformed"),
        (b"GET / HTTP/1.1\r\n\r\n", "length too large"),
    ],
)
def test_bytes_that_are_no_command_say_what_is_wrong_with_them(data: bytes, expected: str) -> None:
    assert traits_of_bytes(data, "5.3", VERSION) == (RAW, (expected,))


def test_of_several_frames_the_special_one_counts() -> None:
    plain = encode(Command(code=206, version=VERSION))
    odd = encode(Command(code=105, ext={"topic": ""}, version=VERSION))
    request, traits = traits_of_bytes(plain + odd, "5.3", VERSION)
    assert request == "105 GET_ROUTEINFO_BY_TOPIC"
    assert traits == ("several frames at once", "topic empty")


def test_every_request_of_the_catalogue_can_be_looked_at() -> None:
    for message in messages().messages:
        for body in (b"", b"{}", b"[]", b"\xff", b'{"a":[{"b":null}]}'):
            of(Command(code=message.code, ext={}, body=body, version=VERSION))


@pytest.mark.parametrize(
    ("trait", "family", "which"),
    [
        ("body without a.b.perm", "a body without a member", "perm"),
        ("header without flag", "a header without a member", "flag"),
        ("without the field brokerId", "a field that is missing", "brokerId"),
        ("no extFields", "a field that is missing", "extFields"),
        ("namespace empty", "a field missing or of an unusual value", "namespace"),
        ("body member a.b.perm null", "a body with members missing or of another type", "perm"),
        (
            "body that is no object",
            "a body with members missing or of another type",
            "body that is no object",
        ),
        ("language GO", "another language than JAVA", "GO"),
        (
            "a header value of another type",
            "a header with members missing or of another type",
            "a header value of another type",
        ),
    ],
)
def test_differences_belong_to_families(trait: str, family: str, which: str) -> None:
    assert family in families(trait)
    assert differing(trait) == which
    assert families("body compressed") == ()
