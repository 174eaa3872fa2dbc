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


@after(Endpoint.read, "Ten millions among the ext fields are written without an exponent.", ["5.5"])
def ten_millions_have_no_exponent(command):
    for name, value in (command.ext or {}).items():
        if value == "1.0E7":
            command.ext[name] = "10000000.0"


def _keeps_ext(command, frame, is_kept):
    """Of the ext fields of a JSON header those stay of which `is_kept` says so, given name and header."""
    header = header_of(frame)
    if header is not None and command.ext is not None:
        command.ext = {name: value for name, value in command.ext.items() if is_kept(name.encode(), header)}


@after(Endpoint.read, "Ext fields whose names have no quotes are lost.", ["4.9", "5.3"])
def unquoted_ext_fields_are_lost(command, frame):
    _keeps_ext(command, frame, lambda name, header: not re.search(rb"[{,]%b:" % re.escape(name), header))


@after(Endpoint.read, "Ext fields whose names have single quotes are lost.", ["4.9", "5.3"])
def single_quoted_ext_fields_are_lost(command, frame):
    _keeps_ext(command, frame, lambda name, header: b"'%b'" % name not in header)


@after(Endpoint.read, "The ext fields behind one whose name is null are lost.", ["4.9", "5.3"])
def ext_fields_end_at_a_null(command, frame):
    _keeps_ext(command, frame, lambda name, header: name not in header.partition(b"null:")[2])


@after(Endpoint.read, "Ext fields in brackets are lost.", ["5.5"])
def ext_fields_in_brackets_are_lost(command, frame):
    if b'"extFields":[' in (header_of(frame) or b""):
        command.ext = None


@after(Endpoint.read, "The ext fields behind a comma that is missing are lost.", ["5.5"])
def ext_fields_end_without_a_comma(command, frame):
    _keeps_ext(command, frame, lambda name, header: not re.search(rb'" ?"%b"' % re.escape(name), header))


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
