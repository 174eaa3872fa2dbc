"""What mutants share: servers that refuse, or take for another, what a sound one serves or refuses.

Rules: a frame is changed only where its lengths are sound and its header has the serialization that is asked
for, so that a mutant is wrong in the one way that its name says.
"""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from harness.wire import Command, RawFrame, Serialization, WireError
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.parts import Parts

__all__ = ["Members", "header_of", "refusing", "refusing_text", "rewriting", "rewriting_text", "with_header"]

Members: TypeAlias = dict[str, Any]
"""The members of a JSON header."""


def header_of(frame: bytes, serialization: Serialization = Serialization.JSON) -> bytes | None:
    """The header of a frame; None where it has another serialization or does not fit into its frame."""
    end = 8 + int.from_bytes(frame[5:8], "big")
    return frame[8:end] if len(frame) >= end and frame[4] == serialization else None


def with_header(frame: bytes, header: bytes) -> bytes:
    """The frame with another header, and the lengths that belong to it."""
    return RawFrame(header, frame[8 + int.from_bytes(frame[5:8], "big") :], frame[4]).encode()


def refusing_text(
    parts: Parts, rule: Callable[[bytes], bool], serialization: Serialization = Serialization.JSON
) -> Parts:
    """A server that closes the connection for headers whose bytes the rule catches."""

    def read(self: Endpoint, frame: bytes) -> Command:
        header = header_of(frame, serialization)
        if header is not None and rule(header):
            raise WireError("a header that this server does not accept")
        return parts.endpoint.read(self, frame)

    return parts.override("endpoint", read)


def rewriting_text(
    parts: Parts, change: Callable[[bytes], bytes], serialization: Serialization = Serialization.JSON
) -> Parts:
    """A server that reads every header as if it had been another one."""

    def read(self: Endpoint, frame: bytes) -> Command:
        header = header_of(frame, serialization)
        return parts.endpoint.read(self, frame if header is None else with_header(frame, change(header)))

    return parts.override("endpoint", read)


def refusing(parts: Parts, rule: Callable[[Members], bool]) -> Parts:
    """A server that closes the connection for JSON headers whose members the rule catches."""

    def caught(header: bytes) -> bool:
        members = _members(header)
        return members is not None and rule(members)

    return refusing_text(parts, caught)


def rewriting(parts: Parts, change: Callable[[Members], None]) -> Parts:
    """A server that reads every JSON header as if its members had been others; `change` works in place."""

    def changed(header: bytes) -> bytes:
        members = _members(header)
        if members is None:
            return header
        change(members)
        return json.dumps(members).encode()

    return rewriting_text(parts, changed)


def _members(header: bytes) -> Members | None:
    try:
        value = json.loads(header)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
