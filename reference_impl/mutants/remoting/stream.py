"""Faults of the stream of bytes, and of lengths within a header."""

import re

from reference_impl.mutants.headers import FIXED, ext_length_at, rewriting_binary
from reference_impl.mutants.registry import mutant
from reference_impl.remoting.endpoint import RemotingEndpoint


@mutant(RemotingEndpoint.frames, "Behind an incomplete length word, a frame is looked for at once.")
def rest_of_a_length_word_begins_a_frame(original, self, buffer, data):
    end = 4 + int.from_bytes(data[:4], "big")
    if 0 < buffer.pending < 4 and 8 <= end <= len(data):
        yield bytes(data[:end])
        data = data[end:]
    yield from original(self, buffer, data)


@mutant(RemotingEndpoint.frames, "Behind three bytes of a length word, a frame is looked for at once.")
def last_byte_of_a_length_word_begins_a_frame(original, self, buffer, data):
    end = 4 + int.from_bytes(data[:4], "big")
    if buffer.pending == 3 and 8 <= end <= len(data):
        yield bytes(data[:end])
        data = data[end:]
    yield from original(self, buffer, data)


@rewriting_binary("The length of the ext fields is what is left of the header.")
def binary_names_may_exceed_the_ext_length(header):
    at = ext_length_at(header)
    if at is None:
        return header
    return header[:at] + (len(header) - at - 4).to_bytes(4, "big") + header[at + 4 :]


@rewriting_binary("The opaque of a binary header loses its sign.")
def binary_opaques_have_no_sign(header):
    return header[:5] + bytes([header[5] & 0x7F]) + header[6:] if len(header) > FIXED - 1 else header


@rewriting_binary("The flag of a binary header is not read.")
def binary_flags_are_not_read(header):
    return header[:9] + bytes(4) + header[13:] if len(header) > FIXED - 1 else header


@mutant(RemotingEndpoint.frames, "What follows a frame without an answer waits for the next segment.")
def unanswered_frames_end_a_segment(original, self, buffer, data):
    for frame in original(self, buffer, data):
        yield frame
        if re.search(rb'"flag":[12]\b', frame):
            return
