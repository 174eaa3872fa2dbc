"""From a stream of bytes to frames.

- The frames found do not depend on how the stream was cut.
- Work is linear in the bytes received: a byte is copied at most twice, whatever the size of the chunks.
- Memory is bounded: a bad length word is refused as soon as its four bytes are there, before anything is
  gathered for it.
- A buffer that has refused stays refused: the stream has lost its frame boundaries for good.

Source: `NettyDecoder`, a length-field decoder whose limit counts the four bytes of the length word too;
observed on both lines: 16 777 212 is accepted, 16 777 213 closes the connection at once. A length below 4
cannot hold the header word.
"""

from __future__ import annotations

from typing import Final

from .errors import Diagnostic, WireError

FRAME_LIMIT: Final = 16_777_216
"""The largest frame in bytes, length word included (`com.rocketmq.remoting.frameMaxLength`, default)."""

_COMPACT_AT: Final = 65_536
_LIKELY: Final = 65_535
"""Frames of strangers that confuse the order of bytes are answers to small requests."""


def length_too_small(length: int) -> str:
    """What is wrong with a length word below 4."""
    return f"length {length} cannot hold the header word{_swapped(length)}"


def length_too_large(length: int, most: int) -> str:
    """What is wrong with a length word above the limit."""
    return f"length {length} exceeds {most}{_swapped(length)}"


def _swapped(length: int) -> str:
    """A remark on a length that is a likely one with its bytes the other way round."""
    other = int.from_bytes(length.to_bytes(4, "little", signed=True), "big")
    likely = length != other and 4 <= other <= _LIKELY
    return f"; its bytes the other way round are {other}, and integers are big-endian" if likely else ""


def frame_size(data: bytes | bytearray, start: int = 0, limit: int = FRAME_LIMIT) -> int | None:
    """The size of the frame that begins at ``start``, length word included; None until all of it is there.

    Raises `WireError` as soon as the length word is there and is bad.
    """
    if len(data) - start < 4:
        return None
    length = int.from_bytes(data[start : start + 4], "big", signed=True)
    if length < 4:
        why = Diagnostic("length-too-small", length_too_small(length), 0, 4, True)
        raise WireError(why.message, (why,))
    if length > limit - 4:
        why = Diagnostic("length-too-large", length_too_large(length, limit - 4), 0, 4, True)
        raise WireError(why.message, (why,))
    return 4 + length if len(data) - start >= 4 + length else None


class FrameBuffer:
    """Gathers bytes, gives whole frames (length word included) in order.

    `limit` is the largest frame in bytes, length word included.
    """

    __slots__ = ("_data", "_limit", "_refusal", "_start")

    def __init__(self, limit: int = FRAME_LIMIT) -> None:
        self._limit = limit
        self._data = bytearray()
        self._start = 0
        self._refusal: Diagnostic | None = None

    @property
    def pending(self) -> int:
        """Bytes received and not yet given back as a frame."""
        return len(self._data) - self._start

    @property
    def lacking(self) -> int:
        """How many bytes are missing at least until `next_frame` gives a frame or raises."""
        pending = self.pending
        if pending < 4:
            return 4 - pending
        length = int.from_bytes(self._data[self._start : self._start + 4], "big", signed=True)
        return max(0, 4 + length - pending) if 4 <= length <= self._limit - 4 else 0

    def is_next(self, data: bytes) -> bool:
        """Whether these bytes are the next frame, whole and nothing else: they need not be gathered then."""
        return (
            len(data) == 4 + int.from_bytes(data[:4], "big")
            and 8 <= len(data) <= self._limit
            and not self._data
            and self._refusal is None
        )

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Adds bytes. After a refusal they are dropped: nothing can be read from this stream any more."""
        if self._refusal is None:
            self._data += data

    def next_frame(self) -> bytes | None:
        """The next whole frame, or None until more bytes arrive.

        Raises `WireError` as soon as a length word is bad, and on every later call.
        """
        if self._refusal is not None:
            raise WireError(self._refusal.message, (self._refusal,))
        data, start = self._data, self._start
        try:
            size = frame_size(data, start, self._limit)
        except WireError as problem:
            self._refusal = problem.diagnostics[0]
            self._data, self._start = bytearray(), 0
            raise
        if size is None:
            return None
        end = start + size
        frame = bytes(memoryview(data)[start:end])
        if end == len(data):
            data.clear()
            self._start = 0
        elif end >= _COMPACT_AT and end * 2 >= len(data):
            # At least as many bytes are dropped as are moved, so moving costs no more than receiving did.
            del data[:end]
            self._start = 0
        else:
            self._start = end
        return frame
