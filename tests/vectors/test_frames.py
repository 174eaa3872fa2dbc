"""Every golden frame, three ways: whole, byte by byte, with more behind it; decoded, encoded, taken apart."""

from __future__ import annotations

import pytest

from harness.wire import FrameBuffer, Serialization, decode, dissect, encode, header_bytes

from .golden import FRAME_VECTORS, Vector, as_received, as_sent

ODD_ON_PURPOSE = {
    "ext-value-empty": "ext-value-empty",
    "language-NODE_JS": "",
    "ext-value-null": "ext-value-empty",
}

vectors = pytest.mark.parametrize("vector", FRAME_VECTORS, ids=str)


@vectors
def test_whole(vector: Vector) -> None:
    assert decode(vector.data) == as_received(vector.fields)
    assert decode(vector.data, engine=vector.engine) == as_received(vector.fields)


@vectors
def test_byte_by_byte(vector: Vector) -> None:
    buffer = FrameBuffer()
    for byte in vector.data[:-1]:
        buffer.feed(bytes([byte]))
        assert buffer.next_frame() is None
    buffer.feed(vector.data[-1:])
    assert buffer.next_frame() == vector.data
    assert buffer.pending == 0


@vectors
def test_with_trailing_data(vector: Vector) -> None:
    buffer = FrameBuffer()
    buffer.feed(vector.data + b"\0\0\0\x20rest")
    assert buffer.next_frame() == vector.data
    assert buffer.next_frame() is None
    assert buffer.pending == 8


@vectors
def test_bytes_equal_to_apaches_encoder(vector: Vector) -> None:
    command = as_sent(vector.fields)
    if command.serialization is Serialization.ROCKETMQ and vector.name.startswith(("send-", "pull-")):
        # A header class with a fast path writes its fields in the order of declaration, not of the map.
        command.ext = decode(vector.data).ext
    assert encode(command, vector.engine) == vector.data
    header_length = int.from_bytes(vector.data[5:8], "big")
    header = header_bytes(command)
    if command.serialization is Serialization.JSON:
        header = vector.written(header)
    assert header == vector.data[8 : 8 + header_length]


@vectors
def test_dissection(vector: Vector) -> None:
    dissection = dissect(vector.data)
    assert dissection.command == as_received(vector.fields)
    assert dissection.fatal == ()
    name = vector.name.removesuffix("-json").removesuffix("-rocketmq")
    odd = {diagnostic.code for diagnostic in dissection.diagnostics}
    assert odd <= {ODD_ON_PURPOSE.get(name)}
    for field in dissection.fields:
        assert 0 <= field.start <= field.end <= len(vector.data)
