"""The checksum of a register body."""

from __future__ import annotations

import zlib


def body_crc32(body: bytes) -> int:
    """CRC-32 of the raw bytes as sent (after compression), without the sign bit; 0 for no body.

    Source: `UtilAll#crc32`; compared by `DefaultRequestProcessor#checksum` with the ext field `bodyCrc32`, 0
    meaning that it is not checked.
    """
    return zlib.crc32(body) & 0x7FFFFFFF
