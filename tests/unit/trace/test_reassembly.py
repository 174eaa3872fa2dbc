"""However TCP was cut, repeated and disturbed on its way into a capture: the same bytes in the same order."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.trace import Closed, Opened, Received, Sent
from harness.trace.packets import ACK, FIN, RST, SYN, Segment
from harness.trace.reassembly import HELD, Missing, Reassembly, Seen

US, TARGET = "10.0.0.1:50000", "10.0.0.2:9876"
FIRST = 4_294_967_000  # wraps soon


def segment(
    start: int,
    data: bytes = b"",
    flags: int = ACK,
    *,
    back: bool = False,
    time: float = 0.0,
    first: int = FIRST,
    acknowledged: int | None = 0,
    length: int | None = None,
) -> Segment:
    """A segment whose data begins at ``start``, counted from 0 after the SYN."""
    return Segment(
        time=time,
        source=TARGET if back else US,
        destination=US if back else TARGET,
        sequence=(first + 1 + start - (1 if flags & SYN else 0)) % (1 << 32),
        acknowledged=None if acknowledged is None else (FIRST + 1 + acknowledged) % (1 << 32),
        flags=flags,
        data=data,
        length=len(data) if length is None else length,
    )


HANDSHAKE = [segment(0, flags=SYN, acknowledged=None), segment(0, flags=SYN | ACK, back=True), segment(0)]


def seen(segments: Iterable[Segment], port: int | None = None, *, ends: bool = True) -> list[Seen]:
    reassembly = Reassembly(port)
    found = [event for one in segments for event in reassembly.add(one)]
    return found + (list(reassembly.end()) if ends else [])


def streams(events: Iterable[Seen]) -> tuple[bytes, bytes]:
    sent = b"".join(event.data for event in events if isinstance(event, Sent))
    return sent, b"".join(event.data for event in events if isinstance(event, Received))


def holes(events: Iterable[Seen]) -> list[tuple[str, int | None]]:
    return [(event.by, event.length) for event in events if isinstance(event, Missing)]


@st.composite
def disturbed(draw: st.DrawFn) -> tuple[bytes, bytes, list[Segment]]:
    """Two streams, and segments that hold all of both: cut anywhere, overlapping, repeated, in any order."""
    segments: list[Segment] = []
    made = []
    for back in (False, True):
        size, seed = draw(st.integers(0, 600)), draw(st.integers(0, 255))
        data = bytes((seed + n) & 0xFF for n in range(size))
        made.append(data)
        cuts = sorted({0, len(data), *draw(st.lists(st.integers(0, len(data)), max_size=6))})
        for start, end in itertools.pairwise(cuts):
            before = draw(st.integers(0, min(start, 30)))
            after = draw(st.integers(0, min(len(data) - end, 30)))
            copies = draw(st.sampled_from([1, 1, 1, 2]))
            segments += [segment(start - before, data[start - before : end + after], back=back)] * copies
        segments.append(segment(len(data), flags=FIN | ACK, back=back))
    return made[0], made[1], [*HANDSHAKE, *draw(st.permutations(segments))]


@settings(max_examples=100)
@given(disturbed())
def test_every_disturbance_gives_the_same_streams(given_: tuple[bytes, bytes, list[Segment]]) -> None:
    sent, received, segments = given_
    events = seen(segments)
    assert isinstance(events[0], Opened)
    assert streams(events) == (sent, received)
    assert not holes(events)
    assert sorted(event.how for event in events if isinstance(event, Closed)) == ["fin", "half"]


@settings(max_examples=100)
@given(disturbed(), st.data())
def test_only_what_is_lost_is_reported(
    given_: tuple[bytes, bytes, list[Segment]], data: st.DataObject
) -> None:
    sent, received, segments = given_
    kept = [one for one in segments[3:] if data.draw(st.booleans()) or one.flags & FIN]
    events = seen([*HANDSHAKE, *kept])
    for by, stream, kind in (("us", sent, Sent), ("target", received, Received)):
        there = bytearray(len(stream))
        for one in kept:
            if (one.source == US) == (by == "us"):
                start = (one.sequence - FIRST - 1) % (1 << 32)
                there[start : start + len(one.data)] = b"\1" * len(one.data)
        position = 0
        for event in events:
            if isinstance(event, kind):
                assert event.data == stream[position : position + len(event.data)]
                assert all(there[position : position + len(event.data)])
                position += len(event.data)
            elif isinstance(event, Missing) and event.by == by:
                assert event.length is not None
                assert not any(there[position : position + event.length])
                position += event.length
        assert not any(there[position:])


def test_a_hole_that_the_other_end_has_acknowledged_is_given_up_before_the_end() -> None:
    rest = [segment(10 + n, b"x", acknowledged=0) for n in range(40)]
    acknowledged = [segment(0, back=True, acknowledged=60)] * 1
    assert holes(seen([*HANDSHAKE, *rest], ends=False)) == []
    events = seen([*HANDSHAKE, rest[0], *acknowledged, *rest[1:]], ends=False)
    assert holes(events) == [("us", 10)]
    assert streams(events) == (b"x" * 40, b"")


def test_what_waits_is_bounded() -> None:
    piece = bytes(60_000)
    late = [segment(10 + n * len(piece), piece) for n in range(HELD // len(piece) + 2)]
    assert holes(seen([*HANDSHAKE, *late], ends=False)) == [("us", 10)]


def test_a_capture_that_begins_in_the_middle() -> None:
    middle = [segment(500, b"answer", back=True), segment(100, b"ask"), segment(103, b"again")]
    events = seen(middle)
    assert isinstance(events[0], Opened)
    assert (events[0].local, events[0].remote) == (US, TARGET)
    assert holes(events) == [("target", None), ("us", None)]
    assert streams(events) == (b"askagain", b"answer")


@pytest.mark.parametrize(("port", "local"), [(9876, US), (50_000, TARGET), (None, US)])
def test_the_target_has_the_port_that_was_asked_for_or_the_lower_one(port: int | None, local: str) -> None:
    first = seen([segment(0, b"x")], port)[0]
    assert isinstance(first, Opened)
    assert first.local == local


def test_other_ports_are_left_out() -> None:
    reassembly = Reassembly(1)
    assert not list(reassembly.add(segment(0, b"x")))
    assert reassembly.other_ports == 1


def test_a_reset_ends_both_directions() -> None:
    events = seen([*HANDSHAKE, segment(3, b"late"), segment(0, flags=RST | ACK, back=True), segment(7, b"x")])
    assert [type(event) for event in events] == [Opened, Missing, Sent, Closed]
    assert isinstance(events[-1], Closed)
    assert (events[-1].by, events[-1].how) == ("target", "reset")


def test_ports_that_are_used_again_are_another_connection() -> None:
    again = [
        segment(0, flags=SYN, first=77, acknowledged=None),
        segment(0, b"two", first=77),
    ]
    events = seen([*HANDSHAKE, segment(0, b"one"), HANDSHAKE[0], *again])
    assert [event.connection for event in events if isinstance(event, Opened)] == [1, 2]
    assert [(e.connection, e.data) for e in events if isinstance(e, Sent)] == [(1, b"one"), (2, b"two")]


def test_what_the_capture_cut_off_is_missing() -> None:
    events = seen([*HANDSHAKE, segment(0, b"abc", length=10), segment(10, b"def")])
    assert streams(events) == (b"abcdef", b"")
    assert holes(events) == [("us", 7)]


def test_what_was_sent_again_is_counted() -> None:
    reassembly = Reassembly()
    for one in (*HANDSHAKE, segment(0, b"abc"), segment(0, b"abc"), segment(5, b"x"), segment(5, b"y")):
        list(reassembly.add(one))
    assert (reassembly.repeated, reassembly.contradicting) == (2, 1)


def test_times_count_from_the_first_segment_and_never_go_back() -> None:
    reassembly = Reassembly()
    events = [
        event
        for number, one in enumerate([*HANDSHAKE, segment(0, b"a"), segment(1, b"b")])
        for event in reassembly.add(
            Segment(
                **{f: getattr(one, f) for f in one.__struct_fields__ if f != "time"},
                time=[100.0, 100.5, 101.0, 102.0, 101.0][number],
            )
        )
    ]
    assert [event.real for event in events] == [0.0, 2.0, 2.0]
