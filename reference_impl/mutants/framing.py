"""Faults of frames, headers, flags, and of what keeps a connection open."""

import json
from collections.abc import Iterator

import msgspec

from harness.wire import (
    FLAG_ONEWAY,
    FLAG_RESPONSE,
    FRAME_LIMIT,
    Command,
    FrameBuffer,
    RequestCode,
    ResponseCode,
    Serialization,
    WireError,
    encode,
)
from harness.wire.broker_codes import BrokerRequest
from harness.wire.codes import LANGUAGES
from reference_impl.mutants import BOTH, mutant
from reference_impl.mutants._headers import (
    Members,
    header_of,
    refusing,
    refusing_text,
    rewriting,
    rewriting_text,
    with_header,
)
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.parts import Parts
from reference_impl.remoting.effects import Effect
from reference_impl.remoting.reply import Reply

_BINARY = Serialization.ROCKETMQ
_NUMBERS = ("code", "flag", "opaque", "version")
_KNOWN = {*_NUMBERS, "extFields", "language", "remark", "serializeTypeCurrentRPC"}
_FIXED = 21  # bytes of a binary header without remark and ext fields

# --- responses ------------------------------------------------------------------------------------------


def _length_off_by(parts: Parts, difference: int) -> Parts:
    def write(self: Endpoint, response: Command) -> bytes:
        frame = parts.endpoint.write(self, response)
        return (int.from_bytes(frame[:4], "big") + difference).to_bytes(4, "big") + frame[4:]

    return parts.override("endpoint", write)


@mutant("response-length-too-large", "The length word of a response counts one byte too many.")
def response_length_too_large(parts: Parts) -> Parts:
    return _length_off_by(parts, 1)


@mutant("response-length-too-small", "The length word of a response counts one byte too few.")
def response_length_too_small(parts: Parts) -> Parts:
    return _length_off_by(parts, -1)


@mutant("opaque-not-echoed", "A response carries a number of the server's own.", roles=BOTH)
def opaque_not_echoed(parts: Parts) -> Parts:
    def response(self: Endpoint, request: Command, reply: Reply) -> Command:
        return msgspec.structs.replace(parts.endpoint.response(self, request, reply), opaque=12345)

    return parts.override("endpoint", response)


@mutant("opaque-without-sign", "A negative opaque loses its sign.", roles=BOTH)
def opaque_without_sign(parts: Parts) -> Parts:
    def response(self: Endpoint, request: Command, reply: Reply) -> Command:
        response = parts.endpoint.response(self, request, reply)
        return msgspec.structs.replace(response, opaque=response.opaque & 0x7FFFFFFF)

    return parts.override("endpoint", response)


@mutant(
    "equal-opaques-answered-once",
    "Of requests with one opaque on a connection the first is answered.",
    roles=BOTH,
)
def equal_opaques_answered_once(parts: Parts) -> Parts:
    def answer(self: Endpoint, connection: int, frame: bytes, now: int) -> bytes | None:
        answered: set[tuple[int, int]] = self.__dict__.setdefault("answered", set())
        key = connection, self.read(frame).opaque
        if key in answered:
            return None
        answered.add(key)
        return parts.endpoint.answer(self, connection, frame, now)

    return parts.override("endpoint", answer)


@mutant("response-marked-oneway", "A response has the one-way bit too.", roles=BOTH)
def response_marked_oneway(parts: Parts) -> Parts:
    def response(self: Endpoint, request: Command, reply: Reply) -> Command:
        both = FLAG_RESPONSE | FLAG_ONEWAY
        return msgspec.structs.replace(parts.endpoint.response(self, request, reply), flag=both)

    return parts.override("endpoint", response)


@mutant("flag-bits-echoed", "A response has all bits of its request's flag.", roles=BOTH)
def flag_bits_echoed(parts: Parts) -> Parts:
    def response(self: Endpoint, request: Command, reply: Reply) -> Command:
        response = parts.endpoint.response(self, request, reply)
        return msgspec.structs.replace(response, flag=request.flag | FLAG_RESPONSE)

    return parts.override("endpoint", response)


@mutant(
    "unknown-flag-bits-refused", "A flag with a bit that has no meaning closes the connection.", roles=BOTH
)
def unknown_flag_bits_refused(parts: Parts) -> Parts:
    return refusing(parts, lambda members: bool(members.get("flag", 0) & ~(FLAG_RESPONSE | FLAG_ONEWAY)))


@mutant(
    "null-members-written", "A JSON response header writes a remark that is not there as null.", roles=BOTH
)
def null_members_written(parts: Parts) -> Parts:
    def write(self: Endpoint, response: Command) -> bytes:
        frame = parts.endpoint.write(self, response)
        header = header_of(frame)
        if response.remark is not None or header is None:
            return frame
        return with_header(frame, b'{"remark":null,' + header[1:])

    return parts.override("endpoint", write)


# --- one-way requests and stray responses ---------------------------------------------------------------


@mutant("oneway-not-executed", "A one-way request is dropped.")
def oneway_not_executed(parts: Parts) -> Parts:
    def is_ignored(self: Endpoint, command: Command) -> bool:
        return command.is_oneway or parts.endpoint.is_ignored(self, command)

    return parts.override("endpoint", is_ignored)


@mutant("oneway-answered", "A one-way request is answered.", roles=BOTH)
def oneway_answered(parts: Parts) -> Parts:
    def is_unanswered(self: Endpoint, command: Command) -> bool:
        return False

    return parts.override("endpoint", is_unanswered)


@mutant("failing-oneway-answered", "A one-way request that fails is answered.")
def failing_oneway_answered(parts: Parts) -> Parts:
    def answer(self: Endpoint, connection: int, frame: bytes, now: int) -> bytes | None:
        command = self.read(frame)
        if not command.is_oneway:
            return parts.endpoint.answer(self, connection, frame, now)
        reply = self.nameserver.execute(command, connection, now)
        failed = reply is not None and reply.code == ResponseCode.SYSTEM_ERROR
        return self.write(self.response(command, reply)) if failed and reply is not None else None

    return parts.override("endpoint", answer)


@mutant("failing-oneway-closes", "A one-way request that fails closes the connection.")
def failing_oneway_closes(parts: Parts) -> Parts:
    def answer(self: Endpoint, connection: int, frame: bytes, now: int) -> bytes | None:
        command = self.read(frame)
        if not command.is_oneway:
            return parts.endpoint.answer(self, connection, frame, now)
        reply = self.nameserver.execute(command, connection, now)
        if reply is not None and reply.code == ResponseCode.SYSTEM_ERROR:
            raise WireError("a request that nobody waits for has failed")
        return None

    return parts.override("endpoint", answer)


@mutant("stray-response-closes", "A frame with the response bit closes the connection.", roles=BOTH)
def stray_response_closes(parts: Parts) -> Parts:
    def is_ignored(self: Endpoint, command: Command) -> bool:
        if command.is_response:
            raise WireError("a response to nothing")
        return parts.endpoint.is_ignored(self, command)

    return parts.override("endpoint", is_ignored)


@mutant("responses-executed", "A frame with the response bit is taken for a request.", roles=BOTH)
def responses_executed(parts: Parts) -> Parts:
    def is_ignored(self: Endpoint, command: Command) -> bool:
        return False

    return parts.override("endpoint", is_ignored)


@mutant("oneway-bit-first", "A frame with both bits of the flag is taken for a one-way request.")
def oneway_bit_first(parts: Parts) -> Parts:
    def read(self: Endpoint, frame: bytes) -> Command:
        command = parts.endpoint.read(self, frame)
        if command.flag & FLAG_ONEWAY:
            command.flag &= ~FLAG_RESPONSE
        return command

    return parts.override("endpoint", read)


# --- the stream -----------------------------------------------------------------------------------------


def _end_of_frame(data: bytes, start: int) -> int:
    return start + 4 + int.from_bytes(data[start : start + 4], "big")


@mutant("partial-frames-dropped", "Bytes behind the last whole frame of a segment are lost.", roles=BOTH)
def partial_frames_dropped(parts: Parts) -> Parts:
    def frames(self: Endpoint, buffer: FrameBuffer, data: bytes) -> Iterator[bytes]:
        end = 0
        while len(data) - end >= 4 and _end_of_frame(data, end) <= len(data):
            end = _end_of_frame(data, end)
        return parts.endpoint.frames(self, buffer, data[:end])

    return parts.override("endpoint", frames)


@mutant("one-frame-per-segment", "Bytes behind the first frame of a segment are lost.", roles=BOTH)
def one_frame_per_segment(parts: Parts) -> Parts:
    def frames(self: Endpoint, buffer: FrameBuffer, data: bytes) -> Iterator[bytes]:
        first = data if buffer.pending else data[: _end_of_frame(data, 0)]
        return parts.endpoint.frames(self, buffer, first)

    return parts.override("endpoint", frames)


@mutant("small-frame-limit", "Frames of more than 1 MiB are refused.", roles=BOTH)
def small_frame_limit(parts: Parts) -> Parts:
    def new_buffer(self: Endpoint) -> FrameBuffer:
        return FrameBuffer(2**20)

    return parts.override("endpoint", new_buffer)


@mutant("frame-limit-off-by-one", "The frame limit does not count the length word.", roles=BOTH)
def frame_limit_off_by_one(parts: Parts) -> Parts:
    def new_buffer(self: Endpoint) -> FrameBuffer:
        return FrameBuffer(FRAME_LIMIT + 4)

    return parts.override("endpoint", new_buffer)


class _Patient(FrameBuffer):
    def next_frame(self) -> bytes | None:
        try:
            return super().next_frame()
        except WireError:
            return None


@mutant("bad-length-waits", "A length word that cannot be is no reason to close the connection.", roles=BOTH)
def bad_length_waits(parts: Parts) -> Parts:
    def new_buffer(self: Endpoint) -> FrameBuffer:
        return _Patient(FRAME_LIMIT)

    return parts.override("endpoint", new_buffer)


@mutant("header-length-of-16-bits", "Only the low 16 bits of a header length count.", roles=BOTH)
def header_length_of_16_bits(parts: Parts) -> Parts:
    def read(self: Endpoint, frame: bytes) -> Command:
        return parts.endpoint.read(self, frame[:5] + b"\0" + frame[6:])

    return parts.override("endpoint", read)


@mutant(
    "every-body-parsed", "A body that is no JSON closes the connection, whatever the request.", roles=BOTH
)
def every_body_parsed(parts: Parts) -> Parts:
    def read(self: Endpoint, frame: bytes) -> Command:
        command = parts.endpoint.read(self, frame)
        if command.body:
            try:
                json.loads(command.body)
            except ValueError as error:
                raise WireError("the body is no JSON") from error
        return command

    return parts.override("endpoint", read)


# --- malformed frames -----------------------------------------------------------------------------------


@mutant("malformed-skipped", "A frame that cannot be decoded is skipped.", roles=BOTH)
def malformed_skipped(parts: Parts) -> Parts:
    def answer(self: Endpoint, connection: int, frame: bytes, now: int) -> bytes | None:
        try:
            self.read(frame)
        except WireError:
            return None
        return parts.endpoint.answer(self, connection, frame, now)

    return parts.override("endpoint", answer)


@mutant("malformed-answered", "A frame that cannot be decoded is answered with code 1.", roles=BOTH)
def malformed_answered(parts: Parts) -> Parts:
    def answer(self: Endpoint, connection: int, frame: bytes, now: int) -> bytes | None:
        try:
            self.read(frame)
        except WireError as error:
            return self.write(Command(code=ResponseCode.SYSTEM_ERROR, flag=FLAG_RESPONSE, remark=str(error)))
        return parts.endpoint.answer(self, connection, frame, now)

    return parts.override("endpoint", answer)


@mutant(
    "header-length-clamped", "A header length beyond the frame counts as the rest of the frame.", roles=BOTH
)
def header_length_clamped(parts: Parts) -> Parts:
    def read(self: Endpoint, frame: bytes) -> Command:
        most = len(frame) - 8
        length = min(int.from_bytes(frame[5:8], "big"), most)
        return parts.endpoint.read(self, frame[:5] + length.to_bytes(3, "big") + frame[8:])

    return parts.override("endpoint", read)


@mutant("empty-header-skipped", "A frame without a header is skipped.", roles=BOTH)
def empty_header_skipped(parts: Parts) -> Parts:
    def answer(self: Endpoint, connection: int, frame: bytes, now: int) -> bytes | None:
        if frame[5:8] == b"\0\0\0":
            return None
        return parts.endpoint.answer(self, connection, frame, now)

    return parts.override("endpoint", answer)


@mutant(
    "unknown-serialization-is-json", "A type byte that names no serialization stands for JSON.", roles=BOTH
)
def unknown_serialization_is_json(parts: Parts) -> Parts:
    def read(self: Endpoint, frame: bytes) -> Command:
        known = frame[4] in (Serialization.JSON, _BINARY)
        return parts.endpoint.read(self, frame if known else frame[:4] + b"\0" + frame[5:])

    return parts.override("endpoint", read)


@mutant(
    "serialization-guessed", "The serialization is guessed from the first byte of the header.", roles=BOTH
)
def serialization_guessed(parts: Parts) -> Parts:
    def read(self: Endpoint, frame: bytes) -> Command:
        return parts.endpoint.read(self, frame[:4] + (b"\0" if frame[8:9] == b"{" else b"\1") + frame[5:])

    return parts.override("endpoint", read)


@mutant(
    "header-without-members-for-any-value",
    "A JSON header that is no object is read as an empty one.",
    roles=BOTH,
)
def header_without_members_for_any_value(parts: Parts) -> Parts:
    def change(header: bytes) -> bytes:
        try:
            return header if isinstance(json.loads(header), dict) else b"{}"
        except ValueError:
            return header

    return rewriting_text(parts, change)


@mutant("text-after-header-ignored", "Text behind the JSON object of a header is ignored.", roles=BOTH)
def text_after_header_ignored(parts: Parts) -> Parts:
    def change(header: bytes) -> bytes:
        text = header.decode("utf-8", "surrogateescape")
        try:
            _, end = json.JSONDecoder().raw_decode(text)
        except ValueError:
            return header
        return text[:end].encode("utf-8", "surrogateescape")

    return rewriting_text(parts, change)


@mutant("ext-fields-of-any-type-ignored", "Ext fields that are no object are ignored.", roles=BOTH)
def ext_fields_of_any_type_ignored(parts: Parts) -> Parts:
    def change(members: Members) -> None:
        if not isinstance(members.get("extFields"), dict):
            members.pop("extFields", None)

    return rewriting(parts, change)


@mutant("numbers-wrap", "Of a number that is too large the low 32 bits count.", roles=BOTH)
def numbers_wrap(parts: Parts) -> Parts:
    def change(members: Members) -> None:
        for name in _NUMBERS:
            if isinstance(members.get(name), int):
                members[name] = (members[name] + 2**31) % 2**32 - 2**31

    return rewriting(parts, change)


@mutant("text-for-a-number-is-zero", "What is no number in the place of one is read as 0.", roles=BOTH)
def text_for_a_number_is_zero(parts: Parts) -> Parts:
    def change(members: Members) -> None:
        for name in _NUMBERS:
            if isinstance(members.get(name), list | dict) or members.get(name) == "x":
                members[name] = 0

    return rewriting(parts, change)


@mutant("malformed-closes-all", "When the server closes a connection, it closes all.", roles=BOTH)
def malformed_closes_all(parts: Parts) -> Parts:
    def close(self: Endpoint, connection: int) -> list[Effect]:
        every = [connection, *(other for other in self._connections if other != connection)]
        return [effect for one in every for effect in parts.endpoint.close(self, one)]

    return parts.override("endpoint", close)


@mutant("malformed-forgets-brokers", "When the server closes a connection, it forgets the brokers of all.")
def malformed_forgets_brokers(parts: Parts) -> Parts:
    def close(self: Endpoint, connection: int) -> list[Effect]:
        for other, known in self._connections.items():
            self.routes.connection_lost(other, known.peer)
        return parts.endpoint.close(self, connection)

    return parts.override("endpoint", close)


# --- UTF-8 ----------------------------------------------------------------------------------------------


def _is_no_utf8(header: bytes) -> bool:
    return header.decode("utf-8", "replace").encode() != header


@mutant("invalid-utf8-refused", "Bytes of a header that are no UTF-8 close the connection.", ["4.9"])
def invalid_utf8_refused(parts: Parts) -> Parts:
    return refusing_text(parts, _is_no_utf8)


@mutant("invalid-utf8-replaced", "Bytes of a header that are no UTF-8 are replaced.", ["5.3", "5.5"])
def invalid_utf8_replaced(parts: Parts) -> Parts:
    return rewriting_text(parts, lambda header: header.decode("utf-8", "replace").encode())


@mutant("header-read-as-latin-1", "A JSON header is read as ISO 8859-1.")
def header_read_as_latin_1(parts: Parts) -> Parts:
    return rewriting_text(parts, lambda header: header.decode("latin-1").encode())


@mutant("response-header-in-ascii", "What is not ASCII in a response header becomes a question mark.")
def response_header_in_ascii(parts: Parts) -> Parts:
    def response(self: Endpoint, request: Command, reply: Reply) -> Command:
        response = parts.endpoint.response(self, request, reply)
        ext = {
            name: value and value.encode("ascii", "replace").decode()
            for name, value in (response.ext or {}).items()
        }
        return msgspec.structs.replace(response, ext=ext)

    return parts.override("endpoint", response)


# --- binary headers -------------------------------------------------------------------------------------


@mutant("binary-refused", "A binary header closes the connection.", roles=BOTH)
def binary_refused(parts: Parts) -> Parts:
    return refusing_text(parts, lambda _: True, _BINARY)


@mutant("binary-ext-ignored", "The ext fields of a binary header are ignored.")
def binary_ext_ignored(parts: Parts) -> Parts:
    def read(self: Endpoint, frame: bytes) -> Command:
        command = parts.endpoint.read(self, frame)
        return command if frame[4] != _BINARY else msgspec.structs.replace(command, ext=None)

    return parts.override("endpoint", read)


@mutant(
    "type-byte-of-the-request", "A response has the type byte of its request and a JSON header.", roles=BOTH
)
def type_byte_of_the_request(parts: Parts) -> Parts:
    def write(self: Endpoint, response: Command) -> bytes:
        frame = encode(msgspec.structs.replace(response, serialization=Serialization.JSON))
        return frame[:4] + bytes([response.serialization]) + frame[5:]

    return parts.override("endpoint", write)


@mutant("answers-in-binary", "Every response has a binary header.", roles=BOTH)
def answers_in_binary(parts: Parts) -> Parts:
    def response_serialization(self: Endpoint, request: Command, reply: Reply) -> Serialization:
        return _BINARY

    return parts.override("endpoint", response_serialization)


@mutant("binary-zero-length-is-empty", "A length of 0 in a binary header means an empty string.")
def binary_zero_length_is_empty(parts: Parts) -> Parts:
    def read(self: Endpoint, frame: bytes) -> Command:
        command = parts.endpoint.read(self, frame)
        if frame[4] != _BINARY or command.ext is None:
            return command
        ext = {name: value or "" for name, value in command.ext.items()}
        return msgspec.structs.replace(command, ext=ext)

    return parts.override("endpoint", read)


@mutant("binary-language-checked", "A language byte that is not known closes the connection.", roles=BOTH)
def binary_language_checked(parts: Parts) -> Parts:
    return refusing_text(parts, lambda header: len(header) > 2 and header[2] >= len(LANGUAGES), _BINARY)


def _length_at(header: bytes, start: int) -> int:
    return int.from_bytes(header[start : start + 4], "big", signed=True)


def _ext_length_at(header: bytes) -> int | None:
    """Where the length of the ext fields is; None where the fields before it cannot be read."""
    remark = _length_at(header, 13)
    return 17 + remark if 0 <= remark <= len(header) - _FIXED else None


@mutant(
    "binary-bad-remark-length-is-zero",
    "A remark length that cannot be means that there is no remark.",
    roles=BOTH,
)
def binary_bad_remark_length_is_zero(parts: Parts) -> Parts:
    def change(header: bytes) -> bytes:
        return header if _ext_length_at(header) is not None else header[:13] + bytes(4) + header[17:]

    return rewriting_text(parts, change, _BINARY)


@mutant(
    "binary-bad-ext-length-is-zero", "A length of the ext fields beyond the header counts as 0.", roles=BOTH
)
def binary_bad_ext_length_is_zero(parts: Parts) -> Parts:
    def change(header: bytes) -> bytes:
        at = _ext_length_at(header)
        if at is None or _length_at(header, at) <= len(header):
            return header
        return header[:at] + bytes(4) + header[at + 4 :]

    return rewriting_text(parts, change, _BINARY)


@mutant(
    "binary-bad-entries-skipped", "An ext entry with a length that cannot be ends the ext fields.", roles=BOTH
)
def binary_bad_entries_skipped(parts: Parts) -> Parts:
    def change(header: bytes) -> bytes:
        at = _ext_length_at(header)
        if at is None or _length_at(header, at) != len(header) - at - 4:
            return header
        sound = b"".join(raw for _, raw in _entries(header[at + 4 :]))
        return header[:at] + len(sound).to_bytes(4, "big") + sound

    return rewriting_text(parts, change, _BINARY)


def _entries(ext: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(key, bytes of the whole entry) of binary ext fields, up to the first entry that is wrong."""
    start = 0
    while start < len(ext):
        key_end = start + 2 + int.from_bytes(ext[start : start + 2], "big", signed=True)
        end = key_end + 4 + _length_at(ext, key_end)
        if not start + 2 <= key_end <= end - 4 <= len(ext) - 4:
            return
        yield ext[start + 2 : key_end], ext[start:end]
        start = end


@mutant("binary-header-padded", "A binary header that is too short is filled up with zeros.", roles=BOTH)
def binary_header_padded(parts: Parts) -> Parts:
    return rewriting_text(parts, lambda header: header.ljust(_FIXED, b"\0"), _BINARY)


@mutant(
    "binary-negative-ext-length-closes",
    "A negative length of the ext fields closes the connection.",
    roles=BOTH,
)
def binary_negative_ext_length_closes(parts: Parts) -> Parts:
    def negative(header: bytes) -> bool:
        at = _ext_length_at(header)
        return at is not None and _length_at(header, at) < 0

    return refusing_text(parts, negative, _BINARY)


@mutant("binary-spare-bytes-dropped", "Bytes behind the last field of a binary header are ignored.")
def binary_spare_bytes_dropped(parts: Parts) -> Parts:
    def change(header: bytes) -> bytes:
        at = _ext_length_at(header)
        return header if at is None else header[: at + 4 + max(0, _length_at(header, at))]

    return rewriting_text(parts, change, _BINARY)


@mutant("binary-first-key-wins", "Of several entries with one key in a binary header the first counts.")
def binary_first_key_wins(parts: Parts) -> Parts:
    def change(header: bytes) -> bytes:
        at = _ext_length_at(header)
        if at is None or _length_at(header, at) != len(header) - at - 4:
            return header
        firsts: dict[bytes, bytes] = {}
        for key, raw in _entries(header[at + 4 :]):
            firsts.setdefault(key, raw)
        kept = b"".join(firsts.values())
        return header[:at] + len(kept).to_bytes(4, "big") + kept

    return rewriting_text(parts, change, _BINARY)


# --- what JSON headers may look like --------------------------------------------------------------------


@mutant("flag-required", "A JSON header without a flag closes the connection.", roles=BOTH)
def flag_required(parts: Parts) -> Parts:
    return refusing(parts, lambda members: "flag" not in members)


@mutant("version-required", "A JSON header without a version closes the connection.", roles=BOTH)
def version_required(parts: Parts) -> Parts:
    return refusing(parts, lambda members: "version" not in members)


@mutant("opaque-required", "A JSON header without an opaque closes the connection.", roles=BOTH)
def opaque_required(parts: Parts) -> Parts:
    return refusing(parts, lambda members: "opaque" not in members)


@mutant("nulls-refused", "A member of a JSON header that is null closes the connection.", roles=BOTH)
def nulls_refused(parts: Parts) -> Parts:
    return refusing(parts, lambda members: None in members.values())


@mutant(
    "unknown-members-refused",
    "A member of a JSON header that is not known closes the connection.",
    roles=BOTH,
)
def unknown_members_refused(parts: Parts) -> Parts:
    return refusing(parts, lambda members: not _KNOWN.issuperset(members))


@mutant(
    "header-names-its-serialization", "A JSON header that calls itself something else is refused.", roles=BOTH
)
def header_names_its_serialization(parts: Parts) -> Parts:
    return refusing(parts, lambda members: members.get("serializeTypeCurrentRPC", "JSON") != "JSON")


@mutant("empty-remark-refused", "An empty remark closes the connection.", roles=BOTH)
def empty_remark_refused(parts: Parts) -> Parts:
    return refusing(parts, lambda members: members.get("remark") == "")


@mutant("language-checked", "A language name that is not known closes the connection.", roles=BOTH)
def language_checked(parts: Parts) -> Parts:
    def unknown(members: Members) -> bool:
        language = members.get("language")
        return isinstance(language, str) and language not in LANGUAGES

    return refusing(parts, unknown)


@mutant("language-number-refused", "A language that is a number closes the connection.", roles=BOTH)
def language_number_refused(parts: Parts) -> Parts:
    return refusing(parts, lambda members: isinstance(members.get("language"), int))


@mutant("version-checked", "A version that no release has closes the connection.", roles=BOTH)
def version_checked(parts: Parts) -> Parts:
    return refusing(parts, lambda members: not 0 <= int(members.get("version") or 0) <= 612)


def _has_ext_value(members: Members, *kinds: type) -> bool:
    ext = members.get("extFields")
    return isinstance(ext, dict) and any(type(value) in kinds for value in ext.values())


@mutant("ext-numbers-refused", "An ext value that is a number closes the connection.")
def ext_numbers_refused(parts: Parts) -> Parts:
    return refusing(parts, lambda members: _has_ext_value(members, int, float))


@mutant("structured-ext-values-refused", "An ext value that is an object or an array closes the connection.")
def structured_ext_values_refused(parts: Parts) -> Parts:
    return refusing(parts, lambda members: _has_ext_value(members, dict, list))


@mutant("ext-booleans-capitalised", "An ext value that is a boolean becomes True or False.")
def ext_booleans_capitalised(parts: Parts) -> Parts:
    def change(members: Members) -> None:
        for name, value in (members.get("extFields") or {}).items():
            if isinstance(value, bool):
                members["extFields"][name] = str(value)

    return rewriting(parts, change)


@mutant("null-ext-value-is-text", "An ext value that is null becomes the text null.")
def null_ext_value_is_text(parts: Parts) -> Parts:
    def change(members: Members) -> None:
        for name, value in (members.get("extFields") or {}).items():
            if value is None:
                members["extFields"][name] = "null"

    return rewriting(parts, change)


@mutant(
    "unknown-ext-fields-refused", "Ext fields of a request that has none close the connection.", roles=BOTH
)
def unknown_ext_fields_refused(parts: Parts) -> Parts:
    codes = (RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, BrokerRequest.GET_ALL_CONSUMER_OFFSET)
    return refusing(parts, lambda members: members.get("code") in codes and bool(members.get("extFields")))


@mutant("compact-headers-only", "A line end in a JSON header closes the connection.", roles=BOTH)
def compact_headers_only(parts: Parts) -> Parts:
    return refusing_text(parts, lambda header: b"\n" in header)


@mutant("numeric-strings-refused", "A number that is sent as a string closes the connection.", roles=BOTH)
def numeric_strings_refused(parts: Parts) -> Parts:
    return refusing(parts, lambda members: any(isinstance(members.get(name), str) for name in _NUMBERS))


@mutant(
    "repeated-members-refused",
    "A member of a JSON header that is repeated closes the connection.",
    roles=BOTH,
)
def repeated_members_refused(parts: Parts) -> Parts:
    def repeated(header: bytes) -> bool:
        found: list[str] = []
        try:
            json.loads(header, object_pairs_hook=lambda pairs: found.extend(name for name, _ in pairs))
        except ValueError:
            return False
        return len(found) != len(set(found))

    return refusing_text(parts, repeated)


@mutant("strict-json", "A header that is no JSON by the letter closes the connection.", roles=BOTH)
def strict_json(parts: Parts) -> Parts:
    def loose(header: bytes) -> bool:
        try:
            json.loads(header.decode("utf-8", "replace"))
        except ValueError:
            return True
        return False

    return refusing_text(parts, loose)


@mutant(
    "names-case-sensitive", "A member of a JSON header whose name is in another case is ignored.", roles=BOTH
)
def names_case_sensitive(parts: Parts) -> Parts:
    def change(members: Members) -> None:
        for name in set(members) - _KNOWN:
            del members[name]

    return rewriting(parts, change)


# --- idle connections -----------------------------------------------------------------------------------


def _idle_limit(parts: Parts, milliseconds: int | None) -> Parts:
    def idle_limit(self: Endpoint) -> int | None:
        return milliseconds

    return parts.override("endpoint", idle_limit)


@mutant("idle-never-closed", "An idle connection is never closed.", roles=BOTH)
def idle_never_closed(parts: Parts) -> Parts:
    return _idle_limit(parts, None)


@mutant("idle-closed-early", "A connection is closed after 110 idle seconds.", roles=BOTH)
def idle_closed_early(parts: Parts) -> Parts:
    return _idle_limit(parts, 110_000)


@mutant("idle-closed-late", "A connection is closed after 140 idle seconds.", roles=BOTH)
def idle_closed_late(parts: Parts) -> Parts:
    return _idle_limit(parts, 140_000)


@mutant(
    "idle-unless-answered", "Only a request that is answered keeps a connection from being idle.", roles=BOTH
)
def idle_unless_answered(parts: Parts) -> Parts:
    def is_activity(self: Endpoint, frames: int, responses: int) -> bool:
        return responses > 0

    return parts.override("endpoint", is_activity)


@mutant("idle-counts-bytes", "Any byte keeps a connection from being idle.", roles=BOTH)
def idle_counts_bytes(parts: Parts) -> Parts:
    def is_activity(self: Endpoint, frames: int, responses: int) -> bool:
        return True

    return parts.override("endpoint", is_activity)
