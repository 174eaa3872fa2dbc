"""Chapter framing: frames, headers, flags, and what a connection survives.

A malformed frame is always sent behind a request that was answered: a close would take an outstanding answer
with it, and a 5.3 server looks at nothing before the twelfth byte of a new connection.
"""

from __future__ import annotations

import json

from harness.conformance import AnyOf, Closed, Containing, Matching, Reply, Silence, case
from harness.conformance.frames import (
    OPAQUE,
    QUERY,
    binary_frame,
    binary_header,
    entry,
    json_frame,
    query_header,
)
from harness.conformance.raw import (
    closes,
    closes_headers,
    headers_with_number,
    keeps,
    serves,
    serves_headers,
    warmed,
)
from harness.session import NameServerSession, Session, TermSession
from harness.wire import (
    FLAG_ONEWAY,
    FLAG_RESPONSE,
    FRAME_LIMIT,
    RawFrame,
    RequestCode,
    ResponseCode,
    Serialization,
)

SUCCESS, SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
LARGEST_LENGTH = FRAME_LIMIT - 4
"""Of the length word, which does not count itself."""
IDLE = 120
"""Protocol seconds after which an idle connection is closed."""
BEYOND_ASCII = "你好 😀 é"


# --- responses ------------------------------------------------------------------------------------------


@case("wire.framing.response-lengths-agree", kills=["response-length-too-large", "response-length-too-small"])
def test_response_lengths_agree(ns: NameServerSession) -> None:
    """A response is one frame, and the next one begins where it ends."""
    connection = ns.connect()
    connection.call(RequestCode.GET_BROKER_CLUSTER_INFO) >> Reply(SUCCESS, Containing("clusterAddrTable"))
    connection.call(RequestCode.GET_BROKER_CLUSTER_INFO) >> Reply(SUCCESS, Containing("clusterAddrTable"))


@case("wire.framing.opaque-is-echoed", kills=["opaque-not-echoed", "opaque-without-sign"])
def test_opaque_is_echoed(peer: Session) -> None:
    """A response carries the opaque of its request."""
    for opaque in (0, 7, -1, INT32_MIN, INT32_MAX):
        peer.call(peer.query, opaque=opaque) >> Reply(SUCCESS)


@case("wire.framing.equal-opaques-are-each-answered", kills=["equal-opaques-answered-once"])
def test_equal_opaques_are_each_answered(peer: Session) -> None:
    """Requests with equal opaques each get an answer."""
    connection = peer.connect()
    first = connection.send_raw(json_frame(query_header(code=peer.query)) * 3, opaque=OPAQUE)
    second, third = connection.answer_to(OPAQUE), connection.answer_to(OPAQUE)
    first >> Reply(SUCCESS)
    second >> Reply(SUCCESS)
    third >> Reply(SUCCESS)


@case("wire.framing.response-flag-is-one", kills=["response-marked-oneway"])
def test_response_flag_is_one(peer: Session) -> None:
    """A response has the response bit and no other."""
    peer.call(peer.query) >> Reply(SUCCESS, flag=FLAG_RESPONSE)


@case("wire.framing.unknown-flag-bits-are-ignored", kills=["flag-bits-echoed", "unknown-flag-bits-refused"])
def test_unknown_flag_bits_are_ignored(peer: Session) -> None:
    """Bits of the flag that have no meaning change nothing and are not echoed."""
    for flag in (4, 256, INT32_MAX - 3, INT32_MIN):
        peer.call(peer.query, flag=flag) >> Reply(SUCCESS, flag=FLAG_RESPONSE)


@case("wire.framing.absent-members-are-omitted", kills=["null-members-written"])
def test_absent_members_are_omitted(peer: Session) -> None:
    """A header says nothing of a remark and of ext fields that are not there."""
    peer.call(peer.query) >> Reply(SUCCESS, header=Matching(r'^(?!.*"(remark|extFields)":null)'))


# --- one-way requests and stray responses ---------------------------------------------------------------


@case("wire.framing.oneway-is-executed", kills=["oneway-not-executed"])
def test_oneway_is_executed(ns: NameServerSession) -> None:
    """A one-way request is executed."""
    broker = ns.broker()
    broker.register(flag=FLAG_ONEWAY) >> Silence()
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, {0: broker.address})


@case("wire.framing.oneway-is-not-answered", kills=["oneway-answered"])
def test_oneway_is_not_answered(peer: Session) -> None:
    """A one-way request is not answered."""
    connection = peer.connect()
    connection.call(peer.query, flag=FLAG_ONEWAY) >> Silence()
    connection.call(peer.query) >> Reply(SUCCESS)


@case(
    "wire.framing.failing-oneway-is-not-answered", kills=["failing-oneway-answered", "failing-oneway-closes"]
)
def test_failing_oneway_is_not_answered(ns: NameServerSession) -> None:
    """A one-way request that fails is not answered, and the connection stays usable."""
    connection = ns.connect()
    connection.call(RequestCode.REGISTER_BROKER, flag=FLAG_ONEWAY) >> Silence()
    connection.call(QUERY) >> Reply(SUCCESS)


@case("wire.framing.stray-response-is-ignored", kills=["stray-response-closes", "responses-executed"])
def test_stray_response_is_ignored(peer: Session) -> None:
    """A response that nobody waits for is ignored."""
    connection = peer.connect()
    for flag in (FLAG_RESPONSE, FLAG_RESPONSE | FLAG_ONEWAY):
        connection.call(peer.query, flag=flag) >> Silence()
    connection.call(peer.query) >> Reply(SUCCESS)


@case("wire.framing.response-bit-outweighs-the-request", kills=["responses-executed", "oneway-bit-first"])
def test_response_bit_outweighs_the_request(ns: NameServerSession) -> None:
    """A frame with the response bit is not executed."""
    for flag in (FLAG_RESPONSE, FLAG_RESPONSE | FLAG_ONEWAY):
        broker = ns.broker()
        broker.register(flag=flag) >> Silence()
        ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)


# --- the stream -----------------------------------------------------------------------------------------


@case("wire.framing.fragments-are-reassembled", kills=["partial-frames-dropped"])
def test_fragments_are_reassembled(peer: Session) -> None:
    """A request that arrives byte by byte is served."""
    connection = peer.connect()
    frame = json_frame(query_header(code=peer.query))
    for at in range(len(frame) - 1):
        connection.write(frame[at : at + 1])
    connection.send_raw(frame[-1:], opaque=OPAQUE) >> Reply(SUCCESS)


@case(
    "wire.framing.segment-with-a-part-of-the-next-frame",
    kills=["one-frame-per-segment", "partial-frames-dropped"],
)
def test_segment_with_a_part_of_the_next_frame(peer: Session) -> None:
    """What follows a frame in its segment begins the next one."""
    connection = peer.connect()
    frame = json_frame(query_header(code=peer.query))
    half = len(frame) // 2
    connection.send_raw(frame + frame[:half], opaque=OPAQUE) >> Reply(SUCCESS)
    connection.send_raw(frame[half:], opaque=OPAQUE) >> Reply(SUCCESS)


@case("wire.framing.pipelined-requests-are-all-answered", kills=["one-frame-per-segment"])
def test_pipelined_requests_are_all_answered(peer: Session) -> None:
    """Every one of twenty requests in one segment is answered."""
    connection = peer.connect()
    frames = [json_frame(f'{{"code":{peer.query:d},"opaque":{opaque}}}') for opaque in range(20)]
    answers = [connection.send_raw(b"".join(frames), opaque=0)]
    answers += [connection.answer_to(opaque) for opaque in range(1, 20)]
    for answer in answers:
        answer >> Reply(SUCCESS)


@case("wire.framing.largest-length-is-accepted", kills=["small-frame-limit"])
def test_largest_length_is_accepted(peer: Session) -> None:
    """A frame of 16 MiB is served."""
    header = query_header(code=peer.query).encode()
    serves(peer, RawFrame(header, bytes(LARGEST_LENGTH - 4 - len(header))).encode())


@case("wire.framing.header-longer-than-64-kib", kills=["header-length-of-16-bits"])
def test_header_longer_than_64_kib(peer: Session) -> None:
    """A header of more than 65535 bytes is read."""
    remark = b"x" * 70_000
    serves(peer, json_frame(query_header(f'"remark":"{remark.decode()}"', code=peer.query)))
    serves(peer, binary_frame(binary_header(peer.query, remark=remark)))


@case("wire.framing.unused-body-is-ignored", kills=["every-body-parsed"])
def test_unused_body_is_ignored(peer: Session) -> None:
    """A request that needs no body may have any."""
    peer.call(peer.query, body=b"no JSON at all") >> Reply(SUCCESS)


# --- malformed frames -----------------------------------------------------------------------------------


@case("wire.framing.length-beyond-limit-closes", kills=["frame-limit-off-by-one", "bad-length-waits"])
def test_length_beyond_limit_closes(peer: Session) -> None:
    """A length word beyond the limit closes the connection at once."""
    closes(peer, *(length.to_bytes(4, "big") for length in (LARGEST_LENGTH + 1, INT32_MAX)))


@case("wire.framing.negative-length-closes", kills=["bad-length-waits"])
def test_negative_length_closes(peer: Session) -> None:
    """A negative length word closes the connection."""
    closes(peer, *(length.to_bytes(4, "big", signed=True) for length in (-1, INT32_MIN)))


@case("wire.framing.length-below-header-word-closes", kills=["bad-length-waits"])
def test_length_below_header_word_closes(peer: Session) -> None:
    """A frame without room for its header word closes the connection."""
    closes(peer, *(length.to_bytes(4, "big") + bytes(length) for length in range(4)))


@case("wire.framing.header-beyond-frame-closes", kills=["header-length-clamped"])
def test_header_beyond_frame_closes(peer: Session) -> None:
    """A header that is said to be longer than its frame closes the connection."""
    header = query_header(code=peer.query).encode()
    for header_length in (len(header) + 1, 0xFFFFFF):
        closes(peer, RawFrame(header, header_length=header_length).encode())


@case("wire.framing.empty-header-closes", kills=["empty-header-skipped"])
def test_empty_header_closes(peer: Session) -> None:
    """A frame without a header closes the connection."""
    for serialization in Serialization:
        closes(
            peer, RawFrame(b"", b"", serialization).encode(), RawFrame(b"", b"body", serialization).encode()
        )


@case(
    "wire.framing.unknown-serialization-closes", kills=["unknown-serialization-is-json", "malformed-skipped"]
)
def test_unknown_serialization_closes(peer: Session) -> None:
    """A type byte that names no serialization closes the connection."""
    header = query_header(code=peer.query).encode()
    closes(peer, *(RawFrame(header, serialize_type=kind).encode() for kind in (2, 5, 127, 128, 255)))


@case("wire.framing.serialization-that-is-not-the-headers-closes", kills=["serialization-guessed"])
def test_serialization_that_is_not_the_headers_closes(peer: Session) -> None:
    """A header in another serialization than its type byte says closes the connection."""
    closes(peer, binary_frame(query_header(code=peer.query).encode()), json_frame(binary_header(peer.query)))


@case("wire.framing.http-closes", kills=["bad-length-waits"])
def test_http_closes(peer: Session) -> None:
    """An HTTP request gets the connection closed."""
    peer.connect().send_raw(b"GET / HTTP/1.1\r\nHost: nameserver\r\n\r\n") >> Closed()


@case("wire.framing.broken-json-header-closes", kills=["malformed-answered", "malformed-skipped"])
def test_broken_json_header_closes(peer: Session) -> None:
    """A header that is no JSON closes the connection."""
    closes_headers(
        peer,
        query_header(code=peer.query)[:-1],
        query_header('"remark":"no end', code=peer.query),
        "hello",
        "    ",
    )


@case("wire.framing.header-that-is-no-object-closes", kills=["header-without-members-for-any-value"])
def test_header_that_is_no_object_closes(peer: Session) -> None:
    """A JSON header that is no object closes the connection."""
    closes_headers(peer, "null", "[]", f"[{query_header(code=peer.query)}]", "5", '"x"')


@case("wire.framing.text-after-header-object-closes", kills=["text-after-header-ignored"])
def test_text_after_header_object_closes(peer: Session) -> None:
    """Text behind the JSON object of a header closes the connection."""
    closes_headers(
        peer,
        query_header(code=peer.query) + "x",
        query_header(code=peer.query) + "}",
        query_header(code=peer.query) + "{}",
    )


@case("wire.framing.ext-fields-that-are-no-object-close", kills=["ext-fields-of-any-type-ignored"])
def test_ext_fields_that_are_no_object_close(peer: Session) -> None:
    """Ext fields of another type than object close the connection."""
    closes_headers(
        peer,
        *(
            query_header(f'"extFields":{value}', code=peer.query)
            for value in ("[]", "[1]", '"x"', "5", "true")
        ),
    )


@case("wire.framing.number-out-of-range-closes", kills=["numbers-wrap"])
def test_number_out_of_range_closes(peer: Session) -> None:
    """A number that does not fit into 32 bits closes the connection."""
    for number in (INT32_MAX + 1, INT32_MIN - 1, 2**32 - 1):
        closes_headers(peer, *headers_with_number(peer.query, str(number)))


@case("wire.framing.text-for-a-number-closes", kills=["text-for-a-number-is-zero"])
def test_text_for_a_number_closes(peer: Session) -> None:
    """A text that is no number, or no array of one, closes the connection in the place of a number."""
    for value in ('"x"', "[]", "[1,2]"):
        closes_headers(peer, *headers_with_number(peer.query, value))


@case("wire.framing.malformed-frame-closes-only-its-connection", kills=["malformed-closes-all"])
def test_malformed_frame_closes_only_its_connection(peer: Session) -> None:
    """A malformed frame does not disturb other connections."""
    other = warmed(peer)
    closes(peer, b"\0\0\0\3abc", json_frame("null"))
    other.call(peer.query) >> Reply(SUCCESS)
    peer.connect().call(peer.query) >> Reply(SUCCESS)


@case("wire.framing.malformed-frame-changes-no-state", kills=["malformed-forgets-brokers"])
def test_malformed_frame_changes_no_state(ns: NameServerSession) -> None:
    """What others registered outlives a malformed frame."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    closes(ns, b"\0\0\0\3abc", json_frame("null"))
    ns.settle()
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


# --- UTF-8 ----------------------------------------------------------------------------------------------


def _remarking(data: bytes) -> bytes:
    return json_frame(query_header('"remark":"?"').encode().replace(b"?", data))


@case("wire.framing.invalid-utf8-is-replaced", kills=["invalid-utf8-refused"])
def test_invalid_utf8_is_replaced(ns: NameServerSession) -> None:
    """A header with bytes that are no UTF-8 is served."""
    serves(ns, _remarking(b"\xff\xfe"))


@case("wire.framing.invalid-utf8-closes", kills=["invalid-utf8-replaced"])
def test_invalid_utf8_closes(ns: NameServerSession) -> None:
    """A header with bytes that are no UTF-8 closes the connection."""
    for data in (b"\xff\xfe", b"\xc3("):
        closes(ns, _remarking(data))


@case("wire.framing.byte-that-begins-no-character-closes", kills=["invalid-utf8-replaced"])
def test_byte_that_begins_no_character_closes(ns: NameServerSession) -> None:
    """A header with a byte that no character begins with closes the connection."""
    for data in (b"\xff\xfe", b"\x80"):
        closes(ns, _remarking(data))


@case(
    "wire.framing.non-ascii-ext-value-survives", kills=["header-read-as-latin-1", "response-header-in-ascii"]
)
def test_non_ascii_ext_value_survives(ns: NameServerSession) -> None:
    """A value beyond ASCII comes back as it was sent, raw or escaped."""
    raw = json.dumps(BEYOND_ASCII, ensure_ascii=False)
    keeps(ns, {raw: BEYOND_ASCII, json.dumps(BEYOND_ASCII): BEYOND_ASCII})


# --- binary headers -------------------------------------------------------------------------------------


@case("wire.framing.binary-request-is-served", kills=["binary-refused", "binary-ext-ignored"])
def test_binary_request_is_served(ns: NameServerSession) -> None:
    """A request with a binary header does what the same one with a JSON header does."""
    namespace = ns.name("KV")
    ext = {"namespace": namespace, "key": "k", "value": BEYOND_ASCII}
    ns.call(RequestCode.PUT_KV_CONFIG, ext, serialization=Serialization.ROCKETMQ) >> Reply(SUCCESS)
    ns.get_kv(namespace, "k").value >> Reply(SUCCESS, BEYOND_ASCII)


@case("wire.framing.binary-is-answered-in-binary", kills=["historical-3588-binary-answered-in-json"])
def test_binary_is_answered_in_binary(ns: NameServerSession) -> None:
    """A binary request gets a binary answer."""
    binary = Serialization.ROCKETMQ
    ns.call(QUERY, serialization=binary) >> Reply(SUCCESS, serialization=binary)


@case("wire.framing.type-byte-of-a-response-is-true", kills=["binary-refused", "type-byte-of-the-request"])
def test_type_byte_of_a_response_is_true(peer: Session) -> None:
    """The answer to a binary request can be read as its type byte says."""
    peer.call(peer.query, serialization=Serialization.ROCKETMQ) >> AnyOf(
        Reply(SUCCESS, serialization=Serialization.JSON), Reply(SUCCESS, serialization=Serialization.ROCKETMQ)
    )


@case("wire.framing.json-is-answered-in-json", kills=["answers-in-binary"])
def test_json_is_answered_in_json(peer: Session) -> None:
    """A JSON request gets a JSON answer."""
    peer.call(peer.query) >> Reply(SUCCESS, serialization=Serialization.JSON)


@case("wire.framing.binary-zero-length-is-null", kills=["binary-zero-length-is-empty"])
def test_binary_zero_length_is_null(ns: NameServerSession) -> None:
    """A value of length 0 in a binary header is absent; an empty string in JSON is not."""
    ext = {"namespace": "", "key": ns.name("k"), "value": "v"}
    ns.call(RequestCode.PUT_KV_CONFIG, ext, serialization=Serialization.ROCKETMQ) >> Reply(SYSTEM_ERROR)
    ns.call(RequestCode.PUT_KV_CONFIG, ext) >> Reply(SUCCESS)


@case("wire.framing.binary-unknown-language-is-served", kills=["binary-language-checked"])
def test_binary_unknown_language_is_served(peer: Session) -> None:
    """A language byte that nobody knows does not matter."""
    serves(peer, *(binary_frame(binary_header(peer.query, language=language)) for language in (1, 99, 255)))


@case("wire.framing.binary-bad-remark-length-closes", kills=["binary-bad-remark-length-is-zero"])
def test_binary_bad_remark_length_closes(peer: Session) -> None:
    """A remark length that cannot be closes the connection."""
    for length in (-1, 22, INT32_MAX, INT32_MIN):
        closes(peer, binary_frame(binary_header(peer.query, remark_length=length)))


@case("wire.framing.binary-ext-length-beyond-header-closes", kills=["binary-bad-ext-length-is-zero"])
def test_binary_ext_length_beyond_header_closes(peer: Session) -> None:
    """Ext fields that are said to be longer than the header close the connection."""
    closes(peer, *(binary_frame(binary_header(peer.query, ext_length=length)) for length in (22, INT32_MAX)))


@case("wire.framing.binary-bad-key-length-closes", kills=["binary-bad-entries-skipped"])
def test_binary_bad_key_length_closes(peer: Session) -> None:
    """A key length that cannot be closes the connection."""
    for length in (0x8003, 255):
        closes(peer, binary_frame(binary_header(peer.query, entry("key", "k", key_length=length))))


@case("wire.framing.binary-bad-value-length-closes", kills=["binary-bad-entries-skipped"])
def test_binary_bad_value_length_closes(peer: Session) -> None:
    """A value length that cannot be closes the connection."""
    for length in (-1, 100):
        closes(peer, binary_frame(binary_header(peer.query, entry("key", "k", value_length=length))))


@case("wire.framing.binary-header-too-short-closes", kills=["binary-header-padded"])
def test_binary_header_too_short_closes(peer: Session) -> None:
    """A binary header without all of its fixed part closes the connection."""
    for header in (binary_header(peer.query)[:20], b"\0"):
        closes(peer, binary_frame(header), binary_frame(header, bytes(8)))


@case("wire.framing.binary-negative-ext-length-is-no-map", kills=["binary-negative-ext-length-closes"])
def test_binary_negative_ext_length_is_no_map(peer: Session) -> None:
    """A negative length of the ext fields means that there are none."""
    serves(peer, binary_frame(binary_header(peer.query, ext_length=-5), b"BODY"))


@case("wire.framing.binary-spare-header-bytes-begin-the-body", kills=["binary-spare-bytes-dropped"])
def test_binary_spare_header_bytes_begin_the_body(ns: NameServerSession) -> None:
    """Bytes behind the last field of a binary header are the first ones of the body."""
    broker = ns.broker(topics=("A", "B"))
    body = broker.body().encode()
    entries = [
        entry("brokerName", broker.name),
        entry("brokerAddr", broker.address),
        entry("clusterName", broker.cluster),
        entry("haServerAddr", broker.ha),
        entry("brokerId", "0"),
    ]
    header = binary_header(RequestCode.REGISTER_BROKER, *entries, version=409) + body[:10]
    broker.connection.send_raw(binary_frame(header, body[10:] + b"#" * 10), opaque=OPAQUE) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})


@case("wire.framing.binary-repeated-key-last-wins", kills=["binary-first-key-wins"])
def test_binary_repeated_key_last_wins(ns: NameServerSession) -> None:
    """The last of several entries with one key counts."""
    namespace = ns.name("KV")
    entries = [entry("namespace", namespace), entry("key", "k"), entry("value", "one"), entry("value", "two")]
    serves(ns, binary_frame(binary_header(RequestCode.PUT_KV_CONFIG, *entries)))
    ns.get_kv(namespace, "k").value >> Reply(SUCCESS, "two")


# --- what JSON headers may look like --------------------------------------------------------------------


@case("wire.framing.optional-members-may-be-absent", kills=["flag-required", "version-required"])
def test_optional_members_may_be_absent(peer: Session) -> None:
    """A header needs no more than a code and an opaque."""
    serves_headers(peer, query_header(code=peer.query), query_header('"flag":0', code=peer.query))


@case("wire.framing.null-members-are-absent", kills=["nulls-refused"])
def test_null_members_are_absent(peer: Session) -> None:
    """Optional members may be null."""
    names = ("extFields", "flag", "language", "remark", "version")
    serves_headers(peer, query_header(",".join(f'"{name}":null' for name in names), code=peer.query))


@case("wire.framing.missing-opaque-is-served", kills=["opaque-required"])
def test_missing_opaque_is_served(peer: Session) -> None:
    """A request without an opaque is answered."""
    peer.connect().send_raw(json_frame(f'{{"code":{peer.query:d}}}')) >> Reply(SUCCESS)


@case("wire.framing.unknown-members-are-ignored", kills=["unknown-members-refused"])
def test_unknown_members_are_ignored(peer: Session) -> None:
    """Members that nobody knows are skipped, with all that is in them."""
    serves_headers(
        peer, query_header('"extra":1,"more":{"a":[1,2,{"b":null}]},"most":["x"]', code=peer.query)
    )


@case("wire.framing.header-serialization-name-is-ignored", kills=["header-names-its-serialization"])
def test_header_serialization_name_is_ignored(peer: Session) -> None:
    """What a header says of its own serialization does not matter."""
    connection = peer.connect()
    for name in ("ROCKETMQ", "XML"):
        frame = json_frame(query_header(f'"serializeTypeCurrentRPC":"{name}"', code=peer.query))
        connection.send_raw(frame, opaque=OPAQUE) >> Reply(SUCCESS, serialization=Serialization.JSON)


@case("wire.framing.empty-remark-is-accepted", kills=["empty-remark-refused"])
def test_empty_remark_is_accepted(peer: Session) -> None:
    """A request may have an empty remark."""
    serves_headers(peer, query_header('"remark":""', code=peer.query))


@case("wire.framing.any-language-name-is-served", kills=["language-checked"])
def test_any_language_name_is_served(peer: Session) -> None:
    """The language of a client does not matter."""
    serves_headers(
        peer, *(query_header(f'"language":"{name}"', code=peer.query) for name in ("GO", "go", "KLINGON", ""))
    )


@case("wire.framing.language-ordinal-is-served", kills=["language-number-refused"])
def test_language_ordinal_is_served(peer: Session) -> None:
    """A language may be given as its number."""
    serves_headers(peer, *(query_header(f'"language":{number}', code=peer.query) for number in (0, 3, 9)))


@case("wire.framing.any-version-is-served", kills=["version-checked"])
def test_any_version_is_served(peer: Session) -> None:
    """The version of a client does not matter to a query."""
    for version in (-1, 0, 1, 32767, INT32_MAX):
        peer.call(peer.query, version=version) >> Reply(SUCCESS)


@case("wire.framing.scalar-ext-values-are-texts", kills=["ext-numbers-refused", "ext-booleans-capitalised"])
def test_scalar_ext_values_are_texts(ns: NameServerSession) -> None:
    """Numbers and booleans among the ext fields are their texts."""
    keeps(ns, {text: text for text in ("5", "-5", "1.5", "true", "false")})


@case("wire.framing.structured-ext-values-are-texts", kills=["structured-ext-values-refused"])
def test_structured_ext_values_are_texts(ns: NameServerSession) -> None:
    """Objects and arrays among the ext fields are their JSON texts."""
    keeps(ns, {text: text for text in ('{"a":1}', "[1,2]")})


@case("wire.framing.null-ext-value-is-absent", kills=["null-ext-value-is-text"])
def test_null_ext_value_is_absent(ns: NameServerSession) -> None:
    """An ext field that is null is not there."""
    ext = f'"extFields":{{"namespace":null,"key":"{ns.name("k")}","value":"v"}}'
    frame = json_frame(query_header(ext, code=RequestCode.PUT_KV_CONFIG))
    ns.connect().send_raw(frame, opaque=OPAQUE) >> Reply(SYSTEM_ERROR)


@case("wire.framing.unknown-ext-fields-are-ignored", kills=["unknown-ext-fields-refused"])
def test_unknown_ext_fields_are_ignored(peer: Session) -> None:
    """Ext fields that nobody asked for do not matter."""
    ext = {"AccessKey": "a", "Signature": "b", "OnsChannel": "", "invented": "c"}
    peer.call(peer.query, ext) >> Reply(SUCCESS)


@case("wire.framing.white-space-in-header-is-skipped", kills=["compact-headers-only"])
def test_white_space_in_header_is_skipped(peer: Session) -> None:
    """A header may be laid out, and may end with a line end."""
    spread = (
        query_header('"flag":0', code=peer.query)
        .replace(",", " ,\r\n\t")
        .replace(":", " : ")
        .replace("{", " {\n ")
    )
    serves_headers(peer, spread, query_header(code=peer.query) + "\n")


@case("wire.framing.numeric-strings-are-numbers", kills=["numeric-strings-refused"])
def test_numeric_strings_are_numbers(peer: Session) -> None:
    """A number may be sent as a string."""
    serves_headers(peer, f'{{"code":"{peer.query:d}","opaque":"{OPAQUE}","flag":"0","version":"317"}}')


@case("wire.framing.repeated-members-do-not-close", kills=["repeated-members-refused"])
def test_repeated_members_do_not_close(peer: Session) -> None:
    """A header in which a member is there twice is served."""
    serves_headers(
        peer,
        query_header('"flag":0,"flag":0', code=peer.query),
        query_header('"remark":"a","remark":"a"', code=peer.query),
    )


@case("wire.framing.loose-names-are-accepted", kills=["strict-json"])
def test_loose_names_are_accepted(peer: Session) -> None:
    """Names may be without quotes, or in single ones."""
    serves_headers(
        peer, query_header(code=peer.query).replace('"', ""), query_header(code=peer.query).replace('"', "'")
    )


@case("wire.framing.loose-punctuation-is-accepted", kills=["strict-json"])
def test_loose_punctuation_is_accepted(peer: Session) -> None:
    """A comment and a comma too many do no harm."""
    serves_headers(
        peer,
        query_header(code=peer.query).replace("{", "{/* why */"),
        query_header(code=peer.query).replace("}", ",}"),
    )


@case("wire.framing.names-in-any-case-are-accepted", kills=["names-case-sensitive"])
def test_names_in_any_case_are_accepted(peer: Session) -> None:
    """Names may be in any case."""
    serves_headers(peer, query_header(code=peer.query).replace("code", "CODE").replace("opaque", "Opaque"))


# --- idle connections -----------------------------------------------------------------------------------


@case("wire.framing.idle-connection-is-closed", kills=["idle-closed-early", "idle-closed-late"], clock=True)
def test_idle_connection_is_closed(peer: TermSession) -> None:
    """A connection without requests is closed after 120 seconds, and not before."""
    began = peer.mark()
    asking, silent = warmed(peer), warmed(peer)
    peer.advance_short_of(IDLE - 1, began, idle=(asking, silent))
    asking.call(peer.query) >> Reply(SUCCESS)
    peer.advance_past(IDLE, began, idle=(silent,))
    silent.call(peer.query) >> Closed()


@case("wire.framing.silent-connection-is-closed", kills=["idle-never-closed", "idle-closed-late"], clock=True)
def test_silent_connection_is_closed(peer: TermSession) -> None:
    """A connection on which nothing was ever sent is closed."""
    connection = peer.connect()
    peer.advance_past(IDLE, idle=(connection,))
    connection.call(peer.query) >> Closed()


@case("wire.framing.oneway-traffic-keeps-a-connection", kills=["idle-unless-answered"], clock=True)
def test_oneway_traffic_keeps_a_connection(peer: TermSession) -> None:
    """A connection with one-way requests is not idle."""
    connection = warmed(peer)
    for _ in range(3):
        connection.write(json_frame(query_header(f'"flag":{FLAG_ONEWAY}', code=peer.query)))
        peer.advance(45, idle=(connection,))
    connection.call(peer.query) >> Reply(SUCCESS)


@case("wire.framing.stray-responses-keep-a-connection", kills=["idle-unless-answered"], clock=True)
def test_stray_responses_keep_a_connection(peer: TermSession) -> None:
    """A connection with responses that nobody waits for is not idle."""
    connection = warmed(peer)
    for _ in range(3):
        connection.write(json_frame(query_header(f'"flag":{FLAG_RESPONSE}', code=peer.query)))
        peer.advance(45, idle=(connection,))
    connection.call(peer.query) >> Reply(SUCCESS)


@case("wire.framing.partial-frame-does-not-keep-a-connection", kills=["idle-counts-bytes"], clock=True)
def test_partial_frame_does_not_keep_a_connection(peer: TermSession) -> None:
    """Bytes of a frame that does not end do not keep its connection open."""
    connection = warmed(peer)
    began = peer.mark()
    frame = json_frame(query_header(code=peer.query))
    for at in range(5):
        connection.write(frame[at : at + 1])
        peer.advance(20, idle=(connection,))
    peer.advance_past(IDLE, began, idle=(connection,))
    connection.send_raw(frame[5:]) >> Closed()
