"""The ROCKETMQ header, read the way Apache reads it.

- Apache reads the header as a stream that knows nothing of the header's end: spare bytes of the header become
  the start of the body (and the last bytes of the body are lost), and a string may run on into the body.
- Length 0 is null: for the remark, for a key (the entry's key is null then, and cannot be asked for), for a
  value.
- Bytes that are no UTF-8 are replaced by U+FFFD on both lines.

Source: `RocketMQSerializable#rocketMQProtocolDecode`, `#readStr`, `#mapDeserialize`.
"""

from __future__ import annotations

from harness.wire.codes import LANGUAGES, Serialization

from .command import Command
from .report import Field, Reading
from .text import java_text


def read_binary_header(reading: Reading, start: int, header_length: int) -> tuple[Command, int]:
    """The command without its body, and where its body starts."""
    return _BinaryReader(reading, start, header_length).read()


class _BinaryReader:
    def __init__(self, reading: Reading, start: int, header_length: int) -> None:
        self.reading = reading
        self.start = start
        self.at = start
        self.header_length = header_length

    def read(self) -> tuple[Command, int]:
        reading = self.reading
        code = self.integer("code", 2)
        number = self.integer("language", 1)
        language = LANGUAGES[number] if 0 <= number < len(LANGUAGES) else None
        if language is None:
            reading.odd("language-unknown", f"language {number} has no name", self.at - 1, self.at)
        version = self.integer("version", 2)
        opaque = self.integer("opaque", 4)
        flag = self.integer("flag", 4)
        remark = self.string("remark", 4, self.header_length)
        ext = self.entries()
        header_end = self.start + self.header_length
        if self.at > header_end:
            reading.refuse(
                "header-length-too-small",
                f"content runs {self.at - header_end} bytes beyond the header",
                header_end,
                self.at,
            )
        if self.at < header_end:
            reading.odd(
                "header-spare-bytes",
                f"the body begins with {header_end - self.at} spare bytes of the header",
                self.at,
                header_end,
            )
        command = Command(
            code=code,
            opaque=opaque,
            flag=flag,
            language=language,
            version=version,
            remark=remark,
            ext=ext,
            serialization=Serialization.ROCKETMQ,
        )
        return command, self.at

    def entries(self) -> dict[str, str | None] | None:
        reading = self.reading
        start = self.at
        size = self.integer("extFields length", 4)
        if size < 0:
            reading.odd("ext-length-negative", f"extFields length {size} is read as no map", start, self.at)
        if size <= 0:
            return None
        if size > self.header_length:
            reading.refuse(
                "ext-length-too-large",
                f"extFields length {size}, header length {self.header_length}",
                start,
                self.at,
            )
        end = self.at + size
        ext: dict[str, str | None] = {}
        while self.at < end:
            entry = self.at
            key = self.string("extFields key", 2, size)
            value = self.string(f"extFields.{key or ''}", 4, size)
            if key is None:
                reading.odd("ext-key-empty", "an entry with an empty key cannot be asked for", entry, self.at)
                continue
            if key in ext:
                reading.odd("ext-duplicate", f"{key} occurs again; the last one counts", entry, self.at)
            if value is None:
                reading.odd("ext-value-empty", f"{key} has length 0, which is read as null", entry, self.at)
            ext[key] = value
        if self.at > end:
            reading.odd(
                "ext-overrun", f"the last entry runs {self.at - end} bytes beyond the map", end, self.at
            )
        return ext

    def integer(self, name: str, size: int) -> int:
        at = self.at
        self.need(name, size)
        self.at = at + size
        return self.reading.integer(name, at, at + size)

    def string(self, name: str, prefix: int, limit: int) -> str | None:
        start = self.at
        self.need(f"{name} length", prefix)
        size = int.from_bytes(self.reading.data[start : start + prefix], "big", signed=True)
        self.at = start + prefix
        if size < 0:
            self.reading.refuse("string-length-negative", f"{name} has length {size}", start, self.at)
        if size > limit:
            self.reading.refuse(
                "string-length-too-large", f"{name} has length {size}, more than {limit}", start, self.at
            )
        self.need(name, size)
        raw = self.reading.data[self.at : self.at + size]
        self.at += size
        if not size:
            self.reading.fields.append(Field(name, start, self.at, None))
            return None
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            text = java_text(raw)
            first = self.at - size + error.start
            self.reading.odd("invalid-utf8", f"{name} is no UTF-8; the bytes are replaced", first, first + 1)
        self.reading.fields.append(Field(name, start, self.at, text))
        return text

    def need(self, name: str, size: int) -> None:
        left = len(self.reading.data) - self.at
        if left < size:
            self.reading.refuse(
                "header-truncated", f"{name} needs {size} bytes, {left} are left", self.at, self.at + left
            )
