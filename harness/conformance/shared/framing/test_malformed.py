"""Chapter framing: malformed frames, and text that is not UTF-8."""

from __future__ import annotations

import json

from harness.conformance import Closed, Reply, case
from harness.conformance.shared.frames import (
    OPAQUE,
    binary_frame,
    binary_header,
    json_frame,
    query_header,
)
from harness.conformance.shared.framing.limits import BEYOND_ASCII, INT32_MAX, INT32_MIN, LARGEST_LENGTH
from harness.conformance.shared.raw import (
    answered,
    closes,
    closes_headers,
    headers_with_number,
    keeps,
    ordinary_frame,
    put,
    serves,
    serves_headers,
    warmed,
)
from harness.session import NameServerSession, Session
from harness.wire import (
    RawFrame,
    ResponseCode,
    Serialization,
)

SUCCESS, SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR

ESCAPED = {r"\n\t\r": "\n\t\r", r"\b\f": "\b\f", r"\"\\\/": '"\\/'}
"""Escapes of JSON with one letter or sign, and the text that they mean."""
RARE = {r"\x41\xe9\x0A": "Aé\n", r"\v\F\'": "\v\f'", r"\0\1\2\3\4\5\6\7": "".join(map(chr, range(8)))}
"""Escapes that JSON has not, and the text that they mean to fastjson."""
SIGNS, SIGNS_OF_NAMES = " #&(),.@[]_~", "*+-:<=>"
"""What fastjson2 takes for itself behind a backslash: in every text, and in names besides."""


# --- malformed frames -----------------------------------------------------------------------------------


@case(kills=["frame-limit-off-by-one", "bad-length-waits"])
def test_length_beyond_limit_closes(peer: Session) -> None:
    closes(peer, *(length.to_bytes(4, "big") for length in (LARGEST_LENGTH + 1, INT32_MAX)))


@case(kills=["bad-length-waits"])
def test_negative_length_closes(peer: Session) -> None:
    closes(peer, *(length.to_bytes(4, "big", signed=True) for length in (-1, INT32_MIN)))


@case(kills=["bad-length-waits"])
def test_length_below_header_word_closes(peer: Session) -> None:
    closes(peer, *(length.to_bytes(4, "big") + bytes(length) for length in range(4)))


@case(kills=["header-length-clamped", "binary-header-length-clamped"])
def test_header_beyond_frame_closes(peer: Session) -> None:
    for kind, header in enumerate((query_header(peer.query).encode(), binary_header(peer.query))):
        for header_length in (len(header) + 1, 0xFFFFFF):
            closes(peer, RawFrame(header, serialize_type=kind, header_length=header_length).encode())


@case(kills=["empty-header-skipped"])
def test_empty_header_closes(peer: Session) -> None:
    for serialization in Serialization:
        closes(
            peer, RawFrame(b"", b"", serialization).encode(), RawFrame(b"", b"body", serialization).encode()
        )


@case(kills=["unknown-serialization-is-json", "malformed-skipped"])
def test_unknown_serialization_closes(peer: Session) -> None:
    header = query_header(peer.query).encode()
    closes(peer, *(RawFrame(header, serialize_type=kind).encode() for kind in (2, 5, 127, 128, 255)))


@case(kills=["serialization-guessed"])
def test_serialization_that_is_not_the_headers_closes(peer: Session) -> None:
    closes(peer, binary_frame(query_header(peer.query).encode()), json_frame(binary_header(peer.query)))


@case(kills=["bad-length-waits"])
def test_http_closes(peer: Session) -> None:
    warmed(peer)
    peer.connect().send_raw(b"GET / HTTP/1.1\r\nHost: nameserver\r\n\r\n") >> Closed()


@case(kills=["malformed-answered", "malformed-skipped"])
def test_broken_json_header_closes(peer: Session) -> None:
    closes_headers(
        peer,
        query_header(peer.query)[:-1],
        query_header(peer.query, remark='"no end'),
        query_header(peer.query, remark=r'"\q"'),
        query_header(peer.query, remark="null/* why */"),
        query_header(peer.query, remark="nope"),
        query_header(peer.query, flag="fals"),
        query_header(peer.query).replace('"flag":', '"flag"/* why */:'),
        query_header(peer.query).replace('"flag":', '"flag" '),
        query_header(peer.query).replace('"flag":', '"flag"='),
        query_header(peer.query).replace(',"language"', '|"language"'),
        query_header(peer.query, extra="[1|2]"),
        "hello",
        "    ",
    )


@case(kills=["number-names-are-quoted"])
def test_number_for_a_name_closes(peer: Session) -> None:
    with_number = json.dumps({**peer.query.ext, "x": "y"}).replace('"x"', "5")
    closes_headers(peer, query_header(peer.query, '5:"x"'), query_header(peer.query, extFields=with_number))


@case(kills=["header-without-members-for-any-value"])
def test_header_that_is_no_object_closes(peer: Session) -> None:
    closes_headers(peer, "null", "[]", f"[{query_header(peer.query)}]", "5", '"x"')


@case(kills=["text-after-header-ignored"])
def test_text_after_header_object_closes(peer: Session) -> None:
    closes_headers(
        peer,
        query_header(peer.query) + "x",
        query_header(peer.query) + "}",
        query_header(peer.query) + "{}",
    )


@case(kills=["ext-fields-of-any-type-ignored"])
def test_ext_fields_that_are_no_object_close(peer: Session) -> None:
    closes_headers(
        peer,
        *(query_header(peer.query, extFields=value) for value in ("[]", "[1]", '"x"', "5", "true")),
    )


@case(kills=["numbers-wrap"])
def test_number_out_of_range_closes(peer: Session) -> None:
    for number in (INT32_MAX + 1, INT32_MIN - 1, 2**32 - 1):
        closes_headers(peer, *headers_with_number(peer.query, str(number)))


@case(kills=["text-for-a-number-is-zero", "blanks-before-numbers-are-skipped"])
def test_text_for_a_number_closes(peer: Session) -> None:
    for value in ('"x"', '" 5"', "[]", "[1,2]"):
        closes_headers(peer, *headers_with_number(peer.query, value))


@case(kills=["strange-language-is-none"])
def test_language_that_is_none_closes(peer: Session) -> None:
    for value in ("99", "-1", "[]", "{}", "true"):
        closes_headers(peer, query_header(peer.query, language=value))
        closes_headers(peer, query_header(peer.query, serializeTypeCurrentRPC=value))


@case(kills=["malformed-closes-all"])
def test_malformed_frame_closes_only_its_connection(peer: Session) -> None:
    other = warmed(peer)
    closes(peer, b"\0\0\0\3abc", json_frame("null"), json_frame("null") + ordinary_frame(peer) * 2)
    other.call(*peer.query) >> answered(peer)
    peer.connect().call(*peer.query) >> answered(peer)


@case(kills=["malformed-forgets-brokers"])
def test_malformed_frame_changes_no_state(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    closes(ns, b"\0\0\0\3abc", json_frame("null"))
    ns.settle()
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


def _escaped(signs: str) -> str:
    return "".join(f"\\{one}" for one in signs)


def _remarking(data: bytes, first: bytes = b"") -> bytes:
    """A request whose header has a remark of these bytes. `first`: members at its beginning."""
    header = query_header(remark='"?"').encode().replace(b"?", data)
    return json_frame(header.replace(b"{", b"{" + first, 1))


# --- UTF-8 ----------------------------------------------------------------------------------------------


@case(kills=["invalid-utf8-refused"])
def test_invalid_utf8_is_replaced(ns: NameServerSession) -> None:
    serves(ns, _remarking(b"\xff\xfe"))


@case(kills=["invalid-utf8-replaced"])
def test_invalid_utf8_closes(ns: NameServerSession) -> None:
    for data in (b"\xff\xfe", b"\xc3("):
        closes(ns, _remarking(data), _remarking(data, b'"unknown":1,'))
    serves(ns, _remarking(b"x", b'"unknown":1,'))


@case(kills=["invalid-utf8-replaced"])
def test_byte_that_begins_no_character_closes(ns: NameServerSession) -> None:
    for data in (b"\xff\xfe", b"\x80"):
        closes(ns, _remarking(data), _remarking(data, b'"unknown":1,'))
    serves(ns, _remarking(b"x", b'"unknown":1,'))


@case(kills=["header-read-as-latin-1", "response-header-in-ascii"])
def test_non_ascii_ext_value_survives(ns: NameServerSession) -> None:
    raw = json.dumps(BEYOND_ASCII, ensure_ascii=False)
    keeps(ns, {raw: BEYOND_ASCII, json.dumps(BEYOND_ASCII): BEYOND_ASCII})
    keeps(ns, {rf'"a{escapes}z"': f"a{text}z" for escapes, text in ESCAPED.items()})


@case(kills=["escapes-of-two-digits-close", "escaped-digits-close", "rare-escapes-of-letters-close"])
def test_rare_escapes_are_read(ns: NameServerSession) -> None:
    keeps(ns, {rf'"a{escapes}z"': f"a{text}z" for escapes, text in RARE.items()})


@case(kills=["escaped-signs-close", "escaped-signs-in-names-close"])
def test_escaped_signs_are_read(ns: NameServerSession) -> None:
    keeps(ns, {f'"a{_escaped(SIGNS)}z"': f"a{SIGNS}z"})
    name = f"a{_escaped(SIGNS + SIGNS_OF_NAMES)}z"
    serves_headers(ns, query_header(extFields=f'{{"{name}":"x"}}'))


@case(kills=["capitals-escape-digits", "every-escaped-letter-is-itself", "every-escaped-sign-is-itself"])
def test_unknown_escapes_close(ns: NameServerSession) -> None:
    for escape in (r"\X41", r"\U0041", r"\q41", r"\x4", r"\a", r"\8", r"\!", r"\*"):
        closes(
            ns,
            put(ns.name("KV"), "k", f'"a{escape}z"'),
            put(ns.name("KV"), "k", f'"a{escape}z"', '"extra":1'),
        )


@case(kills=["half-characters-are-replaced"])
def test_half_a_character_is_a_question_mark(ns: NameServerSession) -> None:
    namespace = ns.name("KV")
    ns.connect().send_raw(put(namespace, "k", r'"a\ud83dz"'), opaque=OPAQUE) >> Reply(SUCCESS)
    ns.get_kv(namespace, "k").value >> Reply(SUCCESS, "a?z")
    ns.list_kv(namespace).table >> Reply(SUCCESS, {"k": "a?z"})
