"""What is wrong with the lengths of a frame, judged by the JSON that it carries.

The lengths of a frame that cannot be read are the likeliest reason, and its bytes show what they should be: a
JSON header ends with its brace, whatever its length says. Binary headers are not looked at.
"""

from __future__ import annotations

import json
from typing import Final

_WORDS: Final = 8
"""Bytes of the length word and the header word."""
_CLOSE: Final = 8
"""A frame that lacks more bytes than that may be one that has not come altogether."""


def wrong_lengths(data: bytes) -> str:
    """What is wrong with the lengths of the frame that these bytes begin with, in words.

    `data` is all that came from the beginning of the frame on. Empty where the lengths are right, or where
    the bytes do not show what they should be.
    """
    header_end = _json_end(data, _WORDS)
    if header_end is None:
        return ""
    body_end = _json_end(data, header_end)
    end = len(data) if body_end is None else body_end
    header, body = header_end - _WORDS, end - header_end
    found = []
    of_frame = {
        header + body + 8: "it counts its own 4 bytes",
        header + body: "it does not count the header word",
        header + 4: "it does not count the body",
        _characters(data[_WORDS:end]) + 4: "it counts characters",
    }
    of_header = {
        header + 4: "it counts the header word",
        header + body: "it counts the body",
        header + body + 4: "it counts the header word and the body",
        _characters(data[_WORDS:header_end]): "it counts characters",
    }
    announced, right = int.from_bytes(data[:4], "big", signed=True), header + body + 4
    is_explained = announced in of_frame or int.from_bytes(data[:4], "little") == right
    is_lacking = body_end is None and announced > right + _CLOSE and not is_explained
    if not is_lacking and (reason := _wrong(data[:4], right, of_frame)):
        found.append(f"the length word is {reason}")
    if reason := _wrong(data[5:_WORDS], header, of_header):
        found.append(f"the header length is {reason}")
    return ", and ".join(found)


def cut_body(frame: bytes, behind: bytes | bytearray) -> str:
    """What is wrong with the lengths of a whole frame whose JSON body goes on in the bytes behind it; empty
    where it does not.
    """
    body = frame[_WORDS + int.from_bytes(frame[5:_WORDS], "big") :]
    if body[:1] != b"{" or body[-1:] == b"}":
        return ""
    return wrong_lengths(frame + behind)


def _json_end(data: bytes, start: int) -> int | None:
    """Where the JSON object that begins there ends; None where none does, or not all of it has come."""
    if data[start : start + 1] != b"{":
        return None
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(data.decode("latin-1"), start)
    except (ValueError, RecursionError):
        return None
    return end


def _characters(text: bytes) -> int:
    return len(text.decode("utf-8", "replace"))


def _wrong(written: bytes, right: int, reasons: dict[int, str]) -> str:
    """The number that was written, the right one, and what leads to the former; empty if it is right."""
    number = int.from_bytes(written, "big", signed=len(written) == 4)
    if number == right:
        return ""
    is_swapped = int.from_bytes(written, "little") == right
    reason = "its bytes are in the wrong order" if is_swapped else reasons.get(number, "")
    return f"{number} instead of {right}" + (f" ({reason})" if reason else "")
