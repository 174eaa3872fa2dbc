"""Mutants of chapter json: the engine of another line."""

from harness.wire import Command
from reference_impl.mutants import mutant
from reference_impl.mutants._headers import header_of
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.parts import Parts


@mutant("json-as-in-5.3", "JSON is read and written as up to 5.3, by fastjson 1.", ["5.5"])
def json_as_in_53(parts: Parts) -> Parts:
    return parts.revalue(engine="fastjson")


@mutant("json-as-in-5.5", "JSON is read and written as from 5.4 on, by fastjson2.", ["4.9", "5.3"])
def json_as_in_55(parts: Parts) -> Parts:
    return parts.revalue(engine="fastjson2")


@mutant("null-opaque-is-counted", "An opaque that is null is a number of the server's own.", ["5.5"])
def null_opaque_is_counted(parts: Parts) -> Parts:
    def read(self: Endpoint, frame: bytes) -> Command:
        command = parts.endpoint.read(self, frame)
        if b'"opaque":null' in (header_of(frame) or b""):
            command.opaque = 467
        return command

    return parts.override("endpoint", read)
