"""From a command, or from arbitrary parts, to the bytes of a frame.

Rules of this module:
- `encode` writes what Apache's encoder writes for the same command, byte for byte; `ext` is written in the order of the
  dict (Apache writes it in the order of a HashMap, which nobody may rely on).
- `RawFrame` writes what it is told, legal or not; it is the only way to illegal lengths, types and headers.

Sources: `RemotingCommand#fastEncodeHeader`, `#markProtocolType`, `RocketMQSerializable#rocketMQProtocolEncode` of
rocketmq-all-4.9.8 and -5.3.3, and the golden vectors in fixtures/frames.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

import msgspec

from .codes import LANGUAGE_NUMBERS, Serialization
from .command import INT32_MAX, INT32_MIN, Command
from .errors import WireError
from .fastjson import dumps, quote

__all__ = ["RawFrame", "encode", "header_bytes"]

_FRAME: Final = Struct(">II")
_FIXED: Final = Struct(">HBHIII")
_to_json: Final = msgspec.json.Encoder().encode

_QUOTED_LANGUAGES: Final[dict[str | None, bytes]] = {
    name: b'"language":"%b",' % name.encode() for name in LANGUAGE_NUMBERS
}
_QUOTED_LANGUAGES[None] = b""


def encode(command: Command) -> bytes:
    """The whole frame of a command, length word included.

    Raises `WireError` for what no encoder can write: an integer outside int32 (JSON), a language that has no number
    (ROCKETMQ; Apache's encoder fails on a null language too).
    """
    header = header_bytes(command)
    size = len(header)
    body = command.body
    return b"%b%b%b" % (
        _FRAME.pack(4 + size + len(body), command.serialization << 24 | size & 0xFFFFFF),
        header,
        body,
    )


def header_bytes(command: Command) -> bytes:
    """The header alone, for tampering. Same errors as `encode`."""
    if command.serialization == Serialization.JSON:
        return _json_header(command)
    return _binary_header(command)


def _json_header(command: Command) -> bytes:
    for number in (command.code, command.flag, command.opaque, command.version):
        if not INT32_MIN <= number <= INT32_MAX:
            raise WireError(f"{number} is not an int32")
    ext = command.ext
    language = command.language
    return b'{"code":%d,%b"flag":%d,%b"opaque":%d,%b"serializeTypeCurrentRPC":"JSON","version":%d}' % (
        command.code,
        b"" if ext is None else b'"extFields":%b,' % dumps(ext, "plain"),
        command.flag,
        b"" if language is None else b'"language":%b,' % quote(language),
        command.opaque,
        b"" if command.remark is None else b'"remark":%b,' % quote(command.remark),
        command.version,
    )


def _binary_header(command: Command) -> bytes:
    language = command.language
    if language not in LANGUAGE_NUMBERS:
        raise WireError(f"language {language!r} has no number")
    remark = (command.remark or "").encode("utf-8", "replace")
    entries = bytearray()
    for key, value in (command.ext or {}).items():
        if value is not None:
            raw_key = key.encode("utf-8", "replace")
            raw_value = value.encode("utf-8", "replace")
            entries += (len(raw_key) & 0xFFFF).to_bytes(2, "big") + raw_key
            entries += len(raw_value).to_bytes(4, "big") + raw_value
    return b"".join(
        (
            (command.code & 0xFFFF).to_bytes(2, "big"),
            LANGUAGE_NUMBERS[language].to_bytes(1, "big"),
            (command.version & 0xFFFF).to_bytes(2, "big"),
            (command.opaque & 0xFFFFFFFF).to_bytes(4, "big"),
            (command.flag & 0xFFFFFFFF).to_bytes(4, "big"),
            len(remark).to_bytes(4, "big"),
            remark,
            len(entries).to_bytes(4, "big"),
            entries,
        )
    )


class RawFrame(msgspec.Struct, frozen=True):
    """A frame made of parts, however illegal.

    `length` and `header_length` are written as given (modulo 2^32 and 2^24, so -1 is `ffffffff`); None means the right
    one. `serialize_type` is the byte at offset 4.
    """

    header: bytes
    body: bytes = b""
    serialize_type: int = 0
    length: int | None = None
    header_length: int | None = None

    def encode(self) -> bytes:
        """The bytes, length word included."""
        header_length = len(self.header) if self.header_length is None else self.header_length
        length = 4 + len(self.header) + len(self.body) if self.length is None else self.length
        word = (self.serialize_type & 0xFF) << 24 | header_length & 0xFFFFFF
        return _FRAME.pack(length & 0xFFFFFFFF, word) + self.header + self.body
