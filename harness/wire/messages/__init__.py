"""RocketMQ's message format: what a Broker stores, and what the bodies of sends and pulls hold. Sans-IO.

`encode_message` and `decode_message` are one stored message, `decode_messages` is the body of a pull,
`encode_batch` and `decode_batch` are the body of a batch send; `PropertyName`, `SysFlag` and `TopicName` are
the names that Brokers and clients share.
"""

from __future__ import annotations

from .batch import decode_batch, encode_batch
from .identifiers import UniqueKey, decode_offset_id, host_bytes, host_text, offset_id, tag_hash
from .message import (
    BLANK_MAGIC,
    BLANK_SIZE,
    MESSAGE_MAGIC,
    MESSAGE_MAGIC_V2,
    LineName,
    Message,
    blank,
    decode_message,
    decode_messages,
    encode_message,
)
from .names import PropertyName, SysFlag, TopicName
from .properties import decode_properties, encode_properties

__all__ = [
    "BLANK_MAGIC",
    "BLANK_SIZE",
    "MESSAGE_MAGIC",
    "MESSAGE_MAGIC_V2",
    "LineName",
    "Message",
    "PropertyName",
    "SysFlag",
    "TopicName",
    "UniqueKey",
    "blank",
    "decode_batch",
    "decode_message",
    "decode_messages",
    "decode_offset_id",
    "decode_properties",
    "encode_batch",
    "encode_message",
    "encode_properties",
    "host_bytes",
    "host_text",
    "offset_id",
    "tag_hash",
]
