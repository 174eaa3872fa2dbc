"""The scapy layers and the codec describe one format: on golden frames, on generated ones, on illegal ones.

`RMQ_FRAMES` is the number of generated frames (200 unless it is set).
"""

from __future__ import annotations

import os
import zlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.trace.scapy_layers import BinaryHeader, Body, DeflatedBody, ExtField, Frame, JsonHeader, cut
from harness.wire import Command, RawFrame, Serialization, decode, dissect, encode
from harness.wire.codes import LANGUAGE_NUMBERS, LANGUAGES

from .golden import FRAME_VECTORS, Vector, as_received

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12) | st.text("abXY09./:-_%@", min_size=1)


def commands(serialization: Serialization) -> st.SearchStrategy[Command]:
    """Commands that survive the wire unchanged."""
    is_json = serialization is Serialization.JSON
    code = st.integers(-(2**31), 2**31 - 1) if is_json else st.integers(-(2**15), 2**15 - 1)
    ext = st.dictionaries(TEXT, TEXT | st.just("") if is_json else TEXT, max_size=6)
    return st.builds(
        Command,
        code,
        ext=st.none() | (ext if is_json else ext.map(lambda ext: ext or None)),
        flag=st.integers(-(2**31), 2**31 - 1),
        language=st.sampled_from(LANGUAGES),
        opaque=st.integers(-(2**31), 2**31 - 1),
        remark=st.none() | TEXT,
        serialization=st.just(serialization),
        version=code,
        body=st.binary(max_size=64),
    )


def meaning(command: Command) -> dict[str, Any]:
    return {
        "code": command.code,
        "extFields": command.ext,
        "flag": command.flag,
        "language": command.language,
        "opaque": command.opaque,
        "remark": command.remark,
        "version": command.version,
    }


def built(command: Command) -> bytes:
    """The frame of a command, by the layers alone."""
    header: JsonHeader | BinaryHeader
    if command.serialization is Serialization.JSON:
        header = JsonHeader.of(
            [(name, value) for name, value in meaning(command).items() if value is not None]
        )
    else:
        header = BinaryHeader(
            code=command.code,
            language=LANGUAGE_NUMBERS[command.language or "JAVA"],
            version=command.version,
            opaque=command.opaque,
            flag=command.flag,
            remark=(command.remark or "").encode(),
            ext=[ExtField(key=k.encode(), value=(v or "").encode()) for k, v in (command.ext or {}).items()],
        )
    body = Body(data=command.body) if command.body else None
    return bytes(Frame(serialization=int(command.serialization), header=header, body=body))


@pytest.mark.parametrize("vector", FRAME_VECTORS, ids=str)
def test_golden(vector: Vector) -> None:
    frame = Frame(vector.data)
    command = as_received(vector.fields)
    assert frame.values() == meaning(command)
    assert bytes(frame) == vector.data
    assert decode(built(command)) == command
    if command.serialization is Serialization.ROCKETMQ and not vector.name.startswith(
        ("ext-value", "send-", "pull-")
    ):
        assert built(command) == vector.data


@settings(
    max_examples=int(os.environ.get("RMQ_FRAMES", "200")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.sampled_from(Serialization).flatmap(commands))
def test_generated(command: Command) -> None:
    data = encode(command)
    frame = Frame(data)
    assert frame.values() == meaning(command)
    assert (bytes(frame.body) if frame.body else b"") == command.body
    assert bytes(frame) == data
    assert decode(built(command)) == command


@settings(deadline=None)
@given(
    st.binary(max_size=80),
    st.integers(0, 255),
    st.none() | st.integers(-5, 90),
    st.none() | st.integers(0, 90),
)
def test_whatever_is_dissected_is_built_again(
    header: bytes, kind: int, length: int | None, header_length: int | None
) -> None:
    data = RawFrame(header, b"body", kind, length, header_length).encode()
    assert bytes(Frame(data)) == data


ILLEGAL = {
    "length": (Frame(length=3, header=JsonHeader()), "length-too-small"),
    "type": (Frame(serialization=9, header=BinaryHeader()), "serialize-type-unknown"),
    "header length": (Frame(header_length=99, header=JsonHeader()), "header-length-too-large"),
    "no header": (Frame(), "header-empty"),
    "name twice": (Frame(header=JsonHeader.of([("code", 1), ("code", 2)])), "member-duplicate"),
    "remark length": (
        Frame(serialization=1, header=BinaryHeader(remark_length=2**32 - 1)),
        "string-length-negative",
    ),
    "ext length": (Frame(serialization=1, header=BinaryHeader(ext_length=500)), "ext-length-too-large"),
    "key length": (
        Frame(serialization=1, header=BinaryHeader(ext=[ExtField(key_length=0x8000, key=b"a", value=b"b")])),
        "string-length-negative",
    ),
    "key twice": (
        Frame(serialization=1, header=BinaryHeader(ext=[ExtField(key=b"a", value=b"b")] * 2)),
        "ext-duplicate",
    ),
    "spare bytes": (Frame(serialization=1, header=BinaryHeader(spare=b"abc")), "header-spare-bytes"),
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_values_are_held(name: str) -> None:
    frame, diagnostic = ILLEGAL[name]
    data = bytes(frame)
    assert diagnostic in {found.code for found in dissect(data).diagnostics}
    assert bytes(Frame(data)) == data


@pytest.mark.parametrize("serialization", list(Serialization))
def test_a_body_that_is_said_to_be_compressed_is_inflated(serialization: Serialization) -> None:
    packed = zlib.compress(b"topics" * 20, 9)
    command = Command(103, ext={"compressed": "true"}, serialization=serialization, body=packed)
    data = encode(command)
    body = Frame(data).body
    assert isinstance(body, DeflatedBody)
    assert body.data == b"topics" * 20
    assert bytes(Frame(data)) == data
    command.body = b"no zlib"
    assert Frame(encode(command)).body.data == b"no zlib"
    command.code = 105
    assert isinstance(Frame(encode(command)).body, Body)
    anew = Frame(header=JsonHeader.of([("code", 103)]), body=DeflatedBody(data=b"topics"))
    assert zlib.decompress(decode(bytes(anew)).body) == b"topics"


def test_a_stream_is_cut_into_frames() -> None:
    one, two = encode(Command(105, opaque=1)), encode(Command(106, opaque=2, body=b"x"))
    frames, rest = cut(one + two + one[:7])
    assert [frame.values()["opaque"] for frame in frames] == [1, 2]
    assert rest == one[:7]
    assert cut(b"GET / HTTP/1.1") == ([], b"GET / HTTP/1.1")
    both = Frame(one + two)
    assert isinstance(both.payload, Frame)
    assert both.payload.values()["code"] == 106


def test_tcp_is_gathered_until_a_frame_is_whole() -> None:
    data = encode(Command(105, opaque=7))
    assert Frame.tcp_reassemble(data[:3], {}, {}) is None
    assert Frame.tcp_reassemble(data[:-1], {}, {}) is None
    assert bytes(Frame.tcp_reassemble(data, {}, {})) == data
    assert Frame.tcp_reassemble(b"\xff\xff\xff\xffrest", {}, {}) is not None
