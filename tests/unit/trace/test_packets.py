"""Captures are read whatever lies below TCP, and what was written is read back."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.trace import Closed, Event, Header, Opened, Received, Sent, Trace, write_pcap
from harness.trace.packets import Capture, CaptureError, is_capture
from harness.trace.reassembly import Reassembly

l2: Any = pytest.importorskip("scapy.layers.l2")
inet: Any = pytest.importorskip("scapy.layers.inet")
inet6: Any = pytest.importorskip("scapy.layers.inet6")
utils: Any = pytest.importorskip("scapy.utils")

DATA = bytes(range(256))


def four() -> Any:
    return inet.IP(src="10.0.0.1", dst="10.0.0.2")


def six() -> Any:
    return inet6.IPv6(src="fd00::1", dst="fd00::2")


def tcp(length: int = 256) -> Any:
    return inet.TCP(sport=50_000, dport=9876, flags="PA", seq=7, ack=9) / DATA[:length]


LINKS: dict[str, tuple[int, Callable[[], Any]]] = {
    "Ethernet": (1, lambda: l2.Ether() / four() / tcp()),
    "Ethernet, padded": (1, lambda: l2.Ether() / four() / tcp(2) / (b"\0" * 40)),
    "VLAN": (1, lambda: l2.Ether() / l2.Dot1Q(vlan=5) / four() / tcp()),
    "VLAN in VLAN": (1, lambda: l2.Ether() / l2.Dot1Q(vlan=5) / l2.Dot1Q(vlan=6) / six() / tcp()),
    "loopback": (0, lambda: l2.Loopback() / four() / tcp()),
    "raw IPv4": (101, lambda: four() / tcp()),
    "raw IPv6": (101, lambda: six() / tcp()),
    "IPv6 alone": (229, lambda: six() / inet6.IPv6ExtHdrHopByHop() / tcp()),
    "SLL": (113, lambda: l2.CookedLinux(proto=0x0800) / four() / tcp()),
    "SLL2": (276, lambda: l2.CookedLinuxV2(proto=0x86DD) / six() / tcp()),
}


def file(path: Path, link: str, *, ng: bool = False) -> Path:
    link_type, make = LINKS[link]
    packet = make()
    if "padded" in link:  # the padding is no part of the IP packet
        packet[inet.IP].len = 20 + 20 + 2
    writer = (utils.PcapNgWriter if ng else utils.PcapWriter)(
        str(path), **({} if ng else {"linktype": link_type})
    )
    packet.time = 12.25
    writer.write(packet)
    writer.close()
    return path


@pytest.mark.parametrize("link", LINKS)
def test_link_types(link: str, tmp_path: Path) -> None:
    capture = Capture(file(tmp_path / "a.pcap", link))
    (segment,) = capture
    expected = DATA[:2] if "padded" in link else DATA
    assert (segment.data, segment.length) == (expected, len(expected))
    is_six = segment.source.startswith("[")
    assert segment.source == ("[fd00::1]:50000" if is_six else "10.0.0.1:50000")
    assert segment.destination == ("[fd00::2]:9876" if is_six else "10.0.0.2:9876")
    assert (segment.sequence, segment.acknowledged, segment.time) == (7, 9, 12.25)


def test_pcapng_and_gzip(tmp_path: Path) -> None:
    ng = file(tmp_path / "a.pcapng", "Ethernet", ng=True)
    plain = file(tmp_path / "a.pcap", "Ethernet")
    packed = tmp_path / "a.pcap.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (ng, plain, packed):
        assert is_capture(path.read_bytes())
        assert [one.data for one in Capture(path)] == [DATA]


def test_packets_larger_than_64_kib_as_loopback_has_them(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    packet = l2.Ether() / four() / inet.TCP(sport=1, dport=9876, flags="A") / bytes(65_495)
    utils.wrpcap(str(path), [packet])
    (segment,) = Capture(path)
    assert (len(segment.data), segment.length) == (65_495, 65_495)


def test_what_the_capture_cut_and_what_is_no_tcp_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    whole = bytes(l2.Ether() / four() / tcp())
    writer = utils.RawPcapWriter(str(path), linktype=1)
    for data in (whole[:100], bytes(l2.Ether() / four() / inet.UDP()), b"\1\2\3", whole):
        writer.write(data)
    writer.close()
    capture = Capture(path)
    first, last = capture
    assert (len(first.data), first.length, len(last.data)) == (46, 256, 256)
    assert (capture.packets, capture.others, capture.cut) == (4, 2, 1)


def test_a_file_that_ends_in_the_middle_is_read_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    utils.wrpcap(str(path), [l2.Ether() / four() / tcp()] * 2)
    path.write_bytes(path.read_bytes()[:-300])
    assert next(len(one.data) for one in Capture(path)) == 256


def test_no_capture(tmp_path: Path) -> None:
    (tmp_path / "a.pcap").write_bytes(b"\xd4\xc3\xb2\xa1")
    with pytest.raises(CaptureError, match="expected a capture"):
        list(Capture(tmp_path / "a.pcap"))


moves = st.lists(
    st.tuples(st.integers(1, 2), st.booleans(), st.binary(min_size=1, max_size=4000)), max_size=8
)


@settings(max_examples=40)
@given(moves=moves, six=st.booleans())
def test_what_was_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[int, bool, bytes]], six: bool
) -> None:
    host = "[::1]" if six else "127.0.0.1"
    events: list[Event] = [
        Opened(real=0, protocol=0, connection=n, local=f"{host}:{50_000 + n}", remote=f"{host}:9876")
        for n in (1, 2)
    ]
    for number, (connection, ours, data) in enumerate(moves, start=1):
        kind = Sent if ours else Received
        events.append(kind(real=number, protocol=number, connection=connection, data=data))
    events.append(Closed(real=9, protocol=9, connection=1, by="target", how="reset"))
    path = tmp_path_factory.mktemp("round") / "a.pcap"
    write_pcap(path, Trace(Header(started=1e9), tuple(events)))
    reassembly = Reassembly()
    found = [one for segment in Capture(path) for one in reassembly.add(segment)]
    assert not list(reassembly.end())
    assert _told(found) == _told(events)


def _told(events: list[Any]) -> list[tuple[Any, ...]]:
    """What happened, the pieces of a stream put together."""
    told: list[list[Any]] = []
    for event in events:
        if isinstance(event, Sent | Received):
            same = told and told[-1][:2] == [type(event), event.connection]
            if same:
                told[-1][2] += event.data
            else:
                told.append([type(event), event.connection, event.data])
        elif isinstance(event, Opened):
            told.append([Opened, event.connection, event.local, event.remote])
        else:
            told.append([Closed, event.connection, event.by, event.how])
    return [tuple(one) for one in told]
