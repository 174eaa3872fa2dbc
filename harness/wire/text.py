"""Bytes to text the way Java does it.

Source: `new String(bytes, UTF_8)` and netty's `readCharSequence`, run on the same bytes (JDK 17).
"""

from __future__ import annotations

import re
from typing import Final

_ENCODED_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


def java_text(raw: bytes) -> str:
    """The text of UTF-8 bytes; what is no UTF-8 becomes U+FFFD, an encoded surrogate one of them (Python
    makes three).
    """
    return _ENCODED_SURROGATE.sub(b"\xff", raw).decode("utf-8", "replace")
