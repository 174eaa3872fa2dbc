"""Recordings can be read back, and a damaged file is distinguished from one that ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.trace import (
    Closed,
    Header,
    Note,
    Opened,
    Received,
    Recorder,
    Sent,
    TraceError,
    read_trace,
    write_trace,
)


def recorded() -> Recorder:
    moments = iter(range(100))
    recorder = Recorder(
        Header(target="builtin:", profile="5.3", case="c", clock="virtual", warp=0.0, nonce="abc"),
        real=lambda: float(next(moments)),
        protocol=lambda: 7.5,
    )
    recorder.name("T-abc", "T")
    assert recorder.opened(1, "127.0.0.1:1", "127.0.0.1:2") == 0
    assert recorder.sent(1, bytes(range(256)), "probe") == 1
    assert recorder.received(1, b"\xff\x00") == 2
    recorder.note("advance 3 s")
    recorder.closed_by_target(1, "reset")
    recorder.closed_by_us(2, "half")
    return recorder


def test_a_trace_comes_back_as_it_was(tmp_path: Path) -> None:
    trace = recorded().trace
    write_trace(tmp_path / "deep" / "a.trace", trace)
    again = read_trace(tmp_path / "deep" / "a.trace")
    assert again == trace
    assert again.header.names == {"T-abc": "T"}
    assert [type(event) for event in again.events] == [Opened, Sent, Received, Note, Closed, Closed]
    assert again.events[1].data == bytes(range(256))
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["a.trace"]


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "a.trace"
    write_trace(file, recorded().trace)
    file.write_bytes(file.read_bytes()[:-10])
    assert len(read_trace(file).events) == 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "found an empty file"),
        (b"nonsense\n", "line 1: expected the header"),
        (b'{"event":"note","real":0,"protocol":0,"text":""}\n', "line 1: expected the header"),
        (b'{"event":"trace","format":2}\n', "format 2; this version reads format 1"),
        (b'{"event":"trace"}\n{"event":"dance"}\n', "line 2: expected an event"),
    ],
)
def test_what_is_no_trace_is_said_to_be_none(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "a.trace"
    file.write_bytes(content)
    with pytest.raises(TraceError, match=message):
        read_trace(file)
