"""A capture says in TCP what the trace says in events: read here by the definitions of the formats alone."""

from __future__ import annotations

import ipaddress
import struct
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.trace import Closed, Event, Header, Note, Opened, Received, Sent, Trace, write_pcap

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


class Packet(msgspec.Struct, frozen=True):
    time: float
    source: str
    destination: str
    sequence: int
    acknowledged: int
    flags: int
    data: bytes


def packets(path: Path) -> list[Packet]:
    content = path.read_bytes()
    assert struct.unpack("<IHH", content[:8]) == (0xA1B2C3D4, 2, 4)
    assert struct.unpack("<I", content[20:24]) == (101,)
    found, at = [], 24
    while at < len(content):
        seconds, micros, size, whole = struct.unpack("<IIII", content[at : at + 16])
        assert size == whole <= 1500
        found.append(_packet(seconds + micros / 1e6, content[at + 16 : at + 16 + size]))
        at += 16 + size
    return found


def _packet(time: float, data: bytes) -> Packet:
    six = data[0] >> 4 == 6
    place, rest = (data[8:40], data[40:]) if six else (data[12:20], data[20:])
    assert (data[6] if six else data[9]) == 6
    assert len(rest) == int.from_bytes(data[4:6] if six else data[2:4], "big") - (0 if six else 20)
    if not six:
        assert _sum(data[:20]) == 0xFFFF
    assert _sum(place + struct.pack("!II", 6, len(rest)) + rest) == 0xFFFF
    half = len(place) // 2
    source_port, port, sequence, acknowledged, offset, flags = struct.unpack("!HHIIBB", rest[:14])
    source, destination = (ipaddress.ip_address(part) for part in (place[:half], place[half:]))
    return Packet(
        time=time,
        source=f"{source}:{source_port}",
        destination=f"{destination}:{port}",
        sequence=sequence,
        acknowledged=acknowledged,
        flags=flags,
        data=rest[(offset >> 4) * 4 :],
    )


def _sum(data: bytes) -> int:
    padded = data + b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def written(directory: Path, *events: Event, started: float = 1.7e9) -> list[Packet]:
    write_pcap(directory / "t.pcap", Trace(Header(started=started), events))
    return packets(directory / "t.pcap")


def opened(connection: int = 1, at: float = 0.0) -> Opened:
    return Opened(
        real=at, protocol=at, connection=connection, local="127.0.0.1:50001", remote="127.0.0.1:9876"
    )


def flags(found: list[Packet]) -> list[tuple[str, int]]:
    return [(packet.source.rpartition(":")[2], packet.flags) for packet in found]


def test_a_conversation_is_a_handshake_data_and_a_close(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        opened(),
        Sent(real=0.1, protocol=1.0, connection=1, data=b"ask"),
        Note(real=0.2, protocol=2.0, text="advance 130 s"),
        Received(real=0.2, protocol=131.0, connection=1, data=b"answer"),
        Closed(real=0.3, protocol=131.5, connection=1, by="target", how="fin"),
    )
    us, target = "50001", "9876"
    assert flags(found) == [
        *((us, SYN), (target, SYN | ACK), (us, ACK)),
        *((us, PSH | ACK), (target, PSH | ACK)),
        *((target, FIN | ACK), (us, ACK), (us, FIN | ACK), (target, ACK)),
    ]
    assert found[3].data == b"ask"
    assert found[4].data == b"answer"
    assert found[4].acknowledged == found[3].sequence + 3
    # The first event is at the beginning, times are the target's own.
    assert [round(found[n].time - 1.7e9, 3) for n in (0, 3, 4, 5)] == [0.0, 1.0, 131.0, 131.5]


@pytest.mark.parametrize(
    ("by", "source"),
    [("us", "50001"), ("target", "9876")],
)
def test_a_reset_ends_everything_and_swallows_what_comes_later(tmp_path: Path, by: str, source: str) -> None:
    found = written(
        tmp_path,
        opened(),
        Closed(real=1, protocol=1, connection=1, by=by, how="reset"),  # type: ignore[arg-type]
        Sent(real=2, protocol=2, connection=1, data=b"never on the wire"),
    )
    assert flags(found[3:]) == [(source, RST | ACK)]


def test_half_a_close_leaves_the_other_half(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        opened(),
        Closed(real=1, protocol=1, connection=1, by="us", how="half"),
        Received(real=2, protocol=2, connection=1, data=b"still"),
    )
    assert [packet.data for packet in found if packet.data] == [b"still"]
    assert flags(found[-3:]) == [("9876", PSH | ACK), ("9876", FIN | ACK), ("50001", ACK)]


def test_what_is_open_at_the_end_stays_open(tmp_path: Path) -> None:
    assert not [packet for packet in written(tmp_path, opened()) if packet.flags & (FIN | RST)]


def test_a_port_that_is_used_again_is_another_connection(tmp_path: Path) -> None:
    found = written(tmp_path, opened(1), opened(2))
    assert found[0].source == found[3].source
    assert found[0].sequence != found[3].sequence


@pytest.mark.parametrize(
    ("local", "remote", "source", "destination"),
    [
        ("[::1]:5", "[::1]:6", "::1:5", "::1:6"),
        ("10.0.0.1:5", "[::1]:6", "::ffff:10.0.0.1:5", "::1:6"),
        ("somewhere", "", "192.0.2.1:20001", "192.0.2.2:9876"),
    ],
)
def test_addresses(tmp_path: Path, local: str, remote: str, source: str, destination: str) -> None:
    found = written(tmp_path, Opened(real=0, protocol=0, connection=1, local=local, remote=remote))
    expected = {source, source.replace("::ffff:10.0.0.1", "::ffff:a00:1")}
    assert found[0].source in expected
    assert found[0].destination == destination


def test_an_event_without_its_opening_gets_a_handshake(tmp_path: Path) -> None:
    found = written(tmp_path, Received(real=0, protocol=0, connection=7, data=b"x"))
    assert found[0].flags == SYN
    assert found[-1].data == b"x"


moves = st.lists(
    st.tuples(
        st.integers(1, 3),
        st.sampled_from(["sent", "received", "us fin", "us half", "target fin", "target reset", "note"]),
        st.sampled_from([0, 1, 1440, 1460, 1461, 70_000]),
        st.floats(0, 200),
    ),
    max_size=12,
)


@settings(max_examples=40)
@given(moves=moves, six=st.booleans())
def test_every_byte_is_there_once_in_order_and_acknowledgements_are_true(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[int, str, int, float]], six: bool
) -> None:
    events: list[Event] = []
    host = "[::1]" if six else "127.0.0.1"
    expected: dict[tuple[str, str], bytearray] = {}
    for n in (1, 2, 3):
        events.append(Opened(real=0, protocol=0, connection=n, local=f"{host}:{n}", remote=f"{host}:9876"))
    ended: set[tuple[int, str]] = set()
    now = 0.0
    for number, (connection, what, size, pause) in enumerate(moves):
        now += pause
        at = {"real": now, "protocol": now, "connection": connection}
        if what == "note":
            events.append(Note(text="remark", **at))  # type: ignore[arg-type]
        elif what in ("sent", "received"):
            data = bytes([number]) * size
            events.append((Sent if what == "sent" else Received)(data=data, **at))  # type: ignore[arg-type]
            if (connection, what) not in ended:
                port = f"{host.strip('[]')}:{connection}", f"{host.strip('[]')}:9876"
                expected.setdefault(port if what == "sent" else port[::-1], bytearray()).extend(data)
        else:
            by, how = what.split()
            events.append(Closed(by=by, how=how, **at))  # type: ignore[arg-type]
            already = (connection, "sent" if by == "us" else "received") in ended
            ended.add((connection, "sent" if by == "us" else "received"))
            if how == "reset" and not already:
                ended |= {(connection, "sent"), (connection, "received")}
    found = written(tmp_path_factory.mktemp("pcap"), *events)
    assert [packet.time for packet in found] == sorted(packet.time for packet in found)
    seen: dict[tuple[str, str], bytearray] = {}
    position: dict[tuple[str, str], int] = {}
    acknowledged: dict[tuple[str, str], int] = {}
    for packet in found:
        way = packet.source, packet.destination
        if not packet.flags & SYN:
            assert packet.sequence == position[way], "bytes missing or twice"
        if packet.flags & ACK:
            assert packet.acknowledged == position[way[::-1]], "acknowledges what was not sent"
            acknowledged[way[::-1]] = packet.acknowledged
        if way in acknowledged:
            assert (packet.sequence - acknowledged[way]) & 0xFFFF_FFFF <= 65_536 + 1460, "over the window"
        consumed = len(packet.data) + bool(packet.flags & (SYN | FIN))
        position[way] = (packet.sequence + consumed) & 0xFFFF_FFFF
        seen.setdefault(way, bytearray()).extend(packet.data)
    assert {way: bytes(data) for way, data in seen.items() if data} == {
        way: bytes(data) for way, data in expected.items() if data
    }
