"""From a command, or from arbitrary parts, to the bytes of a frame.

- `encode` writes what Apache's encoder writes for the same command, byte for byte; `ext` is written in the
  order of the dict (Apache writes it in the order of a HashMap, on which no peer may rely).
- Plain commands are fast: ASCII without anything to escape. All others take the exact emitter of `fastjson`.
- `RawFrame` writes what it is given, legal or not; it is the only way to illegal lengths, types and headers.

Sources: `RemotingCommand#fastEncodeHeader`, `#markProtocolType`,
`RocketMQSerializable#rocketMQProtocolEncode` of rocketmq-all-4.9.8 and -5.3.3, and the golden vectors in
fixtures/frames.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

import msgspec

from harness.wire.codes import LANGUAGE_NUMBERS, Serialization

from .command import Command
from .errors import WireError
from .fastjson import Engine, dumps, restated
from .integers import INT32_MAX, INT32_MIN

_words: Final = Struct(">II").pack
_fixed: Final = Struct(">HBHII").pack
_to_json: Final = msgspec.json.Encoder().encode
_join: Final = "".join
_UNSET: Final = msgspec.UNSET
_JSON: Final = Serialization.JSON

_KEY_LENGTHS: Final = tuple(f"\0{chr(size)}" for size in range(128))
_VALUE_LENGTHS: Final = tuple(f"\0\0\0{chr(size)}" for size in range(128))


class _Header(msgspec.Struct, gc=False):
    """The members in the order in which Java writes them. UNSET leaves a member out."""

    code: int
    extFields: dict[str, str | None] | msgspec.UnsetType  # noqa: N815  (names of the protocol)
    flag: int
    language: str | msgspec.UnsetType
    opaque: int
    remark: str | msgspec.UnsetType
    serializeTypeCurrentRPC: str  # noqa: N815
    version: int


def encode(command: Command, engine: Engine = "fastjson") -> bytes:
    """The whole frame of a command, length word included; a JSON header is what `engine` writes.

    Raises `WireError` for what no encoder can write: an integer outside int32 (JSON), a language that has no
    number (ROCKETMQ; Apache's encoder fails on a null language too).
    """
    body = command.body
    if command.serialization == _JSON:
        header = _json_header(command)
        if engine == "fastjson2":
            header = restated(header)
        word = len(header) & 0xFFFFFF
    else:
        header = _binary_header(command)
        word = command.serialization << 24 | len(header) & 0xFFFFFF
    return _words(4 + len(header) + len(body), word) + header + body


def header_bytes(command: Command) -> bytes:
    """The header alone, for tampering. Same errors as `encode`."""
    return _json_header(command) if command.serialization == _JSON else _binary_header(command)


def _json_header(command: Command) -> bytes:
    code = command.code
    flag = command.flag
    opaque = command.opaque
    version = command.version
    if not 0 <= code | flag | opaque | version <= INT32_MAX:
        _check_int32(code, flag, opaque, version)
    ext = command.ext
    language = command.language
    remark = command.remark
    plain = _Header(
        code,
        _UNSET if ext is None else ext,
        flag,
        _UNSET if language is None else language,
        opaque,
        _UNSET if remark is None else remark,
        "JSON",
        version,
    )
    try:
        header = _to_json(plain)
    except UnicodeEncodeError:
        return _escaped(plain)
    # What msgspec escapes otherwise than fastjson has a backslash, is DEL or is not ASCII; null entries go.
    text = header.decode()  # looking for a character is faster in text than in bytes
    if text.isascii() and "\\" not in text and "\x7f" not in text and not (ext and None in ext.values()):
        return header
    return _escaped(plain)


def _escaped(header: _Header) -> bytes:
    members = msgspec.structs.asdict(header)
    return dumps({name: None if value is _UNSET else value for name, value in members.items()})


def _check_int32(*numbers: int) -> None:
    for number in numbers:
        if not INT32_MIN <= number <= INT32_MAX:
            raise WireError(f"{number} is not an int32")


def _binary_header(command: Command) -> bytes:
    language = command.language
    if language not in LANGUAGE_NUMBERS:
        raise WireError(f"language {language!r} has no number")
    start = _fixed(
        command.code & 0xFFFF,
        LANGUAGE_NUMBERS[language],
        command.version & 0xFFFF,
        command.opaque & 0xFFFFFFFF,
        command.flag & 0xFFFFFFFF,
    )
    remark = command.remark.encode("utf-8", "replace") if command.remark else b""
    entries = _entries(command.ext) if command.ext else b""
    return b"%b%b%b%b%b" % (
        start,
        len(remark).to_bytes(4, "big"),
        remark,
        len(entries).to_bytes(4, "big"),
        entries,
    )


def _entries(ext: dict[str, str | None]) -> bytes:
    try:
        return _join(
            [
                f"{_KEY_LENGTHS[len(key)]}{key}{_VALUE_LENGTHS[len(value)]}{value}"  # type: ignore[arg-type]
                for key, value in ext.items()
            ]
        ).encode("ascii")
    except (IndexError, TypeError, UnicodeEncodeError):
        pass  # text of 128 bytes and more, a null entry, text beyond ASCII
    entries = bytearray()
    for key, value in ext.items():
        if value is not None:
            raw_key = key.encode("utf-8", "replace")
            raw_value = value.encode("utf-8", "replace")
            entries += (len(raw_key) & 0xFFFF).to_bytes(2, "big") + raw_key
            entries += len(raw_value).to_bytes(4, "big") + raw_value
    return bytes(entries)


class RawFrame(msgspec.Struct, frozen=True):
    """A frame made of parts, however illegal.

    `length` and `header_length` are written as given (modulo 2^32 and 2^24, so -1 is `ffffffff`); None means
    the right one. `serialize_type` is the byte at offset 4.
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
        return _words(length & 0xFFFFFFFF, word) + self.header + self.body
