"""What a frame is to a server: tables by hand, and what Apache's decoders made of odd headers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.engine.frames.reading import Stream, read
from harness.wire import Command, RawFrame, Serialization, encode

HEADERS = Path(__file__).parents[3] / "fixtures" / "headers"
PROFILES = {"4.9.8": "4.9", "5.3.3": "5.3", "5.5.0": "5.5"}
WHOLE = encode(Command(106, opaque=7))
B0 = bytes.fromhex("00690001df00000001000000000000000000000000")
"""The smallest ROCKETMQ header."""


def odd_headers() -> list[Any]:
    found = []
    for release, profile in PROFILES.items():
        document = json.loads((HEADERS / f"{release}.json").read_text("ascii"))
        found += [
            pytest.param(profile, entry["text"], entry["command"], id=f"{release}:{entry['text']}")
            for entry in document["headers"]
        ]
    return found


@pytest.mark.parametrize(("profile", "text", "expected"), odd_headers())
def test_no_reading_contradicts_apache(profile: str, text: str, expected: dict[str, Any] | None) -> None:
    reading = read(RawFrame(text.encode()).encode(), profile)
    if expected is None:
        assert reading.closes in ("must", "may")
        return
    assert reading.closes in ("no", "may")
    if reading.certain:
        assert reading.command is not None
        assert {name: getattr(reading.command, name) for name in expected} == expected


def text(header: str) -> bytes:
    return RawFrame(header.encode("latin-1")).encode()


def binary(header: bytes, body: bytes = b"", **parts: int) -> bytes:
    return RawFrame(header, body, 1, **parts).encode()


READINGS = [
    (text('{"code":1,"opaque":2}'), "no", "wire.framing.optional-members-may-be-absent"),
    (text("{"), "must", "wire.framing.broken-json-header-closes"),
    (text("[]"), "must", "wire.framing.header-that-is-no-object-closes"),
    (text('{"code":1,"opaque":2}x'), "must", "wire.framing.text-after-header-object-closes"),
    (text('{"code":1,"opaque":2}}'), "may", "wire.framing.loose-punctuation-is-accepted"),
    (text('{"code":1,"opaque":2,"flag":4294967296}'), "must", "wire.framing.number-out-of-range-closes"),
    (text('{"code":1,"opaque":"x"}'), "must", "wire.framing.text-for-a-number-closes"),
    (text('{"code":1,"opaque":"7"}'), "no", "wire.framing.numeric-strings-are-numbers"),
    (text('{"code":1,"opaque":2,"extFields":7}'), "must", "wire.framing.ext-fields-that-are-no-object-close"),
    (text('{"code":1,"opaque":7,"extFields":{"a":1}}'), "no", "wire.framing.scalar-ext-values-are-texts"),
    (
        text('{"opaque":7,"extFields":{"a":[]},"code":1}'),
        "may",
        "wire.framing.structured-ext-values-are-texts",
    ),
    (text('{"code":1,"opaque":7,"code":2}'), "no", "wire.framing.repeated-members-do-not-close"),
    (text('{"code":1,"opaque":7,"code":4294967296}'), "may", ""),
    (text('{"code":1}'), "may", "wire.framing.missing-opaque-is-served"),
    (text('{"code":1,"opaque":1.5}'), "may", ""),
    (text(""), "must", "wire.framing.empty-header-closes"),
    (RawFrame(b"{}", header_length=3).encode(), "must", "wire.framing.header-beyond-frame-closes"),
    (RawFrame(b"{}", serialize_type=2).encode(), "must", "wire.framing.unknown-serialization-closes"),
    (binary(B0), "no", "wire.framing.binary-request-is-served"),
    (binary(B0[:20]), "must", "wire.framing.binary-header-too-short-closes"),
    (binary(B0[:13] + b"\xff" * 4 + B0[17:]), "must", "wire.framing.binary-bad-remark-length-closes"),
    (binary(B0[:17] + b"\0\0\0\x40"), "must", "wire.framing.binary-ext-length-beyond-header-closes"),
    (binary(B0 + b"xyz"), "may", "wire.framing.binary-spare-header-bytes-begin-the-body"),
    (binary(B0[:2] + b"\x63" + B0[3:]), "no", "wire.framing.binary-unknown-language-is-served"),
]  # fmt: skip


@pytest.mark.parametrize(("frame", "closes", "statement"), READINGS, ids=lambda value: str(value)[:60])
@pytest.mark.parametrize("profile", ["4.9", "5.3", "5.5"])
def test_reading(profile: str, frame: bytes, closes: str, statement: str) -> None:
    if profile == "5.5" and statement.endswith("text-after-header-object-closes"):
        closes, statement = "may", ""  # a comma is let pass there
    reading = read(frame, profile)
    assert (reading.closes, reading.statement) == (closes, statement)


def test_invalid_utf8_closes_on_5_and_is_replaced_on_4() -> None:
    frame = text('{"code":1,"opaque":2,"remark":"\xff"}')
    assert read(frame, "5.3").closes == "must"
    assert read(frame, "4.9").closes == "no"


def test_on_5_5_only_bytes_that_begin_no_character_close() -> None:
    """What Apache 5.5.0 does: a byte that begins a character has the bytes behind it taken unseen."""
    for wrong, closes in ((b"\xc3(", "may"), (b"\xf0\x9f(", "may"), (b"\x80", "must"), (b"\xff\xfe", "must")):
        header = b'{"code":1,"opaque":2,"remark":"' + wrong + b'abc"}'
        frame = (4 + len(header)).to_bytes(4, "big") + len(header).to_bytes(4, "big") + header
        assert read(frame, "5.5").closes == closes, wrong
        assert read(frame, "5.3").closes == "must", wrong


def test_a_stream_is_cut_as_a_server_must() -> None:
    stream = Stream("5.3")
    first = stream.feed(WHOLE + WHOLE[:5])
    assert [(one.certain, one.waits) for one in first] == [(True, False), (False, True)]
    assert not stream.whole
    assert [one.command.opaque for one in stream.feed(WHOLE[5:]) if one.command] == [7]
    assert stream.whole
    assert [one.closes for one in stream.feed(b"\xff\xff\xff\xff" + WHOLE)] == ["must"]
    assert not stream.whole
    assert stream.feed(WHOLE) == []


@pytest.mark.parametrize(
    ("data", "statement"),
    [
        (b"\x80\0\0\0", "wire.framing.negative-length-closes"),
        (b"\0\xff\xff\xfd", "wire.framing.length-beyond-limit-closes"),
        (b"GET / HTTP/1.1\r\n", "wire.framing.http-closes"),
        (b"\0\0\0\3abc", "wire.framing.length-below-header-word-closes"),
    ],
)
def test_length_words_that_cannot_be(data: bytes, statement: str) -> None:
    stream = Stream("5.5")
    stream.feed(WHOLE)
    (reading,) = stream.feed(data)
    assert (reading.closes, reading.statement) == ("must", statement)


@pytest.mark.parametrize("data", [b"\x16\x03\x01", b"PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n", b"\0\0\0\3abc"])
def test_what_a_connection_begins_with_may_be_of_another_protocol(data: bytes) -> None:
    (reading,) = Stream("5.3").feed(data)
    assert reading.closes == "may"


def test_serializations_are_both_known() -> None:
    frame = encode(Command(206, opaque=3, serialization=Serialization.ROCKETMQ))
    assert read(frame, "4.9").certain
