"""Sizes and numbers, for the cases about framing."""

from __future__ import annotations

from harness.wire import FRAME_LIMIT
from harness.wire.integers import INT32_MAX, INT32_MIN

__all__ = ["BEYOND_ASCII", "INT32_MAX", "INT32_MIN", "LARGEST_LENGTH"]

LARGEST_LENGTH = FRAME_LIMIT - 4
"""The largest length word, which does not count itself."""

BEYOND_ASCII = "你好 😀 é"
