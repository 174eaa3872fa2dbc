"""Faults of frames, headers, flags, and of what keeps a connection open."""

import json
import re

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
from harness.wire.codes import LANGUAGES
from reference_impl.mutants.headers import (
    FIXED,
    entries,
    ext_length_at,
    header_of,
    length_at,
    refusing,
    refusing_binary,
    refusing_text,
    rewriting,
    rewriting_binary,
    rewriting_text,
    with_header,
)
from reference_impl.mutants.registry import after, mutant
from reference_impl.remoting.endpoint import RemotingEndpoint

_BINARY = Serialization.ROCKETMQ
_NUMBERS = ("code", "flag", "opaque", "version")
_KNOWN = {*_NUMBERS, "extFields", "language", "remark", "serializeTypeCurrentRPC"}

# --- responses ------------------------------------------------------------------------------------------


@mutant(RemotingEndpoint.response, "A response has an opaque of the server's own.")
def opaque_not_echoed(original, self, request, reply):
    return msgspec.structs.replace(original(self, request, reply), opaque=12345)


@after(RemotingEndpoint.response, "A negative opaque loses its sign.")
def opaque_without_sign(response):
    return msgspec.structs.replace(response, opaque=response.opaque & 0x7FFFFFFF)


@mutant(RemotingEndpoint.answer, "Only the first of several requests with equal opaques is answered.")
def equal_opaques_answered_once(original, self, connection, frame, now):
    answered: set[tuple[int, int]] = self.__dict__.setdefault("answered_opaques", set())
    key = connection, self.read(frame).opaque
    if key in answered:
        return None
    answered.add(key)
    return original(self, connection, frame, now)


@mutant(RemotingEndpoint.write, "Each response is sent twice.")
def responses_sent_twice(original, self, response):
    return original(self, response) * (2 if response.is_response else 1)


@mutant(RemotingEndpoint.response, "A response has the one-way bit too.")
def response_marked_oneway(original, self, request, reply):
    both = FLAG_RESPONSE | FLAG_ONEWAY
    return msgspec.structs.replace(original(self, request, reply), flag=both)


@after(RemotingEndpoint.response, "A response has all bits of its request's flag.")
def flag_bits_echoed(response, request):
    return msgspec.structs.replace(response, flag=request.flag | FLAG_RESPONSE)


@refusing("A flag with a bit that has no meaning closes the connection.")
def unknown_flag_bits_refused(members):
    return bool(members.get("flag", 0) & ~(FLAG_RESPONSE | FLAG_ONEWAY))


@after(RemotingEndpoint.write, "A JSON response header writes an absent remark as null.")
def null_members_written(frame, response):
    header = header_of(frame)
    if response.remark is not None or header is None:
        return frame
    return with_header(frame, b'{"remark":null,' + header[1:])


def _rewritten(change):
    def written(frame):
        header = header_of(frame)
        return frame if header is None else with_header(frame, change(header))

    return written


@after(RemotingEndpoint.write, "A JSON header has its opaque as a string.")
def opaque_as_text(frame):
    return _rewritten(lambda header: re.sub(rb'"opaque":(-?\d+)', rb'"opaque":"\1"', header))(frame)


@after(RemotingEndpoint.write, "A JSON header has no code if that is 0.")
def code_of_success_left_out(frame):
    return _rewritten(lambda header: header.replace(b'"code":0,', b""))(frame)


@after(RemotingEndpoint.write, "A JSON header has its language as a number.")
def language_as_number(frame):
    return _rewritten(lambda header: header.replace(b'"language":"JAVA"', b'"language":0'))(frame)


@after(RemotingEndpoint.write, "Numbers and booleans in ext fields are written without quotes.")
def ext_values_without_quotes(frame):
    return _rewritten(_without_quotes)(frame)


def _without_quotes(header):
    members = json.loads(header)
    for name, value in (members.get("extFields") or {}).items():
        if re.fullmatch(r"true|false|-?(0|[1-9]\d*)", value or ""):
            members["extFields"][name] = json.loads(value)
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


@after(RemotingEndpoint.write, "A JSON header has no version.")
def version_left_out(frame):
    return _rewritten(lambda header: re.sub(rb',"version":-?\d+', b"", header))(frame)


# --- one-way requests and stray responses ---------------------------------------------------------------


@mutant(RemotingEndpoint.is_unanswered, "A one-way request is answered.")
def oneway_answered(original, self, command):
    return False


@mutant(RemotingEndpoint.is_ignored, "A frame with the response bit closes the connection.")
def stray_response_closes(original, self, command):
    if command.is_response:
        raise WireError("a response to nothing")
    return original(self, command)


@mutant(RemotingEndpoint.is_ignored, "A frame with the response bit is executed as a request.")
def responses_executed(original, self, command):
    return False


# --- the stream -----------------------------------------------------------------------------------------


def _end_of_frame(data: bytes, start: int) -> int:
    return start + 4 + int.from_bytes(data[start : start + 4], "big")


@mutant(RemotingEndpoint.frames, "Bytes after the last complete frame of a segment are lost.")
def partial_frames_dropped(original, self, buffer, data):
    end = 0
    while len(data) - end >= 4 and _end_of_frame(data, end) <= len(data):
        end = _end_of_frame(data, end)
    return original(self, buffer, data[:end])


@mutant(RemotingEndpoint.frames, "Bytes after the first frame of a segment are lost.")
def one_frame_per_segment(original, self, buffer, data):
    first = data if buffer.pending else data[: _end_of_frame(data, 0)]
    return original(self, buffer, first)


@mutant(RemotingEndpoint.new_buffer, "Frames of more than 1 MiB are refused.")
def small_frame_limit(original, self):
    return FrameBuffer(2**20)


@mutant(RemotingEndpoint.new_buffer, "The frame limit does not count the length word.")
def frame_limit_off_by_one(original, self):
    return FrameBuffer(FRAME_LIMIT + 4)


class _Patient(FrameBuffer):
    def next_frame(self) -> bytes | None:
        try:
            return super().next_frame()
        except WireError:
            return None


@mutant(RemotingEndpoint.new_buffer, "An impossible length word does not close the connection.")
def bad_length_waits(original, self):
    return _Patient(FRAME_LIMIT)


@mutant(RemotingEndpoint.read, "Only the low 16 bits of a header length count.")
def header_length_of_16_bits(original, self, frame):
    return original(self, frame[:5] + b"\0" + frame[6:])


@after(RemotingEndpoint.read, "A body that is not JSON closes the connection, whatever the request.")
def every_body_parsed(command):
    if command.body:
        try:
            json.loads(command.body)
        except ValueError as error:
            raise WireError("the body is no JSON") from error


# --- malformed frames -----------------------------------------------------------------------------------


@mutant(RemotingEndpoint.answer, "A frame that cannot be decoded is skipped.")
def malformed_skipped(original, self, connection, frame, now):
    try:
        self.read(frame)
    except WireError:
        return None
    return original(self, connection, frame, now)


@mutant(RemotingEndpoint.answer, "A frame that cannot be decoded is answered with code 1.")
def malformed_answered(original, self, connection, frame, now):
    try:
        self.read(frame)
    except WireError as error:
        return self.write(Command(code=ResponseCode.SYSTEM_ERROR, flag=FLAG_RESPONSE, remark=str(error)))
    return original(self, connection, frame, now)


@mutant(RemotingEndpoint.read, "A header length beyond the frame counts as the rest of the frame.")
def header_length_clamped(original, self, frame):
    most = len(frame) - 8
    length = min(int.from_bytes(frame[5:8], "big"), most)
    return original(self, frame[:5] + length.to_bytes(3, "big") + frame[8:])


@mutant(RemotingEndpoint.answer, "A frame without a header is skipped.")
def empty_header_skipped(original, self, connection, frame, now):
    if frame[5:8] == b"\0\0\0":
        return None
    return original(self, connection, frame, now)


@mutant(RemotingEndpoint.read, "A type byte that names no serialization stands for JSON.")
def unknown_serialization_is_json(original, self, frame):
    known = frame[4] in (Serialization.JSON, _BINARY)
    return original(self, frame if known else frame[:4] + b"\0" + frame[5:])


@mutant(RemotingEndpoint.read, "The serialization is guessed from the first byte of the header.")
def serialization_guessed(original, self, frame):
    return original(self, frame[:4] + (b"\0" if frame[8:9] == b"{" else b"\1") + frame[5:])


@rewriting_text("A JSON header that is not an object is read as an empty object.")
def header_without_members_for_any_value(header):
    try:
        return header if isinstance(json.loads(header), dict) else b"{}"
    except ValueError:
        return header


@rewriting_text("Text after the JSON object of a header is ignored.")
def text_after_header_ignored(header):
    text = header.decode("utf-8", "surrogateescape")
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return header
    return text[:end].encode("utf-8", "surrogateescape")


@rewriting("Ext fields that are not an object are ignored.")
def ext_fields_of_any_type_ignored(members):
    if not isinstance(members.get("extFields"), dict):
        members.pop("extFields", None)


@rewriting("A number that is too large is truncated to its low 32 bits.")
def numbers_wrap(members):
    for name in _NUMBERS:
        if isinstance(members.get(name), int):
            members[name] = (members[name] + 2**31) % 2**32 - 2**31


@rewriting("A non-numeric value is read as 0 where a number is expected.")
def text_for_a_number_is_zero(members):
    for name in _NUMBERS:
        if isinstance(members.get(name), list | dict) or members.get(name) == "x":
            members[name] = 0


@rewriting_text("An unquoted number as a name in a JSON header counts as text.")
def number_names_are_quoted(header):
    return re.sub(rb"([{,]) ?(\d+):", rb'\1"\2":', header)


@mutant(RemotingEndpoint.close, "When the server closes a connection, it closes all.")
def malformed_closes_all(original, self, connection):
    every = [connection, *(other for other in self._connections if other != connection)]
    return [effect for one in every for effect in original(self, one)]


# --- binary headers -------------------------------------------------------------------------------------


@refusing_binary("A binary header closes the connection.")
def binary_refused(header):
    return True


@mutant(RemotingEndpoint.write, "A response has the type byte of its request and a JSON header.")
def type_byte_of_the_request(original, self, response):
    frame = encode(msgspec.structs.replace(response, serialization=Serialization.JSON))
    return frame[:4] + bytes([response.serialization]) + frame[5:]


@mutant(RemotingEndpoint.response_serialization, "Every response has a binary header.")
def answers_in_binary(original, self, request, reply):
    return _BINARY


@refusing_binary("An unknown language byte closes the connection.")
def binary_language_checked(header):
    return len(header) > 2 and header[2] >= len(LANGUAGES)


@rewriting_binary("An invalid remark length is read as no remark.")
def binary_bad_remark_length_is_zero(header):
    return header if ext_length_at(header) is not None else header[:13] + bytes(4) + header[17:]


@rewriting_binary("A length of the ext fields beyond the header counts as 0.")
def binary_bad_ext_length_is_zero(header):
    at = ext_length_at(header)
    if at is None or length_at(header, at) <= len(header):
        return header
    return header[:at] + bytes(4) + header[at + 4 :]


@rewriting_binary("An ext entry with an invalid length ends the ext fields.")
def binary_bad_entries_skipped(header):
    at = ext_length_at(header)
    if at is None or length_at(header, at) != len(header) - at - 4:
        return header
    sound = b"".join(raw for _, raw in entries(header[at + 4 :]))
    return header[:at] + len(sound).to_bytes(4, "big") + sound


@rewriting_binary("A binary header that is too short is padded with zeros.")
def binary_header_padded(header):
    return header.ljust(FIXED, b"\0")


@refusing_binary("A negative length of the ext fields closes the connection.")
def binary_negative_ext_length_closes(header):
    at = ext_length_at(header)
    return at is not None and length_at(header, at) < 0


# --- what JSON headers may look like --------------------------------------------------------------------


@refusing("A JSON header without a flag closes the connection.")
def flag_required(members):
    return "flag" not in members


@refusing("A JSON header without a version closes the connection.")
def version_required(members):
    return "version" not in members


@refusing("A JSON header without an opaque closes the connection.")
def opaque_required(members):
    return "opaque" not in members


@refusing("A member of a JSON header that is null closes the connection.")
def nulls_refused(members):
    return None in members.values()


@refusing("An unknown member of a JSON header closes the connection.")
def unknown_members_refused(members):
    return not _KNOWN.issuperset(members)


@refusing("A JSON header that names another serialization is refused.")
def header_names_its_serialization(members):
    return members.get("serializeTypeCurrentRPC", "JSON") != "JSON"


@refusing("An empty remark closes the connection.")
def empty_remark_refused(members):
    return members.get("remark") == ""


@refusing("An unknown language name closes the connection.")
def language_checked(members):
    language = members.get("language")
    return isinstance(language, str) and language not in LANGUAGES


@rewriting("A language that is neither text nor a number of Apache's list counts as none.")
def strange_language_is_none(members):
    language = members.get("language")
    is_ordinal = type(language) is int and 0 <= language < len(LANGUAGES)
    if not isinstance(language, str) and not is_ordinal:
        members["language"] = None


@refusing("A language that is a number closes the connection.")
def language_number_refused(members):
    return isinstance(members.get("language"), int)


@refusing("A version without a release closes the connection.")
def version_checked(members):
    return not 0 <= int(members.get("version") or 0) <= 612


@refusing("Ext fields that a query does not have close the connection.")
def unknown_ext_fields_refused(members):
    known = {RequestCode.GET_ROUTEINFO_BY_TOPIC: {"topic"}, RequestCode.GET_ALL_CONSUMER_OFFSET: set()}
    fields = known.get(members.get("code"))
    return fields is not None and not fields.issuperset(members.get("extFields") or ())


@refusing_text("A line break in a JSON header closes the connection.")
def compact_headers_only(header):
    return b"\n" in header


@refusing("A number that is sent as a string closes the connection.")
def numeric_strings_refused(members):
    return any(isinstance(members.get(name), str) for name in _NUMBERS)


@refusing("A number in text that has more than 40 digits closes the connection.")
def long_numeric_strings_refused(members):
    return any(isinstance(members.get(name), str) and len(members[name]) > 40 for name in _NUMBERS)


@refusing("A number with a fraction or an exponent closes the connection.")
def fractions_refused(members):
    return any(isinstance(members.get(name), float) for name in _NUMBERS)


@rewriting("A number with a fraction or an exponent is rounded.")
def fractions_are_rounded(members):
    for name in _NUMBERS:
        if isinstance(members.get(name), float):
            members[name] = round(members[name])


@refusing("A boolean instead of a number closes the connection.")
def boolean_numbers_refused(members):
    return any(isinstance(members.get(name), bool) for name in _NUMBERS)


@rewriting("A boolean instead of a number counts as 0.")
def boolean_numbers_are_zero(members):
    for name in _NUMBERS:
        if isinstance(members.get(name), bool):
            members[name] = 0


@refusing("A member body of a JSON header closes the connection.")
def body_members_refused(members):
    return "body" in members


@rewriting("A member body of a JSON header is not looked at.")
def body_members_unread(members):
    members.pop("body", None)


@refusing_text("A repeated member of a JSON header closes the connection.")
def repeated_members_refused(header):
    found: list[str] = []
    try:
        json.loads(header, object_pairs_hook=lambda pairs: found.extend(name for name, _ in pairs))
    except ValueError:
        return False
    return len(found) != len(set(found))


@refusing_text("A header that is not strict JSON closes the connection.")
def strict_json(header):
    try:
        json.loads(header.decode("utf-8", "replace"))
    except ValueError:
        return True
    return False


@rewriting("A member of a JSON header in another case is ignored.")
def names_case_sensitive(members):
    for name in set(members) - _KNOWN:
        del members[name]


# --- idle connections -----------------------------------------------------------------------------------


@mutant(RemotingEndpoint.idle_limit, "An idle connection is never closed.")
def idle_never_closed(original, self):
    return None


@mutant(RemotingEndpoint.idle_limit, "A connection is closed after 110 idle seconds.")
def idle_closed_early(original, self):
    return 110_000


@mutant(RemotingEndpoint.idle_limit, "A connection is closed after 140 idle seconds.")
def idle_closed_late(original, self):
    return 140_000


@mutant(RemotingEndpoint.is_activity, "Only answered requests keep a connection from becoming idle.")
def idle_unless_answered(original, self, frames, responses):
    return responses > 0


@mutant(RemotingEndpoint.is_activity, "Any byte keeps a connection from becoming idle.")
def idle_counts_bytes(original, self, frames, responses):
    return True
