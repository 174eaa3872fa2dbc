"""Faults of headers in RocketMQ's own encoding."""

import msgspec

from harness.wire import Serialization, encode
from harness.wire.codes import LANGUAGES
from reference_impl.mutants.headers import (
    FIXED,
    entries,
    ext_length_at,
    length_at,
    refusing_binary,
    rewriting_binary,
)
from reference_impl.mutants.registry import mutant
from reference_impl.remoting.endpoint import RemotingEndpoint


@refusing_binary("A binary header closes the connection.")
def binary_refused(header):
    return True


@mutant(RemotingEndpoint.write, "A response has the type byte of its request and a JSON header.")
def type_byte_of_the_request(original, self, response):
    frame = encode(msgspec.structs.replace(response, serialization=Serialization.JSON))
    return frame[:4] + bytes([response.serialization]) + frame[5:]


@mutant(RemotingEndpoint.response_serialization, "Every response has a binary header.")
def answers_in_binary(original, self, request, reply):
    return Serialization.ROCKETMQ


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


@rewriting_binary("The length of a key has no sign; a key that is longer than 32767 bytes is dropped.")
def binary_key_lengths_have_no_sign(header):
    at = ext_length_at(header)
    if at is None or length_at(header, at) != len(header) - at - 4:
        return header
    known = b"".join(raw for _, raw in entries(header[at + 4 :]))
    end = at + 4 + len(known)
    size = int.from_bytes(header[end : end + 2], "big")
    if size < 0x8000 or end + 6 + size > len(header):
        return header
    kept = known + header[end + 6 + size + length_at(header, end + 2 + size) :]
    return header[:at] + len(kept).to_bytes(4, "big") + kept


@rewriting_binary("A binary header that is too short is padded with zeros.")
def binary_header_padded(header):
    return header.ljust(FIXED, b"\0")


@refusing_binary("A negative length of the ext fields closes the connection.")
def binary_negative_ext_length_closes(header):
    at = ext_length_at(header)
    return at is not None and length_at(header, at) < 0
