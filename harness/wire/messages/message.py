"""One stored message: the bytes that a Broker's log holds and that the body of a pull is made of.

- Total size, checksum, magic and the two bits for IPv6 hosts follow from the rest: writing computes them,
  whatever the message says.
- The checksum is that of the body as it is stored (compressed, if it is).
- Reading demands what a reader needs to find the next message: a known magic, lengths that fill the total
  size exactly. Text that is no UTF-8 becomes U+FFFD, as in Java.

| bytes | field                                   | bytes | field                                  |
|-------|-----------------------------------------|-------|----------------------------------------|
| 4     | total size                              | 8/20  | born host: address, port as int32      |
| 4     | magic                                   | 8     | store timestamp                        |
| 4     | checksum of the body                    | 8/20  | store host                             |
| 4     | queue id                                | 4     | reconsume times                        |
| 4     | flag                                    | 8     | prepared transaction offset            |
| 8     | queue offset                            | 4+n   | body                                   |
| 8     | physical offset                         | 1+n   | topic (2+n behind `MESSAGE_MAGIC_V2`)  |
| 4     | system flag                             | 2+n   | properties                             |
| 8     | born timestamp                          |       |                                        |

Source: MessageDecoder#decode, MessageExtEncoder, CommitLog of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

import struct
from typing import Final, Literal

import msgspec

from harness.wire.bodies.checksum import body_crc32
from harness.wire.errors import WireError
from harness.wire.text import java_text

from .identifiers import host_bytes, host_text
from .names import SysFlag
from .properties import decode_properties, encode_properties

LineName = Literal["4.9", "5.3"]
"""The lines whose writing differs: 5.x ends properties with 0x02 and has topics of more than 127 bytes."""

MESSAGE_MAGIC: Final = 0xDAA320A7
MESSAGE_MAGIC_V2: Final = 0xDAA320AB
"""5.x: the length of the topic has two bytes; written where it exceeds 127."""
BLANK_MAGIC: Final = 0xCBD43194
"""What fills the end of a file of the log: no message."""
BLANK_SIZE: Final = 8
"""Bytes that are left of a file behind its last message, at the least: what a blank has to say."""

_BORN_V6: Final = SysFlag.BORN_HOST_V6.value
_STORE_V6: Final = SysFlag.STORE_HOST_V6.value
_V6: Final = _BORN_V6 | _STORE_V6

_HEAD: Final = struct.Struct(">IIIiiqqiq")
_HEADS: Final = {
    flags: struct.Struct(f">IIIiiqqiq{20 if flags & _BORN_V6 else 8}sq{20 if flags & _STORE_V6 else 8}siqi")
    for flags in (0, _BORN_V6, _STORE_V6, _V6)
}
"""Everything in front of the body, its length included, by the bits for IPv6."""
_LENGTH_V2: Final = struct.Struct(">H")


class Message(msgspec.Struct, kw_only=True, gc=False):
    """One message. Equality is by value.

    Timestamps are milliseconds since the epoch, hosts `"1.2.3.4:10911"` or `"[::1]:10911"`. What a Broker
    fills in is 0 until it did: `queue_id` and `queue_offset` (its place in a queue), `physical_offset` (its
    place in the log), `store_timestamp`, `store_host`, `body_crc`, `size` (all of its bytes).
    """

    topic: str
    body: bytes
    properties: dict[str, str] = {}
    queue_id: int = 0
    flag: int = 0
    sys_flag: int = 0
    born_timestamp: int = 0
    born_host: str = "0.0.0.0:0"
    store_timestamp: int = 0
    store_host: str = "0.0.0.0:0"
    queue_offset: int = 0
    physical_offset: int = 0
    reconsume_times: int = 0
    prepared_offset: int = 0
    body_crc: int = 0
    size: int = 0


def encode_message(message: Message, line: LineName) -> bytes:
    """The bytes of a message as a Broker of that line stores them; sets its `size` and `body_crc`.

    Raises `WireError` for what the format cannot carry: a topic of more than 127 (5.3: 32767) bytes,
    properties of more than 32767, numbers out of range, a host that is none.
    """
    topic = message.topic.encode("utf-8", "replace")
    properties = encode_properties(message.properties, line != "4.9").encode("utf-8", "replace")
    born, store, body = host_bytes(message.born_host), host_bytes(message.store_host), message.body
    flags = (_BORN_V6 if len(born) > 8 else 0) | (_STORE_V6 if len(store) > 8 else 0)
    head = _HEADS[flags]
    if len(topic) <= 127:
        magic, topic_length = MESSAGE_MAGIC, bytes((len(topic),))
    elif line == "4.9" or len(topic) > 32767:
        raise WireError(f"a topic of {len(topic)} bytes: {127 if line == '4.9' else 32767} are allowed")
    else:
        magic, topic_length = MESSAGE_MAGIC_V2, _LENGTH_V2.pack(len(topic))
    if len(properties) > 32767:
        raise WireError(f"properties of {len(properties)} bytes: 32767 are allowed")
    size = head.size + len(body) + len(topic_length) + len(topic) + 2 + len(properties)
    checksum = body_crc32(body)
    try:
        start = head.pack(
            size,
            magic,
            checksum,
            message.queue_id,
            message.flag,
            message.queue_offset,
            message.physical_offset,
            message.sys_flag & ~_V6 | flags,
            message.born_timestamp,
            born,
            message.store_timestamp,
            store,
            message.reconsume_times,
            message.prepared_offset,
            len(body),
        )
    except struct.error as error:
        raise WireError(f"a number of the message does not fit: {error}") from error
    message.size, message.body_crc = size, checksum
    return b"".join((start, body, topic_length, topic, _LENGTH_V2.pack(len(properties)), properties))


def decode_message(data: bytes, start: int = 0, *, check_body: bool = True) -> Message:
    """The message whose bytes begin at `start`; how many they are is its `size`.

    Raises `WireError` where the bytes are no message, end too early, or (with `check_body`) have a body whose
    checksum is another.
    """
    if len(data) - start < _HEAD.size:
        raise WireError(f"{len(data) - start} bytes are too few for a message")
    size, magic, checksum, _, _, _, _, sys_flag, _ = _HEAD.unpack_from(data, start)
    if magic not in (MESSAGE_MAGIC, MESSAGE_MAGIC_V2):
        raise WireError(f"magic {magic:08X} at byte {start + 4}: expected DAA320A7 or DAA320AB")
    if size > len(data) - start:
        raise WireError(f"a message of {size} bytes, of which only {len(data) - start} are there")
    head = _HEADS[sys_flag & _V6]
    body_at = start + head.size
    end = start + size
    if body_at > end:
        raise WireError(f"a message of {size} bytes is shorter than its fixed fields")
    (
        _, _, _, queue_id, flag, queue_offset, physical_offset, _, born_timestamp, born, store_timestamp,
        store, reconsume_times, prepared_offset, body_length,
    ) = head.unpack_from(data, start)  # fmt: skip
    topic_at = body_at + body_length + (1 if magic == MESSAGE_MAGIC else 2)
    if body_length < 0 or topic_at > end:
        raise WireError(f"a body of {body_length} bytes in a message of {size}")
    topic_length = int.from_bytes(data[body_at + body_length : topic_at], "big", signed=True)
    properties_at = topic_at + topic_length + 2
    if topic_length < 0 or properties_at > end:
        raise WireError(f"a topic of {topic_length} bytes goes beyond the message")
    properties_length = int.from_bytes(data[properties_at - 2 : properties_at], "big", signed=True)
    if properties_at + properties_length != end or properties_length < 0:
        raise WireError(f"properties of {properties_length} bytes where {end - properties_at} are left")
    body = data[body_at : body_at + body_length]
    if check_body and body_crc32(body) != checksum:
        raise WireError(f"the body has the checksum {body_crc32(body)}, the message says {checksum}")
    return Message(
        topic=java_text(data[topic_at : properties_at - 2]),
        body=body,
        properties=decode_properties(java_text(data[properties_at:end])),
        queue_id=queue_id,
        flag=flag,
        sys_flag=sys_flag,
        born_timestamp=born_timestamp,
        born_host=host_text(born),
        store_timestamp=store_timestamp,
        store_host=host_text(store),
        queue_offset=queue_offset,
        physical_offset=physical_offset,
        reconsume_times=reconsume_times,
        prepared_offset=prepared_offset,
        body_crc=checksum,
        size=size,
    )


def blank(size: int) -> bytes:
    """What fills these bytes of a file of the log (`CommitLog.DefaultAppendMessageCallback#doAppend`)."""
    return struct.pack(">II", size, BLANK_MAGIC).ljust(size, b"\0")


def decode_messages(data: bytes, *, check_body: bool = True) -> list[Message]:
    """All messages of the body of a pull, which are one behind the other. Raises `WireError`."""
    messages, at = [], 0
    while at < len(data):
        message = decode_message(data, at, check_body=check_body)
        messages.append(message)
        at += message.size
    return messages
