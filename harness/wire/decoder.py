"""The fast path of reading: a whole frame to a command.

- What the fast path is not sure of it hands to `dissect`; it never decides that a frame is bad. Both give
  equal commands and the same verdict (tests/unit/wire/test_wire_fast_path.py).
- Only plain frames are fast: known members with their plain types (JSON), ASCII text shorter than 128 bytes
  with no empty one among it (ROCKETMQ). That is what brokers and clients send.
"""

from __future__ import annotations

from struct import Struct
from struct import error as StructError  # noqa: N812  (an exception is a class)
from typing import Final, Literal

import msgspec

from harness.wire.codes import LANGUAGES, Serialization

from .command import Command
from .dissect import dissect
from .errors import WireError
from .fastjson import Engine
from .framing import FRAME_LIMIT
from .header_json import INVALID_UTF8_IN_JSON

InvalidUtf8 = Literal["refuse", "replace"]

_from_json: Final = msgspec.json.Decoder(Command).decode
_words: Final = Struct(">II").unpack_from
_fixed: Final = Struct(">hbhiiI").unpack_from
_JSON: Final = Serialization.JSON
_ROCKETMQ: Final = Serialization.ROCKETMQ
_ROCKETMQ_WORD: Final = _ROCKETMQ << 24
_EXT_AT: Final = 8 + 21
"""Where the entries of extFields begin in a ROCKETMQ frame without a remark."""


def decode(frame: bytes, *, invalid_utf8: InvalidUtf8 = "refuse", engine: Engine = "fastjson") -> Command:
    """The command in one whole frame, length word included.

    Raises `WireError` where Apache's server would close the connection. `invalid_utf8` decides about a JSON
    header that is no UTF-8: "refuse" is 5.x, "replace" is 4.9 (the ROCKETMQ header is replaced on both
    lines). `engine` reads a JSON header: "fastjson" up to 5.3, "fastjson2" from 5.4 on, which refuses invalid
    UTF-8 in any case.
    """
    try:
        length, word = _words(frame)
        size = length + 4
        if size == len(frame) <= FRAME_LIMIT:
            if word < _ROCKETMQ_WORD:
                end = word + 8
                if end <= size:
                    command = _from_json(frame[8:end])
                    command.serialization = _JSON
                    if end < size:
                        command.body = frame[end:]
                    return command
            else:
                binary = _decode_binary(frame, word - _ROCKETMQ_WORD + 8, size)
                if binary is not None:
                    return binary
    except (msgspec.MsgspecError, UnicodeDecodeError, StructError, IndexError):
        pass
    return _decode_lossless(frame, invalid_utf8, engine)


def _decode_binary(frame: bytes, end: int, size: int) -> Command | None:
    code, language, version, opaque, flag, remark_size = _fixed(frame, 8)
    at = _EXT_AT + remark_size
    if end > size or at > end or not 0 <= language < len(LANGUAGES):
        return None
    if int.from_bytes(frame[at - 4 : at], "big") != end - at:
        return None
    remark = frame[_EXT_AT - 4 : at - 4].decode() if remark_size else None
    ext: dict[str, str | None] | None = None
    if at < end:
        raw = frame[at:end]
        text = raw.decode("ascii")
        ext = {}
        start, left = 0, end - at
        while start < left:
            # A length is one byte when the bytes before it are zero; all else is left to the lossless path.
            value_at = start + 6 + raw[start + 1]
            next_at = value_at + raw[value_at - 1]
            key = text[start + 2 : value_at - 4]
            value = text[value_at:next_at]
            if raw[start] or not key or not value or text[value_at - 4 : value_at - 1] != "\0\0\0":
                return None
            ext[key] = value
            start = next_at
        if start != left:
            return None
    return Command(
        code,
        ext=ext,
        flag=flag,
        language=LANGUAGES[language],
        opaque=opaque,
        remark=remark,
        serialization=_ROCKETMQ,
        version=version,
        body=frame[end:],
    )


def _decode_lossless(frame: bytes, invalid_utf8: InvalidUtf8, engine: Engine) -> Command:
    dissection = dissect(frame, engine)
    command = dissection.command
    if command is None:
        raise WireError(dissection.diagnostics[0].message, dissection.diagnostics)
    if invalid_utf8 == "refuse":
        for diagnostic in dissection.diagnostics:
            if diagnostic.code == INVALID_UTF8_IN_JSON:
                raise WireError(diagnostic.message, dissection.diagnostics)
    return command
