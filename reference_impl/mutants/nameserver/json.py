"""Mutants of chapter json: the engine of another line."""

import re

import msgspec

from reference_impl.mutants.headers import NUMBERS, header_of, refusing, rewriting, rewriting_text
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


@rewriting_text("Text behind the comma that follows a JSON header is ignored.", ["5.5"])
def text_behind_a_comma_is_ignored(header):
    return re.sub(rb"(\d},).+", rb"\1", header)  # no member before the last one ends so


def _is_out_of_range(opaque):
    return isinstance(opaque, float) and not -(2**31) <= int(opaque) < 2**31


@refusing("An opaque with a fraction that is out of range closes the connection.")
def fractions_out_of_range_refused(members):
    return _is_out_of_range(members.get("opaque"))


@rewriting("An opaque with a fraction that is out of range is the nearest integer that is not.")
def fractions_out_of_range_are_bounded(members):
    if _is_out_of_range(members.get("opaque")):
        members["opaque"] = 2**31 - 1 if members["opaque"] > 0 else -(2**31)


@refusing("A number with the exponent 100 closes the connection.", ["4.9", "5.3"])
def exponents_of_100_close(members):
    return members.get("flag") == 1e100


@after(Endpoint.read, "A null opaque is replaced by a number of the server's own.", ["5.5"])
def null_opaque_is_counted(command, frame):
    if b'"opaque":null' in (header_of(frame) or b""):
        command.opaque = 467


@rewriting("A quoted number with commas is read as 0.", ["5.5"])
def numbers_with_commas_are_zero(members):
    for name in NUMBERS:
        if "," in str(members.get(name, "")):
            members[name] = 0


@refusing("A JSON header that names a class closes the connection.", ["4.9", "5.3"])
def types_close(members):
    return "@type" in members
