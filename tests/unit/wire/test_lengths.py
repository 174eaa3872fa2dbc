"""What is said about wrong lengths of frames."""

from __future__ import annotations

import pytest

from harness.wire import Command, RawFrame, Serialization, encode
from harness.wire.lengths import cut_body, wrong_lengths

HEADER = '{"code":0,"flag":1,"opaque":7,"remark":"é"}'.encode()
BODY = '{"a":{"b":"}"},"c":"é"}'.encode()
SIZE, ALL = len(HEADER), len(HEADER) + len(BODY) + 4


def frame(length: bytes | int, header: bytes | int, body: bytes = BODY) -> bytes:
    word = length if isinstance(length, bytes) else length.to_bytes(4, "big")
    size = header if isinstance(header, bytes) else header.to_bytes(3, "big")
    return word + b"\0" + size + HEADER + body


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (frame(ALL + 4, SIZE), f"the length word is {ALL + 4} instead of {ALL} (it counts its own 4 bytes)"),
        (
            frame(ALL - 4, SIZE),
            f"the length word is {ALL - 4} instead of {ALL} (it does not count the header word)",
        ),
        (
            frame(SIZE + 4, SIZE),
            f"the length word is {SIZE + 4} instead of {ALL} (it does not count the body)",
        ),
        (frame(ALL - 2, SIZE), f"the length word is {ALL - 2} instead of {ALL} (it counts characters)"),
        (frame(ALL + 77, SIZE), f"the length word is {ALL + 77} instead of {ALL}"),
        (frame(ALL, SIZE - 1), f"the header length is {SIZE - 1} instead of {SIZE} (it counts characters)"),
        (
            frame(ALL, SIZE + 4),
            f"the header length is {SIZE + 4} instead of {SIZE} (it counts the header word)",
        ),
        (
            frame(ALL, SIZE + len(BODY)),
            f"the header length is {SIZE + len(BODY)} instead of {SIZE} (it counts the body)",
        ),
        (frame(SIZE + 8, SIZE, b""), f"the length word is {SIZE + 8} instead of {SIZE + 4}"),
    ],
)
def test_a_wrong_length_is_reported(data: bytes, told: str) -> None:
    assert wrong_lengths(data).startswith(told)


def test_bytes_in_the_wrong_order_are_reported() -> None:
    told = wrong_lengths(frame(ALL.to_bytes(4, "little"), SIZE.to_bytes(3, "little")))
    assert told.count(f" instead of {ALL} (its bytes are in the wrong order)") == 1
    assert told.count(f" instead of {SIZE} (its bytes are in the wrong order)") == 1


@pytest.mark.parametrize(
    "data",
    [
        frame(ALL, SIZE),
        frame(ALL, SIZE) + frame(ALL, SIZE),
        frame(SIZE + 4, SIZE, b""),
        RawFrame(b"no JSON", b"").encode(),
        encode(Command(code=0, opaque=7, serialization=Serialization.ROCKETMQ)),
        frame(ALL + 4, SIZE)[:30],
        b"",
        b"HTTP/1.1 200 OK",
        frame(SIZE + 4 + 1000, SIZE, b""),
        frame(SIZE + 4 + 1000, SIZE, b'{"a":'),
    ],
)
def test_nothing_is_reported(data: bytes) -> None:
    assert wrong_lengths(data) == ""


def test_a_body_that_goes_on_behind_its_frame_is_reported() -> None:
    data = frame(ALL - 4, SIZE)
    assert "does not count the header word" in cut_body(data[:-4], data[-4:])
    assert cut_body(frame(ALL, SIZE), b"\0\0") == ""
    assert cut_body(frame(SIZE + 4 + 3, SIZE, b"abc"), b"\0\0") == ""
