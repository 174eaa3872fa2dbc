"""Reading a log that was not closed.

Invariants:
- A process that ends while it appends leaves the beginning of what it appended: a message that ends too
  early, or a blank, behind which there is nothing. A machine that ends may leave zeros. Either is cut off:
  neither was answered.
- Everything else that is no message is damage. It is refused, for what is behind it was answered.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.wire import WireError
from harness.wire.messages import BLANK_MAGIC, MESSAGE_MAGIC, MESSAGE_MAGIC_V2, Message, decode_message

from .segments import Segments
from .storage import StoreError

_BLOCK = 1 << 22
_MAGICS = tuple(magic.to_bytes(4, "big") for magic in (MESSAGE_MAGIC, MESSAGE_MAGIC_V2, BLANK_MAGIC))
_BLANK = _MAGICS[-1]
_MAGIC_AT, _PHYSICAL_AT = 4, 28


def messages_from(log: Segments, start: int) -> Iterator[Message]:
    """All messages from an offset on, checksums compared; cuts a torn one off at the end.

    Raises StoreError for damage.
    """
    while start < log.end:
        block, at = log.read(start, _BLOCK), 0
        while at < len(block):
            size = int.from_bytes(block[at : at + 4], "big")
            magic = block[at + _MAGIC_AT : at + _MAGIC_AT + 4]
            if magic == _BLANK and size == log.left_of_file(start + at):
                at += size
                continue
            if at and at + max(size, 4) > len(block):
                break  # it may end in the next block
            if size > len(block):
                block = log.read(start, size)
            try:
                message = decode_message(block, at)
                if message.physical_offset != start + at:
                    raise WireError(f"a message that says its offset is {message.physical_offset}")
            except WireError as error:
                _cut_or_refuse(log, start + at, error)
                return
            yield message
            at += size
        start += at


def _cut_or_refuse(log: Segments, at: int, error: WireError) -> None:
    rest = log.read(at, log.end - at) if log.is_last_file(at) else b""
    if rest and _is_torn(rest, at):
        log.cut(at)
        return
    name, inside = log.place(at)
    raise StoreError(
        f"{name} is damaged at byte {inside}: expected a message, found {error}. Messages that were answered"
        " are there or behind it: put the file back from a copy. To go on without them, cut it (truncate"
        f" -s {inside}), and delete the files of commitlog behind it and all of consumequeue, index and"
        " checkpoint"
    )


def _is_torn(rest: bytes, at: int) -> bool:
    """Whether the bytes from `at` to the end are what an append leaves that did not come to its end."""
    if not rest.strip(b"\0"):
        return True
    size, magic = int.from_bytes(rest[:4], "big"), rest[_MAGIC_AT : _MAGIC_AT + 4]
    if len(rest) >= 4 and size <= len(rest):
        return False
    if not any(known.startswith(magic) for known in _MAGICS):
        return False
    if magic == _BLANK:
        return not _has_message(rest, at)
    stated = rest[_PHYSICAL_AT : _PHYSICAL_AT + 8]
    return at.to_bytes(8, "big").startswith(stated) and not _has_message(rest, at)


def _has_message(rest: bytes, at: int) -> bool:
    """Whether a whole message begins behind the first byte, at the place that it says it has."""
    for magic in _MAGICS:
        found = rest.find(magic, _MAGIC_AT + 1)
        while found >= 0:
            start = found - _MAGIC_AT
            if rest[start + _PHYSICAL_AT : start + _PHYSICAL_AT + 8] == (at + start).to_bytes(8, "big"):
                try:
                    decode_message(rest, start)
                except WireError:
                    pass
                else:
                    return True
            found = rest.find(magic, found + 1)
    return False
