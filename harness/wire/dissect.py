"""The lossless path: any bytes can be shown, and what Apache's decoder would do with them is said beside.

- Never raises, whatever the bytes are. What is wrong becomes a diagnostic with a range of bytes.
- A *fatal* diagnostic means that Apache's server closes the connection; any other means that it serves the
  frame although no Java peer would have written it. A frame with no fatal diagnostic always has a command.
- Invalid UTF-8 in a JSON header is the one thing on which the two lines disagree (4.9 replaces, 5.x refuses):
  it is reported as odd under `INVALID_UTF8_IN_JSON`, and the caller decides.
- A missing `opaque` is 0 here; Apache leaves an unpredictable number of its own counter there.

Sources: `RemotingCommand#decode`, `RocketMQSerializable#rocketMQProtocolDecode` of both tags, fastjson
1.2.69 and 1.2.83; every rule was compared with Apache's decoder run on the same bytes.
"""

from __future__ import annotations

import msgspec

from harness.wire.codes import Serialization

from .command import Command
from .errors import Diagnostic
from .fastjson import Engine
from .framing import FRAME_LIMIT, length_too_large, length_too_small
from .header_json import read_json_header
from .header_rocketmq import read_binary_header
from .report import Field, Reading, Refused


class Dissection(msgspec.Struct, frozen=True):
    """What is in a frame. `command` is None exactly when a diagnostic is fatal. Fields are in the order of
    the bytes.
    """

    command: Command | None
    fields: tuple[Field, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def fatal(self) -> tuple[Diagnostic, ...]:
        """The diagnostics for which Apache closes the connection."""
        return tuple(diagnostic for diagnostic in self.diagnostics if diagnostic.fatal)


def dissect(frame: bytes | bytearray | memoryview, engine: Engine = "fastjson") -> Dissection:
    """Takes one frame, length word included, apart. Bytes that are no whole frame are taken apart as far as
    they go.
    """
    reading = Reading(bytes(frame))
    try:
        command = _read(reading, engine)
    except Refused:
        command = None
    reading.fields.sort(key=lambda field: (field.start, -field.end))
    reading.diagnostics.sort(key=lambda diagnostic: (not diagnostic.fatal, diagnostic.start))
    return Dissection(command, tuple(reading.fields), tuple(reading.diagnostics))


def _read(reading: Reading, engine: Engine) -> Command:
    data = reading.data
    size = len(data)
    if size < 4:
        reading.refuse("frame-truncated", f"{size} of the 4 bytes of the length word", 0, size)
    length = reading.integer("length", 0, 4)
    if length < 4:
        reading.refuse("length-too-small", length_too_small(length), 0, 4)
    if length > FRAME_LIMIT - 4:
        reading.refuse("length-too-large", length_too_large(length, FRAME_LIMIT - 4), 0, 4)
    if size < 4 + length:
        reading.refuse("frame-truncated", f"{size - 4} of {length} bytes after the length word", 4, size)
    if size > 4 + length:
        reading.refuse(
            "frame-trailing", f"{size - 4 - length} bytes after the end of the frame", 4 + length, size
        )
    kind = reading.integer("serialize type", 4, 5, signed=False)
    header_length = reading.integer("header length", 5, 8, signed=False)
    if header_length > length - 4:
        reading.refuse("header-length-too-large", f"header of {header_length} bytes in {length - 4}", 5, 8)
    if kind == Serialization.JSON:
        command = read_json_header(reading, 8, 8 + header_length, engine)
        body_start = 8 + header_length
    elif kind == Serialization.ROCKETMQ:
        command, body_start = read_binary_header(reading, 8, header_length)
    else:
        reading.refuse("serialize-type-unknown", f"serialize type {kind} is neither 0 nor 1", 4, 5)
    body_length = length - 4 - header_length
    command.body = data[body_start : body_start + body_length]
    if body_length:
        reading.fields.append(Field("body", body_start, body_start + body_length, command.body))
    return command
