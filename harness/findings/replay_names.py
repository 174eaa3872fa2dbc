"""New names for recorded ones: the same bytes, about things that a server does not know yet.

New names have the length of the old ones. Lengths and checksums that were right are right again; those that
were wrong stay wrong. Opaques stay: they belong to a connection, and the connections are new. The script of a
finding holds a copy of this file: Python 3.8, standard library.
"""

from __future__ import annotations

import re
import zlib
from typing import Callable, Iterable, Iterator, Sequence  # noqa: UP035  (Python 3.8)

LONGEST_FRAME = 16 * 1024 * 1024


class Renaming:
    """New names for old ones, of the same length. `choose(n)` gives a number below n."""

    def __init__(self, nonces: Iterable[str], addresses: Iterable[str], choose: Callable[[int], int]) -> None:
        pairs = {nonce: _other_nonce(nonce, choose) for nonce in sorted(nonces)}
        networks: dict[tuple[str, str], tuple[str, str]] = {}
        for address in sorted(addresses):
            host, _, port = address.rpartition(":")
            network, _, number = host.rpartition(".")
            if not network.startswith("10."):
                continue  # it may be in use, so it is not ours to replace
            if (network, port) not in networks:
                octets = network.split(".")
                fresh = [octets[0]] + [_octet(octet, choose) for octet in octets[1:]]
                networks[network, port] = ".".join(fresh), _number(port, 10000, 60000, choose)
            new_network, new_port = networks[network, port]
            pairs[address] = f"{new_network}.{number}:{new_port}"
        self._forth = _replacing(pairs)
        self._pairs = {new: old for old, new in pairs.items()}
        self._back = _replacing(self._pairs)
        self._marks = tuple(pairs)

    def meets(self, old: str, new: str) -> None:
        """An address of ours that is another one this time: a port that the system chose."""
        self._pairs[new] = old
        self._back = _replacing(self._pairs)

    def forth(self, data: bytes) -> bytes:
        """Old names to new ones."""
        return self._forth(data)

    def back(self, data: bytes) -> bytes:
        """New names to old ones."""
        return self._back(data)

    def is_ours(self, text: str) -> bool:
        """Whether an old name is in a text."""
        return any(mark in text for mark in self._marks)


def _other_nonce(nonce: str, choose: Callable[[int], int]) -> str:
    """It begins like the old one: by that names are recognised as made."""
    return nonce[:1] + "".join(_other(sign, choose) for sign in nonce[1:])


def _other(sign: str, choose: Callable[[int], int]) -> str:
    if sign.isdigit():
        return "0123456789"[choose(10)]
    return "abcdefghijkmnopqrstuvwxyz"[choose(25)] if sign.isalpha() else sign


def _octet(octet: str, choose: Callable[[int], int]) -> str:
    lowest, end = {1: (1, 10), 2: (10, 100)}.get(len(octet), (100, 255))
    return str(lowest + choose(end - lowest))


def _number(text: str, lowest: int, end: int, choose: Callable[[int], int]) -> str:
    return str(lowest + choose(end - lowest)) if len(text) == len(str(lowest)) else text


def _replacing(pairs: dict[str, str]) -> Callable[[bytes], bytes]:
    """Replaces all of them at once, so that none is replaced twice."""
    table = {old.encode(): new.encode() for old, new in pairs.items()}
    if not table:
        return lambda data: data
    longest_first = sorted(table, key=len, reverse=True)
    pattern = re.compile(b"|".join(re.escape(old) for old in longest_first))
    return lambda data: pattern.sub(lambda found: table[found.group()], data)


def renamed(stream: Sequence[bytes], renaming: Renaming) -> list[bytes]:
    """What was sent on one connection, piece by piece, under new names; it is cut where it was cut."""
    new, spans, at = bytearray(), [], 0
    for frame in _frames_in(b"".join(stream)):
        fresh = _renamed_frame(frame, renaming)
        spans.append((at, len(frame), len(new), len(fresh)))
        new += fresh
        at += len(frame)
    pieces, cut, begin = [], 0, 0
    for piece in stream:
        cut += len(piece)
        end = max(begin, _moved(cut, spans))
        pieces.append(bytes(new[begin:end]))
        begin = end
    return pieces


def _moved(cut: int, spans: Sequence[tuple[int, int, int, int]]) -> int:
    """Where a cut is now; in a frame of another length as far from the end that it was nearer to."""
    for old_at, old, new_at, new in spans:
        inside = cut - old_at
        if 0 < inside < old:
            return new_at + max(1, min(inside if inside <= old // 2 else new - (old - inside), new - 1))
        if inside == old:
            return new_at + new
    return 0


def _frames_in(data: bytes) -> Iterator[bytes]:
    """Whole frames, then whatever is no frame, as one piece."""
    at = 0
    while len(data) - at >= 4:
        end = at + 4 + int.from_bytes(data[at : at + 4], "big", signed=True)
        if not at + 4 <= end <= len(data):
            break
        yield data[at:end]
        at = end
    if at < len(data):
        yield data[at:]


def _renamed_frame(frame: bytes, renaming: Renaming) -> bytes:
    parts = parted(frame)
    if parts is None:
        return renaming.forth(frame)
    kind, header, body = parts
    new_body = _renamed_body(body, renaming)
    new_header = renaming.forth(header)
    if new_body != body:
        new_header = _checked(kind, new_header, body, new_body)
    if (len(new_header), len(new_body)) == (len(header), len(body)):
        return frame[:8] + new_header + new_body
    return joined(kind, new_header, new_body)


def parted(frame: bytes) -> tuple[int, bytes, bytes] | None:
    """Serialization, header and body; None where the lengths do not fit."""
    if len(frame) < 8 or int.from_bytes(frame[:4], "big") != len(frame) - 4:
        return None
    kind, length = frame[4], int.from_bytes(frame[5:8], "big")
    return (kind, frame[8 : 8 + length], frame[8 + length :]) if length <= len(frame) - 8 else None


def joined(kind: int, header: bytes, body: bytes) -> bytes:
    """A frame of its parts."""
    words = (4 + len(header) + len(body), kind << 24 | len(header))
    return b"".join(word.to_bytes(4, "big") for word in words) + header + body


def _renamed_body(body: bytes, renaming: Renaming) -> bytes:
    if body[:1] == b"\x78":
        unpacking = zlib.decompressobj()
        try:
            content = unpacking.decompress(body, LONGEST_FRAME)
        except zlib.error:
            return renaming.forth(body)
        fresh = renaming.forth(content)
        if unpacking.eof and fresh != content:
            return zlib.compress(fresh, 1) + unpacking.unused_data
        return body
    return renaming.forth(body)


def _checked(kind: int, header: bytes, body: bytes, new_body: bytes) -> bytes:
    """The header with the checksum of the new body, where it had that of the old one."""
    old, new = (str(zlib.crc32(content) & 0x7FFFFFFF).encode() for content in (body, new_body))
    if kind == 0:
        return header.replace(b'"bodyCrc32":"' + old + b'"', b'"bodyCrc32":"' + new + b'"')
    name = b"\x00\x09bodyCrc32"
    field = name + len(old).to_bytes(4, "big") + old
    at = header.find(field)
    if at < 0:
        return header
    extent = 17 + max(0, int.from_bytes(header[13:17], "big", signed=True))
    length = int.from_bytes(header[extent : extent + 4], "big") + len(new) - len(old)
    changed = header[:at] + name + len(new).to_bytes(4, "big") + new + header[at + len(field) :]
    return changed[:extent] + length.to_bytes(4, "big") + changed[extent + 4 :]
