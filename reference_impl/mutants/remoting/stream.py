"""Faults of the stream of bytes, and of lengths within a header."""

from reference_impl.mutants.headers import ext_length_at, rewriting_binary
from reference_impl.mutants.registry import mutant
from reference_impl.remoting.endpoint import RemotingEndpoint


@mutant(RemotingEndpoint.frames, "Behind an incomplete length word, a frame is looked for at once.")
def rest_of_a_length_word_begins_a_frame(original, self, buffer, data):
    end = 4 + int.from_bytes(data[:4], "big")
    if 0 < buffer.pending < 4 and 8 <= end <= len(data):
        yield bytes(data[:end])
        data = data[end:]
    yield from original(self, buffer, data)


@rewriting_binary("The length of the ext fields is what is left of the header.")
def binary_names_may_exceed_the_ext_length(header):
    at = ext_length_at(header)
    if at is None:
        return header
    return header[:at] + (len(header) - at - 4).to_bytes(4, "big") + header[at + 4 :]
