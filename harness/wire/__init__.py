"""The codec of RocketMQ's remoting protocol: frames, both header serializations, bodies. Sans-IO.

`encode` and `decode` are the everyday pair; `FrameBuffer` cuts a stream into frames; `dissect` shows any
bytes; `RawFrame` and `header_bytes` build what no encoder would. Bodies are in `harness.wire.bodies`, their
JSON in `harness.wire.fastjson`, stored messages in `harness.wire.messages`.
"""

from __future__ import annotations

from harness.wire.bodies.checksum import body_crc32
from harness.wire.codes import FLAG_ONEWAY, FLAG_RESPONSE, RequestCode, ResponseCode, Serialization

from .command import Command
from .decoder import decode
from .dissect import Dissection, dissect
from .encoder import RawFrame, encode, header_bytes
from .errors import Diagnostic, WireError
from .framing import FRAME_LIMIT, FrameBuffer, frame_size
from .header_types import Mistyped, mistyped
from .report import Field
from .resync import find_frame

__all__ = [
    "FLAG_ONEWAY",
    "FLAG_RESPONSE",
    "FRAME_LIMIT",
    "Command",
    "Diagnostic",
    "Dissection",
    "Field",
    "FrameBuffer",
    "Mistyped",
    "RawFrame",
    "RequestCode",
    "ResponseCode",
    "Serialization",
    "WireError",
    "body_crc32",
    "decode",
    "dissect",
    "encode",
    "find_frame",
    "frame_size",
    "header_bytes",
    "mistyped",
]
