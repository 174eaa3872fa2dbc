"""Properties: round trips, chunking, one verdict by both paths, and nothing but WireError ever escapes."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.wire import (
    Command,
    FrameBuffer,
    RawFrame,
    Serialization,
    WireError,
    decode,
    dissect,
    encode,
    header_bytes,
)
from harness.wire.codes import LANGUAGES

INT16 = st.integers(-(2**15), 2**15 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no bug

TEXT = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=12),
    st.text("abcXYZ0189./:-_%@", min_size=1, max_size=200),
)
BODIES = st.binary(max_size=64)


def commands(serialization: Serialization) -> st.SearchStrategy[Command]:
    """Commands that survive the wire unchanged."""
    is_json = serialization is Serialization.JSON
    entries = st.dictionaries(TEXT, st.one_of(TEXT, st.just("")) if is_json else TEXT, max_size=6)
    return st.builds(
        Command,
        INT32 if is_json else INT16,
        ext=st.none() | (entries if is_json else entries.map(lambda ext: ext or None)),
        flag=INT32,
        language=st.sampled_from(LANGUAGES),
        opaque=INT32,
        remark=st.none() | TEXT,
        serialization=st.just(serialization),
        version=INT32 if is_json else INT16,
        body=BODIES,
    )


COMMANDS = st.sampled_from(Serialization).flatmap(commands)
FRAMES = COMMANDS.map(encode)


@st.composite
def mangled(draw: st.DrawFn) -> bytes:
    """A good frame with some of its bytes changed, gone, or doubled."""
    frame = bytearray(draw(FRAMES))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(frame) - 1, 0)))
        match draw(st.sampled_from(("set", "remove", "insert", "double"))):
            case "set" if frame:
                frame[at] = draw(st.sampled_from((0, 1, 5, 0x22, 0x2C, 0x5C, 0x7B, 0x7F, 0x80, 0xED, 0xFF)))
            case "remove":
                del frame[at : at + draw(st.integers(1, 3))]
            case "insert":
                frame[at:at] = draw(st.binary(max_size=3))
            case _:
                frame[at:at] = frame[at : at + 8]
    if draw(st.booleans()) and len(frame) >= 4:
        frame[:4] = (len(frame) - 4).to_bytes(4, "big")
    return bytes(frame)


JSONISH = st.text("{}[]\",:\\0123456789-+.eabcdflnrtuxopqgkFE '/*\n", max_size=60).map(
    lambda text: RawFrame(("{" + text + "}").encode()).encode()
)


@relaxed
@given(COMMANDS)
def test_round_trip(command: Command) -> None:
    frame = encode(command)
    assert decode(frame) == command
    assert encode(decode(frame)) == frame


@relaxed
@given(COMMANDS)
def test_fast_path_equals_lossless_path(command: Command) -> None:
    dissection = dissect(encode(command))
    assert dissection.command == command
    assert dissection.diagnostics == ()


@relaxed
@given(st.one_of(mangled(), JSONISH, st.binary(max_size=60)))
def test_both_paths_give_the_same_verdict(frame: bytes) -> None:
    expected = dissect(frame)
    try:
        command = decode(frame, invalid_utf8="replace")
    except WireError as refusal:
        assert expected.command is None
        assert expected.fatal
        assert refusal.diagnostics == expected.diagnostics
    else:
        assert command == expected.command
        assert expected.fatal == ()
    places = [(item.start, item.end) for item in expected.diagnostics]
    places += [(item.start, item.end) for item in expected.fields]
    assert all(0 <= start <= end <= len(frame) for start, end in places)


@relaxed
@given(mangled())
def test_what_5_x_refuses_beyond_that_is_invalid_utf8_in_json(frame: bytes) -> None:
    dissection = dissect(frame)
    try:
        decode(frame)
    except WireError:
        assert dissection.fatal or "json-invalid-utf8" in {d.code for d in dissection.diagnostics}


@relaxed
@given(st.lists(FRAMES, max_size=5), st.data())
def test_frames_do_not_depend_on_how_the_stream_was_cut(frames: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    buffer = FrameBuffer()
    found = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        buffer.feed(memoryview(stream)[start:end])
        while (frame := buffer.next_frame()) is not None:
            found.append(frame)
    assert found == frames
    assert buffer.pending == 0


@relaxed
@given(COMMANDS, st.binary(max_size=8))
def test_a_raw_frame_of_legal_parts_is_the_frame(command: Command, spare: bytes) -> None:
    header = header_bytes(command)
    assert RawFrame(header, command.body, command.serialization).encode() == encode(command)
    tampered = RawFrame(
        header + spare, command.body, command.serialization, header_length=len(header)
    ).encode()
    assert decode(tampered).body == spare + command.body


def test_raw_frame_writes_what_it_is_given() -> None:
    assert RawFrame(b"h", b"b", 0x101, -1, -1).encode() == bytes.fromhex("ffffffff01ffffff") + b"hb"


@pytest.mark.parametrize("member", ["code", "flag", "opaque", "version"])
@pytest.mark.parametrize("number", [2**31, -(2**31) - 1])
def test_json_carries_int32_only(member: str, number: int) -> None:
    with pytest.raises(WireError, match="int32"):
        encode(msgspec.structs.replace(Command(-1), **{member: number}))


@pytest.mark.parametrize("language", [None, "COBOL"])
def test_a_language_without_a_number_has_no_place_in_rocketmq(language: str | None) -> None:
    with pytest.raises(WireError, match="language"):
        encode(Command(1, language=language, serialization=Serialization.ROCKETMQ))


def test_a_null_language_is_left_out_of_json() -> None:
    assert b"language" not in encode(Command(1, language=None))


@pytest.mark.parametrize(
    ("flag", "response", "oneway"),
    [(0, False, False), (1, True, False), (2, False, True), (3, True, False), (4, False, False)],
)
def test_flags(flag: int, response: bool, oneway: bool) -> None:
    command = Command(1, flag=flag)
    assert (command.is_response, command.is_oneway) == (response, oneway)


def test_long_streams_keep_no_bytes() -> None:
    frame = encode(Command(105, ext={"topic": "T"}, body=b"x" * 5000))
    buffer = FrameBuffer()
    stream = memoryview(frame * 100)
    given_back = 0
    for start in range(0, len(stream), 777):
        buffer.feed(stream[start : start + 777])
        while buffer.next_frame() is not None:
            given_back += 1
        assert buffer.pending < len(frame) + 777
    assert given_back == 100


@pytest.mark.parametrize("length", [-1, 0, 3, 4, 5, 96, 97, 1 << 30])
@pytest.mark.parametrize("behind", [b"", b"x", b"\0\0\0\4abcd"])
def test_the_next_frame_is_known_by_itself_exactly_where_gathering_gives_it_and_leaves_nothing(
    length: int, behind: bytes
) -> None:
    data = length.to_bytes(4, "big", signed=True) + bytes(max(0, min(length, 200))) + behind
    for before in (b"", b"\0\0\0\4abcd", b"\0\0"):
        buffer, other = FrameBuffer(limit=100), FrameBuffer(limit=100)
        for one in (buffer, other):
            one.feed(before)
            while before and one.next_frame() is not None:
                pass
        known = buffer.is_next(data)
        pending = other.pending
        other.feed(data)
        try:
            gathered = other.next_frame() == data and not other.pending and not pending
        except WireError:
            gathered = False
        assert known == gathered
