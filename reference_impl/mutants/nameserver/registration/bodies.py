"""Faults of registration (code 103): checksum and body."""

import json
import re
import zlib
from typing import Any

import msgspec

from harness.wire import Command, WireError, body_crc32
from harness.wire.bodies import RegisterBody
from harness.wire.versions import V3_0_11, V5_0_0
from reference_impl.mutants.headers import header_of
from reference_impl.mutants.registry import V4, V5, after, family, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError

_WRAPPER = {"dataVersion", "topicConfigTable"}
_SEVEN_WORDS = re.compile(rb"_TAG [!-~]+ [!-~]")


def _with(command: Command, **changes: Any) -> Command:
    return msgspec.structs.replace(command, **changes)


# -- checksum ------------------------------------------------------------------------------------------------


@mutant(NameServer.checksum_holds, "bodyCrc32 is ignored.")
def crc_is_not_checked(original, self, command):
    return True


@mutant(NameServer.checksum_holds, "bodyCrc32 is compared with all 32 bits of the checksum.")
def crc_has_32_bits(original, self, command):
    expected = fields.int32(command.ext, "bodyCrc32") or 0
    return expected == 0 or expected == zlib.crc32(command.body)


@mutant(NameServer.checksum_holds, "bodyCrc32 is compared with the checksum of the inflated body.")
def crc_covers_inflated_body(original, self, command):
    if not fields.boolean(command.ext, "compressed"):
        return original(self, command)
    expected = fields.int32(command.ext, "bodyCrc32") or 0
    return expected == 0 or expected == body_crc32(zlib.decompress(command.body))


@mutant(NameServer.checksum_holds, "A bodyCrc32 of 0 is compared like any other.")
def zero_crc_is_checked(original, self, command):
    expected = fields.int32(command.ext, "bodyCrc32")
    return expected is None or expected == body_crc32(command.body)


@mutant(NameServer.checksum_holds, "bodyCrc32 is ignored without a body.")
def crc_of_no_body_is_not_checked(original, self, command):
    return not command.body or original(self, command)


# -- bodies --------------------------------------------------------------------------------------------------


@family(NameServer.register_body)
def _body(change, original, self, command):
    """Read `change(command)` instead of a registration's body."""
    return original(self, change(command))


@mutant(NameServer.register_body, "A registration with an undecodable body counts as one without a body.")
def undecodable_body_registers(original, self, command):
    try:
        return original(self, command)
    except RefusedError:
        return original(self, _with(command, body=b""))


def _is_loose(command: Command) -> bool:
    try:
        json.loads(command.body or b"{}")
    except ValueError:
        return not fields.boolean(command.ext, "compressed")
    return False


@after(NameServer.register_body, "A body that is not strict JSON loses the system flags of its topics.")
def loose_bodies_lose_flags(body, self, command):
    if _is_loose(command):
        for topic in (body.topics or {}).values():
            topic.topic_sys_flag = 0
    return body


@after(NameServer.register_body, "A body that is not strict JSON loses the counter of its data version.")
def loose_bodies_lose_counters(body, self, command):
    if _is_loose(command) and body.data_version is not None:
        body.data_version.counter = 0
    return body


@after(NameServer.register_body, "A body that is not strict JSON loses its filter servers.")
def loose_bodies_lose_filters(body, self, command):
    if _is_loose(command):
        body.filter_servers = None
    return body


@after(NameServer.register_body, "In loose JSON, null for the filter servers is one.", ["4.9", "5.3"])
def null_for_filters_in_loose_bodies_is_one(body, self, command):
    if _is_loose(command) and b"'filterServerList':null" in command.body:
        body.filter_servers = [None]
    return body


@after(NameServer.register_body, "Null among the filter servers of a broker is left out.")
def null_filter_servers_are_left_out(body, self, command):
    if body.filter_servers:
        body.filter_servers = [one for one in body.filter_servers if one is not None]
    return body


@after(NameServer.register_body, "A filter server without a list around it is not read.")
def one_filter_server_is_none(body, self, command):
    if b'"filterServerList":"' in command.body:
        body.filter_servers = None
    return body


@_body("The ext field compressed is ignored.")
def bodies_are_never_inflated(command):
    return _with(command, ext={**(command.ext or {}), "compressed": "false"})


@_body("compressed=TRUE is not understood.")
def compressed_is_case_sensitive(command):
    given = (command.ext or {}).get("compressed")
    return _with(command, ext={**(command.ext or {}), "compressed": given if given == "true" else "false"})


@_body("Every value of compressed means true.")
def any_compressed_field_inflates(command):
    if fields.text(command.ext, "compressed") is None:
        return command
    return _with(command, ext={**(command.ext or {}), "compressed": "true"})


@_body("A compressed body may be deflate data without the zlib wrapper.")
def raw_deflate_is_accepted(command):
    if not fields.boolean(command.ext, "compressed"):
        return command
    try:
        return _with(command, body=zlib.compress(zlib.decompress(command.body, -zlib.MAX_WBITS)))
    except zlib.error:
        return command


@_body("The mapping section of a compressed body is not read.", V5)
def mapping_section_is_never_read(command):
    return _with(command, version=min(command.version, V5_0_0 - 1))


@_body("The mapping section of a compressed body is read from version 414 on.", V5)
def mapping_section_of_413_is_not_read(command):
    return _with(command, version=V5_0_0 - 1) if command.version == V5_0_0 else command


@_body("A mapping without a topic in a compressed body is left out.", V5)
def mapping_without_topic_is_left_out(command):
    lonely = b"\0\0\0\1\0\0\0\2{}"
    if not fields.boolean(command.ext, "compressed"):
        return command
    try:
        layout = zlib.decompress(command.body)
    except zlib.error:
        return command
    if not layout.endswith(lonely):
        return command
    return _with(command, body=zlib.compress(layout.removesuffix(lonely) + bytes(4)))


@after(NameServer.register_body, "A topic of six words in a compressed body is refused.", V5)
def six_words_are_refused(body, command):
    if fields.boolean(command.ext, "compressed"):
        try:
            RegisterBody.decode(command.body, compressed=True, version=command.version, v5=False)
        except WireError as error:
            raise RefusedError(str(error)) from error


@mutant(NameServer.register_body, "A topic of six words in a compressed body is accepted.", V4)
def six_words_are_accepted(original, self, command):
    try:
        return original(self, command)
    except RefusedError:
        if not fields.boolean(command.ext, "compressed"):
            raise
        return RegisterBody.decode(command.body, compressed=True, version=command.version, v5=True)


@after(NameServer.register_body, "A topic of seven words in a compressed body is refused.", V5)
def seven_words_are_refused(body, command):
    if fields.boolean(command.ext, "compressed") and _SEVEN_WORDS.search(zlib.decompress(command.body)):
        raise RefusedError("a topic of more than six words")


@after(NameServer.register_body, "A compressed body with bytes after its last field is refused.")
def trailing_bytes_are_refused(body, command):
    if fields.boolean(command.ext, "compressed"):
        shortest = min(len(body.layout(v5=False)), len(body.layout(v5=True)))
        if len(zlib.decompress(command.body)) > shortest and not body.mappings:
            raise RefusedError("bytes are left over")


@_body("The body of an old broker is decoded like that of a new one.")
def old_bodies_are_not_known(command):
    return _with(command, version=max(command.version, V3_0_11))


@_body("The body of version 37 is decoded like that of version 36.")
def old_bodies_are_expected_too_long(command):
    return _with(command, version=V3_0_11 - 1) if command.version == V3_0_11 else command


@_body("A register body with a member that 4.9 does not have is refused.")
def unknown_body_members_are_refused(command):
    if command.body.startswith(b"{") and not _is_known(command.body):
        raise RefusedError("unknown member")
    return command


def _is_known(body: bytes) -> bool:
    try:
        whole = json.loads(body)
    except ValueError:
        return True
    wrapper = whole.get("topicConfigSerializeWrapper", {})
    return (
        set(whole) <= {"filterServerList", "topicConfigSerializeWrapper", *_WRAPPER}
        and set(wrapper) <= _WRAPPER
    )


@_body("A register body that is not strict JSON is refused.")
def unquoted_keys_are_refused(command):
    if command.body.startswith(b"{"):
        try:
            json.loads(command.body)
        except ValueError as error:
            raise RefusedError(str(error)) from error
    return command


def _layout(command: Command) -> bytes:
    """The inflated body; empty if there is none."""
    if not fields.boolean(command.ext, "compressed"):
        return b""
    try:
        return zlib.decompress(command.body)
    except zlib.error:
        return b""


@mutant(NameServer.register_body, "A topic line with signs, leading zeros or blanks at its end is refused.")
def topic_lines_are_strict(original, self, command):
    if re.search(rb" (\+|0\d)| \0\0\0", _layout(command)):
        raise RefusedError("a loose topic line")
    return original(self, command)


_UNREADABLE = rb"\0\0\0.(x|\{\}|\[\"f:1\")$"


@mutant(NameServer.register_body, "A compressed body with a filter list that is not JSON is refused.")
def unreadable_filter_list_is_refused(original, self, command):
    if re.search(_UNREADABLE, _layout(command), re.DOTALL):
        raise RefusedError("the filter list is no JSON")
    return original(self, command)


@after(NameServer.register_body, "A filter list that is not JSON leaves the filter servers unchanged.")
def unreadable_filter_list_is_null(body, command):
    if re.search(_UNREADABLE, _layout(command), re.DOTALL):
        body.filter_servers = None
    return body


@after(NameServer.register_body, "A blank filter list of a compressed body clears the filter servers.")
def blank_filter_list_clears(body, command):
    if _layout(command) and body.filter_servers is None:
        body.filter_servers = []
    return body


@after(NameServer.register_body, "A data version or wrapper that is null is refused.")
def null_versions_are_refused(body):
    if body.data_version is None:
        raise RefusedError("dataVersion is null")


@mutant(NameServer.register_body, "A topic table that is null is refused.")
def null_topic_table_is_refused(original, self, command):
    if re.search(rb"topicConfigTable.:null", command.body):
        raise RefusedError("topicConfigTable is null")
    return original(self, command)


@mutant(NameServer.register_body, "The version of a registration that is negative counts as 0.")
def negative_version_is_zero(original, self, command):
    return original(self, _with(command, version=max(command.version, 0)))


def _dirty(command: Command, topic: str) -> bytes:
    """The text of a mapping's member dirty in a plain body."""
    found = re.search(rb'"topic":"%b",.*?"dirty":([^,}]*)' % topic.encode(), command.body)
    return b"" if found is None else found[1]


@after(NameServer.register_body, "A mapping with a boolean that is a number or text is refused.", V5)
def odd_booleans_are_refused(body, command):
    if any(_dirty(command, topic) not in (b"", b"true", b"false") for topic in body.mappings or ()):
        raise RefusedError("a boolean that is none")


@after(NameServer.register_body, "A boolean of a mapping that is a number or text counts as true.", V5)
def odd_booleans_are_true(body, command):
    for topic, mapping in (body.mappings or {}).items():
        if _dirty(command, topic) not in (b"", b"true", b"false"):
            mapping.dirty = True


@mutant(NameServer.register_body, "A boolean that is any text or a list counts as false.")
def every_text_is_a_boolean(original, self, command):
    body = re.sub(rb'"order":("\w*"|\[\])', b'"order":false', command.body)
    return original(self, _with(command, body=body))


@after(NameServer.register_body, "The topic table that an address sent before is taken, wherever it stands.")
def former_table_is_taken(body, self, command):
    tables: dict[str, tuple[bytes, Any]] = self.__dict__.setdefault("former_tables", {})
    address = fields.text(command.ext, "brokerAddr") or ""
    text, topics = tables.get(address, (b"", None))
    start = command.body.find(b'"topicConfigTable":') + len(b'"topicConfigTable":')
    if text and command.body.startswith(text, start):
        body.topics = topics
    elif command.body.startswith(b"{"):
        tables[address] = (
            json.dumps(
                json.loads(command.body)["topicConfigSerializeWrapper"]["topicConfigTable"],
                separators=(",", ":"),
            ).encode(),
            body.topics,
        )
    return body


@after(
    NameServer.register_body, "An empty text for filterServerList clears the filter servers.", ["4.9", "5.3"]
)
def empty_text_for_filters_clears(body, command):
    if b'"filterServerList":""' in command.body:
        body.filter_servers = []


@after(NameServer.register_body, "An empty text for filterServerList keeps the filter servers.", ["5.5"])
def empty_text_for_filters_keeps_them(body, command):
    if b'"filterServerList":""' in command.body:
        body.filter_servers = None


@mutant(NameServer.register_body, "Members about static topics are ignored if they are no objects.", V5)
def malformed_mapping_members_are_ignored(original, self, command):
    if not command.body.startswith(b"{"):
        return original(self, command)
    members = rb'"(mappingDataVersion|topicQueueMapping(Info|Detail)Map)":(5|\["x"\]|"x")'
    return original(self, _with(command, body=re.sub(members, b'"unheardOf":0', command.body)))


@mutant(
    NameServer.register_body,
    "Mappings of static topics must name their broker in 4.9, too.",
    V4,
    name="mapping-members-are-read-in-4.9",
)
def mapping_members_are_read(original, self, command):
    if re.search(rb'"topicQueueMappingInfoMap":\{"\w+":\{(?![^}]*"bname")', command.body):
        raise RefusedError("a mapping without broker name")
    return original(self, command)


@after(Endpoint.read, "The body begins a byte too early behind a JSON header with an unknown member.")
def strange_headers_lose_a_byte_of_the_body(command, frame):
    if command.body and b'"unheardOf"' in (header_of(frame) or b""):
        command.body = b"}" + command.body[:-1]


@after(NameServer.register_body, "The permission of a topic is not read if it is its first member.")
def permission_that_comes_first_is_lost(body, command):
    for name, topic in (body.topics or {}).items():
        if b'"%b":{"perm":' % name.encode() in command.body:
            topic.perm = 6


@after(NameServer.register_body, "A queue number at either end of 32 bits is refused.")
def edge_numbers_are_refused(body):
    if any(topic.read_queue_nums in (2**31 - 1, -(2**31)) for topic in (body.topics or {}).values()):
        raise RefusedError("a queue number at the end of its range")


@mutant(NameServer.register_body, "A number beyond 32 bits in a plain body counts as 0.")
def numbers_beyond_32_bits_are_zero(original, self, command):
    body = re.sub(rb'"?((?<!-)2147483648|-2147483649)"?', b"0", command.body)
    return original(self, _with(command, body=body) if command.body.startswith(b"{") else command)
