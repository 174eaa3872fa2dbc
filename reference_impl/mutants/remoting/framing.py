"""Faults of frames, flags, one-way requests and the stream."""

import json
import re

import msgspec

from harness.wire import FLAG_ONEWAY, FLAG_RESPONSE, FRAME_LIMIT, FrameBuffer, WireError
from reference_impl.mutants.headers import header_of, refusing, with_header
from reference_impl.mutants.registry import after, mutant
from reference_impl.remoting.endpoint import RemotingEndpoint

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


@mutant(RemotingEndpoint.read, "The length of a header is read with a sign.")
def header_length_of_23_bits(original, self, frame):
    if frame[5] & 0x80:
        raise WireError("a header of negative length")
    return original(self, frame)


@after(RemotingEndpoint.read, "A body that is not JSON closes the connection, whatever the request.")
def every_body_parsed(command):
    if command.body:
        try:
            json.loads(command.body)
        except ValueError as error:
            raise WireError("the body is no JSON") from error
