"""Frames that no peer should send: the verdict of Apache's decoder, seen on 4.9.8 and 5.3.3.

The names are those of the fact sheet on the codec, §9.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.wire import (
    FRAME_LIMIT,
    Command,
    FrameBuffer,
    RawFrame,
    Serialization,
    WireError,
    decode,
    dissect,
)

B0 = bytes.fromhex("00690001df00000001000000000000000000000000")
"""The smallest ROCKETMQ header: code 105, version 479, opaque 1."""

SERVED = Command(105, opaque=1, version=479, serialization=Serialization.ROCKETMQ)


def binary(header: bytes, body: bytes = b"", **parts: int) -> bytes:
    return RawFrame(header, body, 1, **parts).encode()


def with_ext(entries: bytes, size: int | None = None) -> bytes:
    return B0[:-4] + (len(entries) if size is None else size).to_bytes(4, "big", signed=True) + entries


REFUSED = {
    "NV-01": (bytes.fromhex("00000003616263"), "length-too-small", (0, 4)),
    "NV-02": (bytes.fromhex("0000001902000015") + B0, "serialize-type-unknown", (4, 5)),
    "NV-03": (bytes.fromhex("00000019010000c8") + B0, "header-length-too-large", (5, 8)),
    "NV-04": (bytes.fromhex("00fffffd"), "length-too-large", (0, 4)),
    "NV-05": (bytes.fromhex("ffffffff"), "length-too-small", (0, 4)),
    "NV-06": (binary(B0[:13] + b"\xff" * 4 + bytes(4)), "string-length-negative", (21, 25)),
    "NV-07": (RawFrame(b'{"code":105,"opaque":4294967295}').encode(), "value-malformed", (29, 39)),
    "header-of-no-bytes-json": (RawFrame(b"").encode(), "header-empty", (5, 8)),
    "header-of-no-bytes-rocketmq": (binary(b""), "header-truncated", (8, 8)),
    "type-255": (RawFrame(B0, serialize_type=255).encode(), "serialize-type-unknown", (4, 5)),
    "remark-longer-than-header": (
        binary(B0[:13] + (100).to_bytes(4, "big") + bytes(100)[:8]),
        "string-length-too-large",
        (21, 25),
    ),
    "ext-longer-than-header": (binary(with_ext(b"", 100)), "ext-length-too-large", (25, 29)),
    "value-longer-than-ext": (
        binary(with_ext(b"\0\1a" + (99).to_bytes(4, "big") + b"b")),
        "string-length-too-large",
        (32, 36),
    ),
    "key-length-negative": (binary(with_ext(b"\x80\0abcdef")), "string-length-negative", (29, 31)),
    "value-runs-into-the-body": (
        binary(with_ext(b"\0\1a" + (7).to_bytes(4, "big") + b"b"), b"0123456789"),
        "header-length-too-small",
        (37, 43),
    ),
    "header-length-smaller-than-content": (
        binary(with_ext(b"\0\1a\0\0\0\1b"), b"", header_length=25),
        "header-length-too-small",
        (33, 37),
    ),
    "http": (b"GET / HTTP/1.1\r\n\r\n", "length-too-large", (0, 4)),
    "nothing": (b"", "frame-truncated", (0, 0)),
    "half-a-length-word": (b"\0\0", "frame-truncated", (0, 2)),
    "half-a-frame": (binary(B0)[:20], "frame-truncated", (4, 20)),
    "more-than-a-frame": (binary(B0) + b"x", "frame-trailing", (29, 30)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    data, code, place = REFUSED[name]
    dissection = dissect(data)
    assert dissection.command is None
    (fatal,) = dissection.fatal
    assert (fatal.code, fatal.start, fatal.end) == (code, *place)
    with pytest.raises(WireError) as refusal:
        decode(data, invalid_utf8="replace")
    assert refusal.value.diagnostics == dissection.diagnostics
    assert str(refusal.value) == fatal.message


ODD: dict[str, tuple[bytes, dict[str, Any], str, tuple[int, int]]] = {
    "OV-01": (binary(B0 + b"XYZ", b"BODY"), {"body": b"XYZB"}, "header-spare-bytes", (29, 32)),
    "OV-02": (binary(with_ext(b"", -5), b"BODY"), {"body": b"BODY"}, "ext-length-negative", (25, 29)),
    "language-99": (binary(B0[:2] + b"\x63" + B0[3:]), {"language": None}, "language-unknown", (10, 11)),
    "ext-twice": (
        binary(with_ext(b"\0\1a\0\0\0\1b" + b"\0\1a\0\0\0\1c")),
        {"ext": {"a": "c"}},
        "ext-duplicate",
        (37, 45),
    ),
    "ext-value-empty": (
        binary(with_ext(b"\0\1a\0\0\0\0")),
        {"ext": {"a": None}},
        "ext-value-empty",
        (29, 36),
    ),
    "ext-key-empty": (binary(with_ext(b"\0\0\0\0\0\1b")), {"ext": {}}, "ext-key-empty", (29, 36)),
    "remark-no-utf8": (
        binary(B0[:13] + b"\0\0\0\3a\xffb" + bytes(4)),
        {"remark": "a\ufffdb"},
        "invalid-utf8",
        (26, 27),
    ),
    "remark-encoded-surrogate": (
        binary(B0[:13] + b"\0\0\0\3\xed\xa0\x80" + bytes(4)),
        {"remark": "\ufffd"},
        "invalid-utf8",
        (25, 26),
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd(name: str) -> None:
    data, expected, code, place = ODD[name]
    command = decode(data)
    for field, value in expected.items():
        assert getattr(command, field) == value
    dissection = dissect(data)
    assert dissection.command == command
    (odd,) = dissection.diagnostics
    assert (odd.code, odd.start, odd.end, odd.fatal) == (code, *place, False)


@pytest.mark.parametrize(
    ("length", "accepted"), [(FRAME_LIMIT - 4, True), (FRAME_LIMIT - 3, False), (4, True), (3, False)]
)
@pytest.mark.parametrize("chunk", [1, 4])
def test_length_word_is_judged_as_soon_as_it_is_there(length: int, accepted: bool, chunk: int) -> None:
    buffer = FrameBuffer()
    word = length.to_bytes(4, "big")
    for start in range(0, 4, chunk):
        assert buffer.next_frame() is None
        buffer.feed(word[start : start + chunk])
    if accepted:
        assert buffer.next_frame() is None
        return
    for _ in range(2):
        with pytest.raises(WireError):
            buffer.next_frame()
        buffer.feed(binary(B0))
    assert buffer.pending == 0


def test_bytes_that_the_first_frame_lacks() -> None:
    buffer, frame = FrameBuffer(), binary(B0)
    told = [buffer.lacking]
    for start in range(len(frame)):
        buffer.feed(frame[start : start + 1])
        told.append(buffer.lacking)
    assert told == [4, 3, 2, 1, *range(len(frame) - 4, -1, -1)]
    for bad in (3, FRAME_LIMIT - 3):
        buffer = FrameBuffer()
        buffer.feed(bad.to_bytes(4, "big"))
        assert buffer.lacking == 0


def test_frame_before_a_bad_one_is_given_first() -> None:
    buffer = FrameBuffer()
    buffer.feed(binary(B0) + b"\0\0\0\0" + binary(B0))
    assert decode(buffer.next_frame() or b"") == SERVED
    with pytest.raises(WireError, match="length 0"):
        buffer.next_frame()
