"""Mutants of chapter json: the engine of another line."""

import msgspec

from reference_impl.mutants.headers import header_of, rewriting_text
from reference_impl.mutants.registry import after, mutant
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.remoting.profiles import Profile


@mutant(Profile, "JSON is read and written as up to 5.3, by fastjson 1.", ["5.5"], name="json-as-in-5.3")
def json_as_in_5_3(profile):
    return msgspec.structs.replace(profile, engine="fastjson")


@mutant(
    Profile, "JSON is read and written as from 5.4 on, by fastjson2.", ["4.9", "5.3"], name="json-as-in-5.5"
)
def json_as_in_5_5(profile):
    return msgspec.structs.replace(profile, engine="fastjson2")


@rewriting_text("A JSON header may lack a comma anywhere.", ["5.5"])
def json_forgives_everywhere(header):
    return header.replace(b'1 "', b'1,"')


@after(Endpoint.read, "A null opaque is replaced by a number of the server's own.", ["5.5"])
def null_opaque_is_counted(command, frame):
    if b'"opaque":null' in (header_of(frame) or b""):
        command.opaque = 467
