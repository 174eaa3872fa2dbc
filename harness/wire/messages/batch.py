"""The body of a batch send: messages of one topic and queue, each with its flag, body and properties only.

| bytes | field                                          |
|-------|------------------------------------------------|
| 4     | total size                                     |
| 4     | magic: 0, and ignored                          |
| 4     | checksum of the body: 0, the Broker computes it |
| 4     | flag                                           |
| 4+n   | body                                           |
| 2+n   | properties                                     |

Source: MessageDecoder#encodeMessage, #encodeMessages, #decodeMessages of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3; the Broker walks by the lengths of the fields and passes over the total size.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final

from harness.wire.errors import WireError
from harness.wire.text import java_text

from .message import LineName, Message
from .properties import decode_properties, encode_properties

_HEAD: Final = struct.Struct(">iiiii")
_PROPERTIES: Final = struct.Struct(">h")


def encode_batch(messages: Iterable[Message], line: LineName) -> bytes:
    """Only `flag`, `body` and `properties` of the messages are taken. Raises `WireError` for properties of
    more than 32767 bytes.
    """
    parts = []
    for message in messages:
        properties = encode_properties(message.properties, line != "4.9").encode("utf-8", "replace")
        if len(properties) > 32767:
            raise WireError(f"properties of {len(properties)} bytes: 32767 are allowed")
        size = _HEAD.size + len(message.body) + _PROPERTIES.size + len(properties)
        parts += [
            _HEAD.pack(size, 0, 0, message.flag, len(message.body)),
            message.body,
            _PROPERTIES.pack(len(properties)),
            properties,
        ]
    return b"".join(parts)


def decode_batch(data: bytes, topic: str) -> list[Message]:
    """The messages, which are all for `topic`. Raises `WireError` where a length leads out of the body."""
    messages: list[Message] = []
    at = 0
    while at < len(data):
        if len(data) - at < _HEAD.size:
            raise WireError(f"{len(data) - at} bytes are left behind message {len(messages)} of a batch")
        _, _, _, flag, body_length = _HEAD.unpack_from(data, at)
        body_at = at + _HEAD.size
        properties_at = body_at + body_length + _PROPERTIES.size
        if body_length < 0 or properties_at > len(data):
            raise WireError(f"message {len(messages)} of a batch has a body of {body_length} bytes")
        (properties_length,) = _PROPERTIES.unpack_from(data, properties_at - _PROPERTIES.size)
        end = properties_at + properties_length
        if properties_length < 0 or end > len(data):
            raise WireError(f"message {len(messages)} of a batch has properties of {properties_length} bytes")
        messages.append(
            Message(
                topic=topic,
                flag=flag,
                body=data[body_at : body_at + body_length],
                properties=decode_properties(java_text(data[properties_at:end])),
            )
        )
        at = end
    return messages
