"""From a capture file to the TCP segments in it.

- Files (pcap, pcapng, either byte order, compressed with gzip or not) and what lies below TCP (Ethernet,
  VLAN, loopback, raw IP, Linux cooked captures, IPv4, IPv6) are scapy's to read: nothing of it is here.
- One packet at a time is in memory. What holds no TCP is counted.
- scapy is imported when a capture is read, for it takes a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

FIN: Final = 1
SYN: Final = 2
RST: Final = 4
ACK: Final = 16
"""Flags of a segment."""

_LONGEST: Final = 1 << 18

_MAGICS: Final = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",
    b"\x1f\x8b",
)


class CaptureError(ValueError):
    """A file is not a capture that can be read; the message says why and what to do."""


class Segment(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One TCP segment. ``time`` is Unix time in seconds; ``source`` and ``destination`` are ``ip:port``."""

    time: float
    source: str
    destination: str
    sequence: int
    acknowledged: int | None
    flags: int
    data: bytes
    length: int
    """Bytes that it carried; more than those of ``data`` where the capture cut the packet."""


def is_capture(begins: bytes) -> bool:
    """Whether a file that begins so is one of packets."""
    return begins.startswith(_MAGICS)


class Capture:
    """The segments of a file, and beside them what was seen in it.

    Iterate once. Raises ``CaptureError`` where the file is none, and where scapy is not installed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.packets = 0
        self.others = 0
        """Packets that hold no TCP, or a later part of a packet that IP has cut into pieces."""
        self.cut = 0
        """Packets of which the capture has kept a part only."""
        self.read = 0
        """Bytes of the file that have been read, about."""

    def __iter__(self) -> Iterator[Segment]:
        try:
            from scapy.error import Scapy_Exception
            from scapy.layers import inet6, l2  # their link types and headers become known by this
            from scapy.layers.inet import TCP
            from scapy.utils import PcapReader
        except ImportError as problem:
            raise CaptureError(
                "reading captures needs scapy, which is not installed: pip install 'rmq-harness[pcap]'"
            ) from problem
        assert inet6, l2
        try:
            reader = PcapReader(str(self.path))
        except (Scapy_Exception, EOFError, OSError) as problem:
            raise CaptureError(f"{self.path}: expected a capture (pcap or pcapng): {problem}") from problem
        with reader:
            while True:
                try:
                    # Loopback carries packets of 64 KiB and a header, more than scapy takes by itself.
                    packet = reader.read_packet(_LONGEST, stop_dissection_after=TCP)
                except EOFError:
                    return
                self.packets += 1
                self.read += len(packet.original) + 16
                tcp = packet.getlayer(TCP)
                if tcp is None:
                    self.others += 1
                    continue
                yield self._segment(packet, tcp)

    def _segment(self, packet: Any, tcp: Any) -> Segment:
        network, between = tcp.underlayer, 0
        while network.name not in ("IP", "IPv6"):  # extension headers
            between += len(network.original) - len(network.payload.original)
            network = network.underlayer
        header = tcp.dataofs * 4
        carried = network.len - network.ihl * 4 if network.name == "IP" else network.plen - between
        length = max(len(tcp.original), carried) - header
        data: bytes = tcp.original[header:]
        self.cut += len(data) < length
        flags = int(tcp.flags)
        return Segment(
            time=float(packet.time),
            source=_place(network.src, tcp.sport),
            destination=_place(network.dst, tcp.dport),
            sequence=tcp.seq,
            acknowledged=tcp.ack if flags & ACK else None,
            flags=flags,
            data=data,
            length=max(length, 0),
        )


def _place(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
