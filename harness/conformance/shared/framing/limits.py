"""Sizes and numbers, for the cases about framing."""

from __future__ import annotations

from harness.wire import (
    FRAME_LIMIT,
)

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1

LARGEST_LENGTH = FRAME_LIMIT - 4
"""The largest length word, which does not count itself."""

BEYOND_ASCII = "你好 😀 é"
