"""A trace as a capture file that Wireshark opens: the bytes as TCP would have carried them.

- What a trace holds is exact: bytes, order, who closed and how. What it cannot hold is made up so that it is
  plain and the same each time: handshakes, sequence numbers, acknowledgements, the size of segments.
- What TLS carried is written in clear, as the trace has it. Bytes that were never on the wire, because the
  connection had been reset or closed by then, are left out, and so are remarks.
- Times are the target's own (protocol seconds) after ``Header.started``, because a lease is a lease there
  only; each packet is at least a microsecond after the one before it, so that their order is seen.
- The standard library is enough. The file is whole after every event.

Format: the classic one of libpcap (magic a1b2c3d4, microseconds), packets begin with the IP header
(LINKTYPE_RAW, 101).
"""

from __future__ import annotations

import ipaddress
import struct
from pathlib import Path
from typing import BinaryIO, Final

from harness.trace.events import Closed, Event, Note, Opened, Sent
from harness.trace.store import Trace

_MAGIC: Final = 0xA1B2C3D4
_LINKTYPE_RAW: Final = 101
_LONGEST: Final = 262_144
_FIN, _SYN, _RST, _PSH, _ACK = 1, 2, 4, 8, 16
_MTU: Final = 1500
_WINDOW: Final = 65_535
_SCALE: Final = 7
_IN_FLIGHT: Final = 65_536
"""Bytes after which the other side is seen to acknowledge, well below the window."""
_TCP: Final = 6


class _End:
    """One end of a connection."""

    def __init__(self, address: bytes, port: int, first: int) -> None:
        self.address = address
        self.port = port
        self.next = first
        """The sequence number of what it sends next."""
        self.acknowledged = first
        """Up to where the other end has said that it has it."""
        self.closed = False


class _Connection:
    def __init__(self, number: int, local: str, remote: str) -> None:
        us, our_port = _endpoint(local, number, "192.0.2.1")
        target, port = _endpoint(remote, 0, "192.0.2.2")
        if len(us) != len(target):
            us, target = _as_six(us), _as_six(target)
        # Numbers that lie far apart: a port that is used again is a new connection to a reader.
        self.us = _End(us, our_port, number * 0x2545_F491 & 0xFFFF_FFFF)
        self.target = _End(target, port, number * 0x9E37_79B1 & 0xFFFF_FFFF)
        self.largest = _MTU - (60 if len(us) == 16 else 40)


class PcapWriter:
    """Writes events, as they happen, to a binary file; ``started`` is Unix time in seconds.

    Of a connection that was finished nothing is kept. Closing the file is up to who opened it.
    """

    def __init__(self, file: BinaryIO, *, started: float = 0.0) -> None:
        self._file = file
        self._started = started
        self._begun: float | None = None
        self._last = -1
        self._connections: dict[int, _Connection] = {}
        file.write(struct.pack("<IHHiIII", _MAGIC, 2, 4, 0, 0, _LONGEST, _LINKTYPE_RAW))

    def add(self, event: Event) -> None:
        """Writes the packets of one event at one blow."""
        if isinstance(event, Note):
            return
        if self._begun is None:
            self._begun = event.protocol
        moment = self._started + max(0.0, event.protocol - self._begun)
        if isinstance(event, Opened):
            packets = self._open(event.connection, event.local, event.remote)
        else:
            packets = []
            if event.connection not in self._connections:  # a part of a trace
                packets = self._open(event.connection, "", "")
            connection = self._connections[event.connection]
            if isinstance(event, Closed):
                packets += _close(connection, event)
            elif isinstance(event, Sent):
                packets += _data(connection, connection.us, connection.target, event.data)
            else:
                packets += _data(connection, connection.target, connection.us, event.data)
        self._write(moment, packets)

    def finish(self, number: int) -> None:
        """Nothing more comes of this connection: an end that has not been seen to close, although the other
        one has, does so now.
        """
        connection = self._connections.pop(number, None)
        if connection is None:
            return
        for end, other in ((connection.us, connection.target), (connection.target, connection.us)):
            if other.closed and not end.closed:
                self._write(0.0, _finish(end, other))

    def _open(self, number: int, local: str, remote: str) -> list[bytes]:
        connection = self._connections[number] = _Connection(number, local, remote)
        us, target = connection.us, connection.target
        options = struct.pack("!BBHBBBB", 2, 4, connection.largest, 1, 3, 3, _SCALE)
        return [
            _packet(us, target, _SYN, options=options),
            _packet(target, us, _SYN | _ACK, options=options),
            _packet(us, target, _ACK),
        ]

    def _write(self, moment: float, packets: list[bytes]) -> None:
        records = []
        for packet in packets:
            self._last = max(round(moment * 1e6), self._last + 1)
            seconds, micros = divmod(self._last, 1_000_000)
            size = len(packet)
            records.append(struct.pack("<IIII", seconds & 0xFFFF_FFFF, micros, size, size) + packet)
        self._file.write(b"".join(records))
        self._file.flush()


def write_pcap(path: Path, trace: Trace) -> None:
    """Writes a trace as a capture; an existing file is replaced whole or not at all."""
    last = {
        event.connection: number
        for number, event in enumerate(trace.events)
        if not isinstance(event, Note) and event.connection is not None
    }
    partial = path.with_name(path.name + ".partial")
    partial.parent.mkdir(parents=True, exist_ok=True)
    with partial.open("wb") as file:
        writer = PcapWriter(file, started=trace.header.started)
        for number, event in enumerate(trace.events):
            writer.add(event)
            if not isinstance(event, Note) and last[event.connection] == number:
                writer.finish(event.connection)
    partial.replace(path)


def _data(connection: _Connection, end: _End, other: _End, data: bytes) -> list[bytes]:
    """The segments of some bytes, the last one pushed, and what the other end acknowledges meanwhile."""
    if end.closed:  # swallowed: the connection was gone
        return []
    packets = []
    for start in range(0, len(data), connection.largest):
        if (end.next - end.acknowledged) & 0xFFFF_FFFF >= _IN_FLIGHT:
            packets.append(_packet(other, end, _ACK))
        piece = data[start : start + connection.largest]
        pushed = _PSH if start + len(piece) == len(data) else 0
        packets.append(_packet(end, other, _ACK | pushed, piece))
    return packets


def _close(connection: _Connection, event: Closed) -> list[bytes]:
    us, target = connection.us, connection.target
    end, other = (us, target) if event.by == "us" else (target, us)
    if end.closed:
        return []
    if event.how == "reset":
        end.closed = other.closed = True
        return [_packet(end, other, _RST | _ACK)]
    return _finish(end, other)


def _finish(end: _End, other: _End) -> list[bytes]:
    end.closed = True
    return [_packet(end, other, _FIN | _ACK), _packet(other, end, _ACK)]


def _packet(end: _End, other: _End, flags: int, data: bytes = b"", options: bytes = b"") -> bytes:
    """One IP packet from ``end`` to ``other``; moves their numbers on."""
    acknowledged = other.next if flags & _ACK else 0
    if flags & _ACK:
        other.acknowledged = other.next
    options += b"\0" * (-len(options) % 4)
    offset_and_flags = (20 + len(options)) // 4 << 12 | flags
    header = struct.pack(
        "!HHIIHHHH", end.port, other.port, end.next, acknowledged, offset_and_flags, _WINDOW, 0, 0
    )
    segment = header + options + data
    size = len(segment)
    addresses, six = end.address + other.address, len(end.address) == 16
    pseudo = addresses + (struct.pack("!II", size, _TCP) if six else struct.pack("!HH", _TCP, size))
    segment = segment[:16] + struct.pack("!H", _checksum(pseudo + segment)) + segment[18:]
    end.next = end.next + len(data) + bool(flags & (_SYN | _FIN)) & 0xFFFF_FFFF
    if six:
        return struct.pack("!IHBB", 6 << 28, size, _TCP, 64) + addresses + segment
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + size, 0, 0x4000, 64, _TCP, 0)
    ip = ip[:10] + struct.pack("!H", _checksum(ip + addresses))
    return ip + addresses + segment


def _checksum(data: bytes) -> int:
    """The one's complement of the one's complement sum of 16-bit words (RFC 1071): a sum modulo 65535."""
    rest: int = int.from_bytes(data + b"\0" * (len(data) % 2), "big") % 65_535
    return 65_535 - rest if rest else 0


def _endpoint(address: str, number: int, otherwise: str) -> tuple[bytes, int]:
    """Address and port of ``ip:port`` or ``[ip]:port``; made up where it is neither."""
    host, _, port = address.rpartition(":")
    made_up = 9876 if not number else 20_000 + number % 40_000
    try:
        return ipaddress.ip_address(host.strip("[]")).packed, int(port) & 0xFFFF
    except ValueError:
        return ipaddress.ip_address(otherwise).packed, made_up


def _as_six(address: bytes) -> bytes:
    return address if len(address) == 16 else bytes(10) + b"\xff\xff" + address
