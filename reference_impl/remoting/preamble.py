"""The PROXY protocol's preamble, by which a load balancer tells whom it speaks for.

1. Pure functions of the first bytes of a connection; what the preamble says is checked and not kept, for
   nothing that a NameServer answers depends on it.
2. Both versions have a longest length: a peer cannot make a server gather more.

Source: HandshakeHandler and HAProxyMessageHandler of NettyRemotingServer (rocketmq-all-5.3.3), which leave
the work to Netty's HAProxyMessageDecoder; the PROXY protocol itself, versions 1 and 2
(haproxy.org/download/2.9/doc/proxy-protocol.txt).
"""

import ipaddress
import re
from collections.abc import Callable

from harness.wire import WireError

DECIDABLE = 12
"""The bytes that decide whether there is a preamble, and of which version; 5.x waits for all of them."""

SIGNATURE_V2 = b"\r\n\r\n\0\r\nQUIT\n"
_SIGNATURE_V1 = b"PROXY"
_LONGEST_V1 = 108
"""Bytes of a line of version 1, the line end not counted: Netty's limit, one more than any line needs.
Netty counts the first byte of an end that is cut.
"""
_HEAD_V2 = 16
_ADDRESSES_V2 = {0: 0, 1: 12, 2: 36, 3: 216}
"""Address family to bytes of its addresses and ports."""
_PORT = re.compile(rb"\d{1,5}")
_READERS: dict[bytes, Callable[[str], object]] = {
    b"TCP4": ipaddress.IPv4Address,
    b"TCP6": ipaddress.IPv6Address,
}


def length_of_preamble(start: bytes | bytearray) -> int | None:
    """How many of a connection's first bytes are a preamble: 0 if there is none, None while that is open.

    `start` has at least `DECIDABLE` bytes. Raises WireError for a preamble that is malformed.
    """
    if start.startswith(SIGNATURE_V2):
        return _version_2(start)
    if start.startswith(_SIGNATURE_V1):
        return _version_1(start)
    return 0


def _version_1(start: bytes | bytearray) -> int | None:
    end = start.find(b"\r\n", 0, _LONGEST_V1 + 2)
    if end < 0:
        if len(start) > _LONGEST_V1:
            raise WireError("a PROXY line does not end")
        return None
    words = bytes(start[:end]).split(b" ")
    if words[0] != _SIGNATURE_V1 or len(words) < 2:
        raise WireError("a PROXY line names no protocol")
    if words[1] != b"UNKNOWN":
        _check_line(words)
    return end + 2


def _check_line(words: list[bytes]) -> None:
    reader = _READERS.get(words[1])
    if reader is None or len(words) != 6:
        raise WireError("a PROXY line has not the parts of TCP4 or TCP6")
    try:
        for address in words[2:4]:
            reader(address.decode("ascii"))
    except ValueError as error:
        raise WireError("a PROXY line has a bad address") from error
    if not all(_PORT.fullmatch(port) and 0 < int(port) < 65_536 for port in words[4:]):
        raise WireError("a PROXY line has a bad port")


def _version_2(start: bytes | bytearray) -> int | None:
    if len(start) < _HEAD_V2:
        return None
    version, command = start[12] >> 4, start[12] & 15
    family, transport = start[13] >> 4, start[13] & 15
    length = int.from_bytes(start[14:16], "big")
    if version != 2 or command > 1:
        raise WireError("a PROXY header of version 2 has an unknown version or command")
    if command == 1 and (family not in _ADDRESSES_V2 or transport > 2):
        raise WireError("a PROXY header of version 2 has an unknown family or transport")
    if command == 1 and length < _ADDRESSES_V2[family]:
        raise WireError("a PROXY header of version 2 is too short for its addresses")
    return None if len(start) < _HEAD_V2 + length else _HEAD_V2 + length
