"""Faults of what becomes of malformed frames, and of members of other types."""

import json
import re

from harness.wire import FLAG_RESPONSE, Command, ResponseCode, Serialization, WireError
from reference_impl.mutants.headers import NUMBERS, rewriting, rewriting_text
from reference_impl.mutants.registry import mutant
from reference_impl.remoting.endpoint import RemotingEndpoint


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


def _clamped(frame):
    """A frame whose header length is no more than the rest of it."""
    length = min(int.from_bytes(frame[5:8], "big"), len(frame) - 8)
    return frame[:5] + length.to_bytes(3, "big") + frame[8:]


@mutant(RemotingEndpoint.read, "A header length beyond the frame counts as the rest of the frame.")
def header_length_clamped(original, self, frame):
    return original(self, _clamped(frame))


@mutant(RemotingEndpoint.read, "The length of a binary header beyond the frame counts as the rest of it.")
def binary_header_length_clamped(original, self, frame):
    return original(self, _clamped(frame) if frame[4] == Serialization.ROCKETMQ else frame)


@mutant(RemotingEndpoint.answer, "A frame without a header is skipped.")
def empty_header_skipped(original, self, connection, frame, now):
    if frame[5:8] == b"\0\0\0":
        return None
    return original(self, connection, frame, now)


@mutant(RemotingEndpoint.read, "A type byte that names no serialization stands for JSON.")
def unknown_serialization_is_json(original, self, frame):
    known = frame[4] in (Serialization.JSON, Serialization.ROCKETMQ)
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
    for name in NUMBERS:
        if isinstance(members.get(name), int):
            members[name] = (members[name] + 2**31) % 2**32 - 2**31


@rewriting("A non-numeric value is read as 0 where a number is expected.")
def text_for_a_number_is_zero(members):
    for name in NUMBERS:
        if isinstance(members.get(name), list | dict) or members.get(name) == "x":
            members[name] = 0


@rewriting("A number in quotes may have blanks before it.")
def blanks_before_numbers_are_skipped(members):
    for name in NUMBERS:
        if isinstance(members.get(name), str) and re.fullmatch(r" +\d+", members[name]):
            members[name] = int(members[name])


@rewriting_text("An unquoted number as a name in a JSON header counts as text.")
def number_names_are_quoted(header):
    return re.sub(rb"([{,]) ?(\d+):", rb'\1"\2":', header)


@mutant(RemotingEndpoint.close, "When the server closes a connection, it closes all.")
def malformed_closes_all(original, self, connection):
    every = [connection, *(other for other in self._connections if other != connection)]
    return [effect for one in every for effect in original(self, one)]
