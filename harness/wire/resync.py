"""Finding frames in a stream whose beginning is missing.

- A place is taken for the beginning of a frame only where its whole header is there and is one: what a
  message happens to hold must look just like a frame to deceive it.
- Stricter than Apache's decoder, which is never in the middle of a frame: a header that only fastjson's
  leniency can read is passed over.
- Headers longer than `HEADER_LIMIT` are passed over, so that little must be kept.
"""

from __future__ import annotations

import re
from typing import Final

from harness.wire.codes import LANGUAGES, Serialization

from .framing import FRAME_LIMIT

HEADER_LIMIT: Final = 65_535

_LIKELY: Final = re.compile(rb"(?=\x00[\s\S]{3}(?:\x00\x00[\s\S]{2}\{|\x01\x00))")
"""A length below 16 MiB; JSON and a header that begins with a brace, or binary; a short header."""
_SHORTEST: Final = 21
"""Bytes of a binary header with neither remark nor ext fields (`RocketMQSerializable`)."""


def find_frame(data: bytes | bytearray, start: int = 0) -> tuple[int, bool]:
    """Where from ``start`` on a frame begins, and whether that is sure.

    Where it is not, more bytes are needed to tell, and those before that place can be dropped.
    """
    for found in _LIKELY.finditer(data, start):
        verdict = _judge(data, found.start())
        if verdict is not False:
            return found.start(), verdict is True
    # What a likely place needs to be seen as one may not have arrived.
    return max(start, len(data) - 8), False


def _judge(data: bytes | bytearray, at: int) -> bool | None:
    """Whether a frame begins there; None where too little has come to tell."""
    length = int.from_bytes(data[at : at + 4], "big")
    header = int.from_bytes(data[at + 5 : at + 8], "big")
    if length > FRAME_LIMIT - 4 or header > min(length - 4, HEADER_LIMIT):
        return False
    end = at + 8 + header
    if data[at + 4] == Serialization.JSON:
        if end > len(data):
            return None
        return data[end - 1 : end] == b"}" and data.find(b'"code"', at + 8, end) >= 0
    if header < _SHORTEST:
        return False
    if len(data) < at + 8 + 18:
        return None
    remark = int.from_bytes(data[at + 21 : at + 25], "big")
    if data[at + 10] >= len(LANGUAGES) or remark > header - _SHORTEST or data[at + 17 : at + 20] != b"\0\0\0":
        return False
    if len(data) < at + 29 + remark:
        return None
    ext = int.from_bytes(data[at + 25 + remark : at + 29 + remark], "big")
    return remark + ext == header - _SHORTEST
