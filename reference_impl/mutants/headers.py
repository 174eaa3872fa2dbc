"""Families of mutants that refuse, or take for another, what a sound server serves or refuses.

A frame is changed only where its lengths are sound and its header has the serialization that is asked for, so
that a mutant is wrong in the one way that its name says.
"""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from harness.wire import RawFrame, Serialization, WireError
from reference_impl.remoting.endpoint import RemotingEndpoint

from .registry import Family, family

Members: TypeAlias = dict[str, Any]
"""The members of a JSON header."""

NUMBERS = ("code", "flag", "opaque", "version")
"""The members of a JSON header that are numbers."""
FIXED = 21
"""Bytes of a binary header without remark and ext fields."""


def header_of(frame: bytes, serialization: Serialization = Serialization.JSON) -> bytes | None:
    """The header of a frame; None where it has another serialization or does not fit into its frame."""
    end = 8 + int.from_bytes(frame[5:8], "big")
    return frame[8:end] if len(frame) >= end and frame[4] == serialization else None


def with_header(frame: bytes, header: bytes) -> bytes:
    """The frame with another header, and the lengths that belong to it."""
    return RawFrame(header, frame[8 + int.from_bytes(frame[5:8], "big") :], frame[4]).encode()


def _refusing(serialization: Serialization) -> Family:
    @family(RemotingEndpoint.read)
    def read(rule, original, self, frame):
        header = header_of(frame, serialization)
        if header is not None and rule(header):
            raise WireError("a header that this server does not accept")
        return original(self, frame)

    return read


def _rewriting(serialization: Serialization) -> Family:
    @family(RemotingEndpoint.read)
    def read(change, original, self, frame):
        header = header_of(frame, serialization)
        return original(self, frame if header is None else with_header(frame, change(header)))

    return read


refusing_text = _refusing(Serialization.JSON)
"""Close the connection for JSON headers whose bytes the rule catches."""
refusing_binary = _refusing(Serialization.ROCKETMQ)
rewriting_text = _rewriting(Serialization.JSON)
"""Read every JSON header as if its bytes had been others."""
rewriting_binary = _rewriting(Serialization.ROCKETMQ)


@family(RemotingEndpoint.read)
def refusing(rule, original, self, frame):
    """Close the connection for JSON headers whose members the rule catches."""
    members = _members(header_of(frame))
    if members is not None and rule(members):
        raise WireError("a header that this server does not accept")
    return original(self, frame)


@family(RemotingEndpoint.read)
def rewriting(change, original, self, frame):
    """Read every JSON header as if its members had been others; `change` works in place."""
    members = _members(header_of(frame))
    if members is not None:
        change(members)
        frame = with_header(frame, json.dumps(members).encode())
    return original(self, frame)


def _members(header: bytes | None) -> Members | None:
    try:
        value = json.loads(header or b"")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def length_at(header: bytes, start: int) -> int:
    return int.from_bytes(header[start : start + 4], "big", signed=True)


def ext_length_at(header: bytes) -> int | None:
    """Where the length of the ext fields is; None where the fields before it cannot be read."""
    remark = length_at(header, 13)
    return 17 + remark if 0 <= remark <= len(header) - FIXED else None


def entries(ext: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(key, bytes of the whole entry) of binary ext fields, up to the first entry that is wrong."""
    start = 0
    while start < len(ext):
        key_end = start + 2 + int.from_bytes(ext[start : start + 2], "big", signed=True)
        end = key_end + 4 + length_at(ext, key_end)
        if not start + 2 <= key_end <= end - 4 <= len(ext) - 4:
            return
        yield ext[start + 2 : key_end], ext[start:end]
        start = end
