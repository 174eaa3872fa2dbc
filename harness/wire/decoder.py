"""The fast path of reading: a whole frame to a command.

Rules of this module:
- What the fast path is not sure of it hands to `dissect`; it never decides that a frame is bad. Both give equal commands
  and the same verdict (tests/unit/wire/test_fast_equals_lossless.py).
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from .codes import LANGUAGE_NUMBERS, Serialization
from .command import Command
from .dissect import INVALID_UTF8_IN_JSON, dissect
from .errors import WireError

__all__ = ["decode"]

InvalidUtf8 = Literal["refuse", "replace"]

_from_json: Final = msgspec.json.Decoder(Command).decode
_JSON: Final = Serialization.JSON
_known_languages: Final = frozenset(LANGUAGE_NUMBERS)


def decode(frame: bytes, *, invalid_utf8: InvalidUtf8 = "refuse") -> Command:
    """The command in one whole frame, length word included.

    Raises `WireError` where Apache's server would close the connection. `invalid_utf8` decides about a JSON header that
    is no UTF-8: "refuse" is 5.x, "replace" is 4.9 (the ROCKETMQ header is replaced on both lines).
    """
    if frame[4] == 0 and len(frame) >= 10:
        try:
            end = 8 + int.from_bytes(frame[5:8], "big")
            command = _from_json(frame[8:end])
        except (msgspec.MsgspecError, UnicodeDecodeError):
            pass
        else:
            if (
                command.language in _known_languages
                and 4 + int.from_bytes(frame[:4], "big") == len(frame) >= end
            ):
                command.serialization = _JSON
                command.body = frame[end:]
                return command
    return _decode_lossless(frame, invalid_utf8)


def _decode_lossless(frame: bytes, invalid_utf8: InvalidUtf8) -> Command:
    dissection = dissect(frame)
    command = dissection.command
    if command is None:
        raise WireError(dissection.diagnostics[0].message, dissection.diagnostics)
    if invalid_utf8 == "refuse":
        for diagnostic in dissection.diagnostics:
            if diagnostic.code == INVALID_UTF8_IN_JSON:
                raise WireError(diagnostic.message, dissection.diagnostics)
    return command
