"""Chapter framing: binary headers."""

from __future__ import annotations

from harness.conformance import AnyOf, Reply, Silence, case
from harness.conformance.shared.frames import (
    OPAQUE,
    QUERY,
    binary_frame,
    binary_header,
    entry,
)
from harness.conformance.shared.framing.limits import BEYOND_ASCII, INT32_MAX, INT32_MIN
from harness.conformance.shared.raw import (
    answered,
    closes,
    serves,
)
from harness.session import NameServerSession, Session
from harness.wire import (
    FLAG_ONEWAY,
    FLAG_RESPONSE,
    RequestCode,
    ResponseCode,
    Serialization,
)

SUCCESS, SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR
BEYOND = 200
"""A length that is longer than the whole header."""


@case(
    kills=[
        "binary-refused",
        "binary-ext-ignored",
        "binary-keys-say-where-they-end",
        "binary-last-keys-say-where-they-end",
        "binary-values-say-where-they-end",
    ]
)
def test_binary_request_is_served(ns: NameServerSession) -> None:
    namespace = ns.name("KV")
    ext = {"namespace": namespace, "key": "k", "value": BEYOND_ASCII}
    ns.call(RequestCode.PUT_KV_CONFIG, ext, serialization=Serialization.ROCKETMQ) >> Reply(SUCCESS)
    ns.get_kv(namespace, "k").value >> Reply(SUCCESS, BEYOND_ASCII)
    ns.get_kv(namespace, "k", serialization=Serialization.ROCKETMQ).value >> Reply(SUCCESS, BEYOND_ASCII)
    # As a number ~ is 126, and so many bytes there are from where the key begins to the end of the header.
    key, behind = "~" * 20, entry("namespace", namespace) + entry("value", "")
    value = "v" * (ord("~") - len(key) - len(behind))
    ext = {"key": key, "namespace": namespace, "value": value}
    ns.call(RequestCode.PUT_KV_CONFIG, ext, serialization=Serialization.ROCKETMQ) >> Reply(SUCCESS)
    ns.get_kv(namespace, key).value >> Reply(SUCCESS, value)
    # As a number n is 110, and so many bytes there are from "namespace" to the length of the second value.
    namespace = ns.name("KV").ljust(ord("n") - len("namespace") - len(entry("key", "")), "x")
    # As a number v is 118, and so many bytes there are from "value" to the end of a length within the value.
    length = "\0\0\0\1"
    value = "v" * (ord("v") - len("value") - len(length)) + length + "v"
    for text in ("v", value):
        ext = {"namespace": namespace, "key": "k", "value": text}
        ns.call(RequestCode.PUT_KV_CONFIG, ext, serialization=Serialization.ROCKETMQ) >> Reply(SUCCESS)
        ns.get_kv(namespace, "k").value >> Reply(SUCCESS, text)


@case(kills=["historical-3588-binary-answered-in-json"])
def test_binary_is_answered_in_binary(ns: NameServerSession) -> None:
    binary = Serialization.ROCKETMQ
    ns.call(*QUERY, serialization=binary) >> answered(ns, serialization=binary)


@case(kills=["binary-refused", "type-byte-of-the-request"])
def test_type_byte_of_a_response_is_true(peer: Session) -> None:
    peer.call(*peer.query, serialization=Serialization.ROCKETMQ) >> AnyOf(
        answered(peer, serialization=Serialization.JSON), answered(peer, serialization=Serialization.ROCKETMQ)
    )


@case(kills=["answers-in-binary"])
def test_json_is_answered_in_json(peer: Session) -> None:
    peer.call(*peer.query) >> answered(peer, serialization=Serialization.JSON)


@case(kills=["binary-zero-length-is-empty"])
def test_binary_zero_length_is_null(ns: NameServerSession) -> None:
    ext = {"namespace": "", "key": ns.name("k"), "value": "v"}
    ns.call(RequestCode.PUT_KV_CONFIG, ext, serialization=Serialization.ROCKETMQ) >> Reply(SYSTEM_ERROR)
    ns.call(RequestCode.PUT_KV_CONFIG, ext) >> Reply(SUCCESS)


@case(kills=["binary-language-checked"])
def test_binary_unknown_language_is_served(peer: Session) -> None:
    serves(peer, *(binary_frame(binary_header(peer.query, language=language)) for language in (1, 99, 255)))


@case(kills=["binary-opaques-have-no-sign", "binary-flags-are-not-read"])
def test_binary_numbers_are_signed(peer: Session) -> None:
    connection = peer.connect()
    for language in (0, 99):  # a server may read headers with an unknown language in another way
        for opaque in (INT32_MIN, -1, INT32_MAX):
            frame = binary_frame(binary_header(peer.query, language=language, version=-1, opaque=opaque))
            connection.send_raw(frame, opaque=opaque) >> answered(peer)
        for flag in (FLAG_ONEWAY, FLAG_RESPONSE, INT32_MIN | FLAG_ONEWAY):
            header = binary_header(peer.query, language=language, flag=flag)
            connection.send_raw(binary_frame(header)) >> Silence()
        header = binary_header(peer.query, language=language, flag=INT32_MIN)
        connection.send_raw(binary_frame(header), opaque=OPAQUE) >> answered(peer)


@case(kills=["binary-bad-remark-length-is-zero"])
def test_binary_bad_remark_length_closes(peer: Session) -> None:
    for length in (-1, BEYOND, INT32_MAX, INT32_MIN):
        closes(peer, binary_frame(binary_header(peer.query, remark_length=length)))


@case(kills=["binary-bad-ext-length-is-zero"])
def test_binary_ext_length_beyond_header_closes(peer: Session) -> None:
    closes(
        peer, *(binary_frame(binary_header(peer.query, ext_length=length)) for length in (BEYOND, INT32_MAX))
    )


@case(
    kills=[
        "binary-bad-entries-skipped",
        "binary-names-may-exceed-the-ext-length",
        "binary-key-lengths-have-no-sign",
    ]
)
def test_binary_bad_key_length_closes(peer: Session) -> None:
    serves(peer, binary_frame(binary_header(peer.query, entry("k" * 0x7FFF, "v"))))
    for length in (0x8000, 0xFFFF):
        closes(peer, binary_frame(binary_header(peer.query, entry("k" * length, "v"))))
    for length in (0x8003, 255):
        closes(peer, binary_frame(binary_header(peer.query, entry("key", "k", key_length=length))))
    closes(peer, binary_frame(binary_header(peer.bare_query, entry("k" * 30, "v"), ext_length=29)))


@case(kills=["binary-bad-entries-skipped"])
def test_binary_bad_value_length_closes(peer: Session) -> None:
    for length in (-1, 100):
        closes(peer, binary_frame(binary_header(peer.query, entry("key", "k", value_length=length))))


@case(kills=["binary-header-padded"])
def test_binary_header_too_short_closes(peer: Session) -> None:
    for header in (binary_header(peer.query)[:20], b"\0"):
        closes(peer, binary_frame(header), binary_frame(header, bytes(8)))


@case(kills=["binary-negative-ext-length-closes"])
def test_binary_negative_ext_length_is_no_map(peer: Session) -> None:
    frame = binary_frame(binary_header(peer.bare_query, ext_length=-5), b"BODY")
    peer.connect().send_raw(frame, opaque=OPAQUE) >> Reply(SUCCESS)


@case(kills=["binary-spare-bytes-dropped"])
def test_binary_spare_header_bytes_begin_the_body(ns: NameServerSession) -> None:
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


@case(kills=["binary-first-key-wins"])
def test_binary_repeated_key_last_wins(ns: NameServerSession) -> None:
    namespace = ns.name("KV")
    for key, two in (("k", "two"), ("l", BEYOND_ASCII)):
        stores(ns, namespace, key, entry("value", "one"), entry("value", two))
        ns.get_kv(namespace, key).value >> Reply(SUCCESS, two)


def stores(
    ns: NameServerSession, namespace: str, key: str, *entries: bytes, ext_length: int | None = None
) -> None:
    """PUT_KV_CONFIG with these entries behind namespace and key is answered with success."""
    named = (entry("namespace", namespace), entry("key", key))
    header = binary_header(RequestCode.PUT_KV_CONFIG, *named, *entries, ext_length=ext_length)
    ns.connect().send_raw(binary_frame(header), opaque=OPAQUE) >> Reply(SUCCESS)


@case(kills=["binary-empty-keys-refused"])
def test_binary_empty_key_is_ignored(ns: NameServerSession) -> None:
    namespace = ns.name("KV")
    stores(ns, namespace, "k", entry("", "nothing"), entry("value", "v"))
    ns.get_kv(namespace, "k").value >> Reply(SUCCESS, "v")


@case(kills=["binary-overrun-refused"])
def test_binary_last_entry_may_exceed_the_ext_length(ns: NameServerSession) -> None:
    namespace = ns.name("KV")
    size = len(entry("namespace", namespace) + entry("key", "k") + entry("value", "whole"))
    stores(ns, namespace, "k", entry("value", "whole"), ext_length=size - 3)
    ns.get_kv(namespace, "k").value >> Reply(SUCCESS, "whole")
    header = binary_header(RequestCode.GET_BROKER_CLUSTER_INFO, entry("k" * 30, "v"), ext_length=30)
    ns.connect().send_raw(binary_frame(header), opaque=OPAQUE) >> Reply(SUCCESS)


@case(kills=["binary-invalid-utf8-refused", "binary-invalid-utf8-dropped"])
def test_binary_invalid_utf8_is_replaced(ns: NameServerSession) -> None:
    namespace = ns.name("KV")
    stores(ns, namespace, "k", entry("value", "a?z").replace(b"?", b"\xff"))
    ns.get_kv(namespace, "k").value >> Reply(SUCCESS, "a\ufffdz")
