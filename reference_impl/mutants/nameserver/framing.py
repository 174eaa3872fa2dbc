"""Faults of frames, headers, flags, and of what keeps a connection open."""

import re

import msgspec

from harness.wire import (
    FLAG_ONEWAY,
    FLAG_RESPONSE,
    RawFrame,
    ResponseCode,
    Serialization,
    WireError,
)
from harness.wire.fastjson import tree
from harness.wire.fastjson.coerce import as_string
from reference_impl.mutants.headers import (
    Members,
    entries,
    ext_length_at,
    header_of,
    length_at,
    refusing,
    refusing_binary,
    refusing_text,
    rewriting,
    rewriting_binary,
    rewriting_text,
)
from reference_impl.mutants.registry import V4, V5, V55, after, mutant
from reference_impl.nameserver.endpoint import Endpoint

_BINARY = Serialization.ROCKETMQ

# --- responses ------------------------------------------------------------------------------------------


def _length_off_by(difference, frame):
    return (int.from_bytes(frame[:4], "big") + difference).to_bytes(4, "big") + frame[4:]


@mutant(Endpoint.write, "The length word of a response counts one byte too many.")
def response_length_too_large(original, self, response):
    return _length_off_by(1, original(self, response))


@mutant(Endpoint.write, "The length word of a response counts one byte too few.")
def response_length_too_small(original, self, response):
    return _length_off_by(-1, original(self, response))


# --- one-way requests and stray responses ---------------------------------------------------------------


@mutant(Endpoint.is_ignored, "A one-way request is dropped.")
def oneway_not_executed(original, self, command):
    return command.is_oneway or original(self, command)


@mutant(Endpoint.answer, "A one-way request that fails is answered.")
def failing_oneway_answered(original, self, connection, frame, now):
    command = self.read(frame)
    if not command.is_oneway:
        return original(self, connection, frame, now)
    reply = self.nameserver.execute(command, connection, now)
    failed = reply is not None and reply.code == ResponseCode.SYSTEM_ERROR
    return self.write(self.response(command, reply)) if failed and reply is not None else None


@mutant(Endpoint.answer, "A one-way request that fails closes the connection.")
def failing_oneway_closes(original, self, connection, frame, now):
    command = self.read(frame)
    if not command.is_oneway:
        return original(self, connection, frame, now)
    reply = self.nameserver.execute(command, connection, now)
    if reply is not None and reply.code == ResponseCode.SYSTEM_ERROR:
        raise WireError("a one-way request has failed")
    return None


@after(Endpoint.read, "A frame with both flag bits is executed as a one-way request.")
def oneway_bit_first(command):
    if command.flag & FLAG_ONEWAY:
        command.flag &= ~FLAG_RESPONSE


# --- the stream -----------------------------------------------------------------------------------------


# --- malformed frames -----------------------------------------------------------------------------------


@mutant(Endpoint.close, "When the server closes a connection, it forgets the brokers of all connections.")
def malformed_forgets_brokers(original, self, connection):
    for other, known in self._connections.items():
        self.routes.connection_lost(other, known.peer)
    return original(self, connection)


# --- UTF-8 ----------------------------------------------------------------------------------------------


@refusing_text("Bytes of a header that are not UTF-8 close the connection.", V4)
def invalid_utf8_refused(header):
    return header.decode("utf-8", "replace").encode() != header


@rewriting_text("Bytes of a header that are not UTF-8 are replaced.", V5)
def invalid_utf8_replaced(header):
    return header.decode("utf-8", "replace").encode()


@rewriting_text("A JSON header is read as ISO 8859-1.")
def header_read_as_latin_1(header):
    return header.decode("latin-1").encode()


@after(Endpoint.response, "Non-ASCII characters in a response header become question marks.")
def response_header_in_ascii(response):
    ext = {
        name: value and value.encode("ascii", "replace").decode()
        for name, value in (response.ext or {}).items()
    }
    return msgspec.structs.replace(response, ext=ext)


@refusing_text("An escape of two hexadecimal digits closes the connection.")
def escapes_of_two_digits_close(header):
    return rb"\x" in header


@refusing_text("An escaped digit closes the connection.")
def escaped_digits_close(header):
    return re.search(rb"\\[0-7]", header) is not None


@refusing_text("The escapes of a vertical tab, a capital F and a single quote close the connection.")
def rare_escapes_of_letters_close(header):
    return re.search(rb"\\[vF']", header) is not None


@rewriting_text("Hexadecimal digits may be escaped by a capital.")
def capitals_escape_digits(header):
    return re.sub(rb"\\([XU])", lambda found: found[0].lower(), header)


@rewriting_text("An escaped letter that means nothing stands for itself.")
def every_escaped_letter_is_itself(header):
    return re.sub(rb"\\([a-zA-Z89](?<![btnvfFrux]))", rb"\1", header)


@rewriting_text("An escaped sign that means nothing stands for itself.")
def every_escaped_sign_is_itself(header):
    return re.sub(rb"\\([!*])", rb"\1", header)


@refusing_text("An escaped sign in a value closes the connection.", V55)
def escaped_signs_close(header):
    return re.search(rb'\\[ #&(),.@\[\]_~][^"]*"[,}]', header) is not None


@refusing_text("An escaped sign that only names may have closes the connection.", V55)
def escaped_signs_in_names_close(header):
    return re.search(rb'\\[*+:<=>-][^"]*":', header) is not None


@after(Endpoint.read, "Half a character in the ext fields is read as a replacement character.")
def half_characters_are_replaced(command):
    for name, value in (command.ext or {}).items():
        command.ext[name] = value and re.sub("[\ud800-\udfff]", "\ufffd", value)


# --- binary headers -------------------------------------------------------------------------------------


@mutant(Endpoint.read, "The ext fields of a binary header are ignored.")
def binary_ext_ignored(original, self, frame):
    command = original(self, frame)
    return command if frame[4] != _BINARY else msgspec.structs.replace(command, ext=None)


@after(Endpoint.read, "A length of 0 in a binary header means an empty string.")
def binary_zero_length_is_empty(command, frame):
    if frame[4] != _BINARY or command.ext is None:
        return command
    ext = {name: value or "" for name, value in command.ext.items()}
    return msgspec.structs.replace(command, ext=ext)


@rewriting_binary("Bytes after the last field of a binary header are ignored.")
def binary_spare_bytes_dropped(header):
    at = ext_length_at(header)
    return header if at is None else header[: at + 4 + max(0, length_at(header, at))]


@rewriting_binary("The first of several binary entries with one key applies.")
def binary_first_key_wins(header):
    at = ext_length_at(header)
    if at is None or length_at(header, at) != len(header) - at - 4:
        return header
    firsts: dict[bytes, bytes] = {}
    for key, raw in entries(header[at + 4 :]):
        firsts.setdefault(key, raw)
    kept = b"".join(firsts.values())
    return header[:at] + len(kept).to_bytes(4, "big") + kept


@refusing_binary("A binary entry with an empty key closes the connection.")
def binary_empty_keys_refused(header):
    at = ext_length_at(header)
    return at is not None and b"" in dict(entries(header[at + 4 :]))


@refusing_binary("Ext fields that exceed their length in a binary header close the connection.")
def binary_overrun_refused(header):
    at = ext_length_at(header)
    return at is not None and 0 < length_at(header, at) < sum(
        len(raw) for _, raw in entries(header[at + 4 :])
    )


@refusing_binary("A byte of a binary header that is not UTF-8 closes the connection.")
def binary_invalid_utf8_refused(header):
    at = ext_length_at(header)
    return at is not None and any(b"\xff" in raw[6:] for _, raw in entries(header[at + 4 :]))


@after(Endpoint.read, "Bytes of a binary header that are not UTF-8 are left out.")
def binary_invalid_utf8_dropped(command, frame):
    if frame[4] == _BINARY:
        for name, value in (command.ext or {}).items():
            command.ext[name] = value and value.replace("\ufffd", "")


@after(Endpoint.read, "The first byte of a key counts as its length, if the length of a value is there.")
def binary_keys_say_where_they_end(command, frame):
    if frame[4] != _BINARY or len(command.ext or {}) < 2:
        return
    (name, value), (key, other), *behind = command.ext.items()
    end = len(name) + 4 + len(value or "") + 2 + len(key)
    if name[:1] == chr(end):
        command.ext = {name.ljust(end): other, **dict(behind)}


@after(Endpoint.read, "The first byte of the last key counts as its length, if its value has a length there.")
def binary_last_keys_say_where_they_end(command, frame):
    if frame[4] != _BINARY or not command.ext:
        return
    *before, (name, value) = command.ext.items()
    at = ord(name[0]) - len(name)
    if (value or "")[at - 4 : at] == "\0\0\0\1":
        command.ext = dict(before)


@after(Endpoint.read, "The second byte of a value counts as its length, if a binary header ends there.")
def binary_values_say_where_they_end(command, frame):
    if frame[4] != _BINARY or not command.ext:
        return
    (name, value), *behind = command.ext.items()
    left = len(value or "") + sum(6 + len(one) + len(text or "") for one, text in behind)
    if (value or "")[1:2] == chr(left):
        command.ext = {name: value}


# --- what JSON headers may look like --------------------------------------------------------------------


@mutant(Endpoint.read, "The first of several ext fields with one name applies.")
def first_ext_field_wins(original, self, frame):
    command, header = original(self, frame), header_of(frame)
    if header is not None and command.ext is not None:
        for name, value in tree(header, self.line.engine)[0].members:
            ext = value.members if name.value == "extFields" else []
            command.ext.update({str(key.value): as_string(text) for key, text in reversed(ext)})
    return command


def _has_ext_value(members: Members, *kinds: type) -> bool:
    ext = members.get("extFields")
    return isinstance(ext, dict) and any(type(value) in kinds for value in ext.values())


@refusing("A numeric ext value closes the connection.")
def ext_numbers_refused(members):
    return _has_ext_value(members, int, float)


@refusing("An ext value that is an object or an array closes the connection.")
def structured_ext_values_refused(members):
    return _has_ext_value(members, dict, list)


@rewriting("A boolean ext value becomes True or False.")
def ext_booleans_capitalised(members):
    for name, value in (members.get("extFields") or {}).items():
        if isinstance(value, bool):
            members["extFields"][name] = str(value)


@rewriting("A null ext value becomes the text null.")
def null_ext_value_is_text(members):
    for name, value in (members.get("extFields") or {}).items():
        if value is None:
            members["extFields"][name] = "null"


# --- idle connections -----------------------------------------------------------------------------------


@mutant(Endpoint.read, "The body begins with the white space behind a JSON header.")
def white_space_behind_header_begins_the_body(original, self, frame):
    header = header_of(frame)
    if header is None:
        return original(self, frame)
    object_ = header.rstrip()
    body = header[len(object_) :] + frame[8 + len(header) :]
    return original(self, RawFrame(object_, body, Serialization.JSON).encode())
