"""What names messages and their hosts: addresses as bytes, both kinds of message id, the hash of a tag.

Source: MessageDecoder#createMessageId, #decodeMessageId, MessageClientIDSetter,
MessageExt#socketAddress2ByteBuffer and MessageExtBrokerInner#tagsString2tagsCode of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from __future__ import annotations

import binascii
import ipaddress
import struct
from functools import lru_cache
from typing import Final

import msgspec

from harness.wire.errors import WireError

_KEPT: Final = 4096
"""The hosts and tags that are remembered: there are few, and each comes with very many messages."""


_UNIQUE: Final = struct.Struct(">HIIH")


@lru_cache(_KEPT)
def host_bytes(host: str) -> bytes:
    """`"1.2.3.4:10911"` or `"[::1]:10911"` as 8 or 20 bytes: the address, then the port as int32.

    Raises `WireError` for anything else.
    """
    address, colon, port = host.rpartition(":")
    try:
        if not colon:
            raise ValueError("no port")
        return ipaddress.ip_address(address.strip("[]")).packed + struct.pack(">i", int(port))
    except (ValueError, struct.error) as error:
        raise WireError(f"{host[:80]!r} is no host: expected IPv4:PORT or [IPv6]:PORT") from error


@lru_cache(_KEPT)
def host_text(host: bytes) -> str:
    """The text of such bytes, which are 8 or 20."""
    address = ipaddress.ip_address(host[:-4])
    port = int.from_bytes(host[-4:], "big", signed=True)
    return f"{address}:{port}" if address.version == 4 else f"[{address}]:{port}"


@lru_cache(_KEPT)
def tag_hash(tag: str | None) -> int:
    """Java's `String.hashCode` of a tag (int32): what a consume queue holds and what subscriptions send in
    `codeSet`. 0 without a tag.
    """
    value = 0
    units = (tag or "").encode("utf-16-be", "surrogatepass")
    for (unit,) in struct.iter_unpack(">H", units):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def offset_id(host: str, physical_offset: int) -> str:
    """The id that a Broker gives: where it stores and at which offset, 32 (IPv6: 56) hex digits."""
    return (host_bytes(host) + struct.pack(">q", physical_offset)).hex().upper()


def decode_offset_id(text: str) -> tuple[str, int]:
    """(host, physical offset) of such an id. Raises `WireError`."""
    data = _bytes_of(text, "message id")
    return host_text(data[:-8]), int.from_bytes(data[-8:], "big", signed=True)


def _bytes_of(text: str, what: str) -> bytes:
    """The bytes of an id in 32 or 56 hex digits. Raises `WireError`."""
    try:
        data = binascii.unhexlify(text)
    except ValueError as error:
        raise WireError(f"{text[:80]!r} is no {what}: not hexadecimal") from error
    if len(data) not in (16, 28):
        raise WireError(f"{text[:80]!r} is no {what}: {len(text)} digits, expected 32 or 56")
    return data


class UniqueKey(msgspec.Struct, frozen=True):
    """The id that a producer gives (property UNIQ_KEY): 32 hex digits, or 56 with an IPv6 address.

    `process` is the lower half of the process id, `loader` a hash that tells JVMs apart, `since_month` the
    milliseconds since the month began (in the producer's time zone), `counter` its running number.
    """

    address: str
    process: int
    loader: int
    since_month: int
    counter: int

    def encode(self) -> str:
        """The text. Numbers are cut to their width."""
        numbers = _UNIQUE.pack(
            self.process & 0xFFFF,
            self.loader & 0xFFFFFFFF,
            self.since_month & 0xFFFFFFFF,
            self.counter & 0xFFFF,
        )
        return (ipaddress.ip_address(self.address).packed + numbers).hex().upper()

    @classmethod
    def decode(cls, text: str) -> UniqueKey:
        """Raises `WireError` for what is no such text."""
        data = _bytes_of(text, "unique key")
        process, loader, since_month, counter = _UNIQUE.unpack(data[-_UNIQUE.size :])
        return cls(str(ipaddress.ip_address(data[: -_UNIQUE.size])), process, loader, since_month, counter)
