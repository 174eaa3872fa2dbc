"""Chapter connection: bytes before the first frame (PROXY protocol, TLS), and how a connection ends.

Bytes before the first frame are the connection's preamble, not a request. A case that stops a server has one
of its own; cases with the same TLS setting share a server.
"""

from __future__ import annotations

from harness.conformance import AnyOf, Closed, Reply, Silence, case
from harness.conformance.shared.certificates import (
    FIRST,
    FIRST_FINGERPRINT,
    FIRST_KEY,
    FIRST_KEY_WITH_PASSWORD,
    KEY_PASSWORD,
    SECOND,
    SECOND_FINGERPRINT,
    SECOND_KEY,
)
from harness.conformance.shared.frames import OPAQUE, QUERY, json_frame, query_header
from harness.conformance.shared.raw import answered
from harness.session import Connection, Mark, NameServerSession
from harness.wire import FLAG_ONEWAY, ResponseCode

SUCCESS, TOPIC_NOT_EXIST, GO_AWAY = ResponseCode.SUCCESS, ResponseCode.TOPIC_NOT_EXIST, ResponseCode.GO_AWAY

V5_3_1, V5_3_2 = 475, 477
"""Header versions: the last that is served by a stopping server, and one that is sent away."""

STOPPING = 5
"""Protocol seconds within which a server has begun to stop."""

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
"""The start of a PROXY header of version 2."""

LONGEST_LINE = 108
"""Bytes of the longest line of version 1 that is read, without its end (Netty's `V1_MAX_LENGTH`)."""

LINES = (
    b"PROXY TCP4 192.0.2.7 198.51.100.9 40000 9876\r\n",
    b"PROXY TCP4 192.0.2.7 198.51.100.9 1 65535\r\n",
    b"PROXY TCP6 2001:db8::7 2001:db8::9 40000 9876\r\n",
    b"PROXY UNKNOWN\r\n",
    b"PROXY UNKNOWN whatever this may be\r\n",
    b"PROXY UNKNOWN ".ljust(LONGEST_LINE, b"x") + b"\r\n",
)
"""Preambles of version 1."""


def header(command: int, family: int, content: bytes) -> bytes:
    """A PROXY header of version 2: `command` 0 is LOCAL, 1 PROXY; `family` is family and transport."""
    return SIGNATURE + bytes([0x20 | command, family]) + len(content).to_bytes(2, "big") + content


TLV = b"\xea\x00\x05vpc-1"
"""An extension of version 2, as clouds send it."""

PADDING = b"\x04\x01\x2c" + bytes(300)
"""An extension that means nothing, and makes a header longer than 255 bytes."""

SSL = b"\x20\x00\x12\x01\0\0\0\0\x21\x00\x07TLSv1.3\x25\0\0"
"""What a load balancer says of a client's TLS: an extension that holds others."""

HEADERS = (
    header(1, 0x11, bytes(12)),
    header(1, 0x11, bytes(12) + TLV),
    header(1, 0x11, bytes(12) + PADDING),
    header(1, 0x12, bytes(12)),
    header(1, 0x21, bytes(36)),
    header(1, 0x31, bytes(216)),
    header(1, 0x11, bytes(12) + TLV + SSL + PADDING),
    header(1, 0x12, bytes(12) + TLV),
    header(1, 0x21, bytes(36) + TLV + SSL),
    header(1, 0x31, bytes(216) + TLV),
    header(1, 0x00, b""),
    header(1, 0x00, TLV),
    header(0, 0x11, bytes(12) + TLV),
    header(0, 0x00, TLV),
    header(0, 0x00, b""),
    header(0, 0x43, b"x"),
)
"""Preambles of version 2: TCP over IPv4, the same with a short and a long extension, UDP, TCP over IPv6, a
UNIX socket; each with extensions; PROXY of no family; LOCAL with and without extensions, and with a family
and a transport that do not exist.
"""

MALFORMED = (
    b"PROXY\r\n" + bytes(8),
    b"PROXYX TCP4 192.0.2.7 198.51.100.9 40000 9876\r\n",
    b"PROXY TCP4 192.0.2.7\r\n",
    b"PROXY TCP4 192.0.2.7 198.51.100.9 40000 9876 1\r\n",
    b"PROXY TCP4 192.0.2.7 198.51.100.900 40000 9876\r\n",
    b"PROXY TCP4 192.0.2.7 198.51.100.9 0 9876\r\n",
    b"PROXY TCP4 192.0.2.7 198.51.100.9 x 9876\r\n",
    b"PROXY TCP4 192.0.2.700 198.51.100.9 40000 9876\r\n",
    b"PROXY SCTP 192.0.2.7 198.51.100.9 40000 9876\r\n",
    b"PROXY TCP4 192.0.2.7 198.51.100.9 40000 65536\r\n",
    b"PROXY UNKNOWN ".ljust(LONGEST_LINE + 1, b"x") + b"\r\n",
    b"PROXY UNKNOWN " + b"x" * 120,
    SIGNATURE + bytes([0x11, 0x11, 0, 12]) + bytes(12),
    SIGNATURE + bytes([0x2F, 0x11, 0, 12]) + bytes(12),
    header(2, 0x11, bytes(12)),
    header(1, 0x11, bytes(4)),
    header(1, 0x21, bytes(35)),
    header(1, 0x41, bytes(216)),
    header(1, 0x13, bytes(12)),
)

WAITS = 120
GRACEFUL = {"enableShutdownGracefully": "true", "shutdownWaitTimeSeconds": str(WAITS)}
ENDS_AFTER = 75
"""Seconds, where the end is waited for: no wait of a run is to last longer than that for a lease."""
FILES = {
    "tls.test.mode.enable": "false",
    "tls.server.certPath": "{dir}/certificate.pem",
    "tls.server.keyPath": "{dir}/key.pem",
}

QUERY_FRAME = json_frame(query_header())


# --- PROXY protocol -----------------------------------------------------------------------------------------


@case(kills=["proxy-line-refused", "proxy-line-for-ipv4-only"])
def test_proxy_line_is_passed(ns: NameServerSession) -> None:
    for line in LINES:
        ns.connect().send_raw(line + QUERY_FRAME, opaque=OPAQUE) >> answered(ns)


@case(
    kills=[
        "proxy-header-refused",
        "proxy-extensions-refused",
        "proxy-extensions-for-ipv4-only",
        "local-proxy-refused",
    ]
)
def test_proxy_header_is_passed(ns: NameServerSession) -> None:
    for preamble in HEADERS:
        ns.connect().send_raw(preamble + QUERY_FRAME, opaque=OPAQUE) >> answered(ns)


@case(kills=["proxy-preamble-must-come-at-once"])
def test_proxy_preamble_may_be_cut(ns: NameServerSession) -> None:
    for preamble in (LINES[0], HEADERS[1]):
        connection = ns.connect()
        for at in range(len(preamble) - 1):
            connection.write(preamble[at : at + 1])
            ns.pause(0.001)
        connection.send_raw(preamble[-1:] + QUERY_FRAME, opaque=OPAQUE) >> answered(ns)


@case(kills=["malformed-proxy-preamble-passed", "proxy-addresses-are-not-read"])
def test_malformed_proxy_preamble_closes(ns: NameServerSession) -> None:
    for preamble in MALFORMED:
        ns.connect().send_raw(preamble + QUERY_FRAME) >> Closed()


@case(kills=["proxy-line-anywhere", "proxy-header-anywhere"])
def test_proxy_preamble_comes_first(ns: NameServerSession) -> None:
    connection = ns.connect()
    connection.call(*QUERY) >> answered(ns)
    connection.send_raw(LINES[0] + QUERY_FRAME) >> Closed()
    ns.connect().send_raw(LINES[0] + LINES[0] + QUERY_FRAME) >> Closed()
    for preamble in (LINES[0], HEADERS[0]):
        second = ns.connect()
        second.write(preamble)
        ns.pause(0.01)
        second.send_raw(preamble + QUERY_FRAME) >> Closed()


@case(kills=["proxy-line-passed-in-4-9"])
def test_unknown_proxy_preamble_closes(ns: NameServerSession) -> None:
    for preamble in (LINES[0], HEADERS[0]):
        ns.connect().send_raw(preamble + QUERY_FRAME) >> Closed()


@case(kills=["short-first-frame-is-lost"])
def test_short_first_frame_is_answered_in_the_end(ns: NameServerSession) -> None:
    unknown = Reply(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
    connection = ns.connect()
    short = connection.send_raw(json_frame("{}") + QUERY_FRAME[:1])
    waited = short >> AnyOf(Silence(), deviates=[unknown])
    rest = connection.send_raw(QUERY_FRAME[1:], opaque=OPAQUE)
    if waited.command is None:
        connection.next_frame() >> unknown
    rest >> answered(ns)


# --- TLS ----------------------------------------------------------------------------------------------------


@case(kills=["no-tls", "tls-only"])
def test_tls_and_plain_share_a_port(ns: NameServerSession) -> None:
    secured, plain = ns.connect(tls=True), ns.connect()
    secured.call(*QUERY) >> answered(ns)
    plain.call(*QUERY) >> answered(ns)
    secured.call(*QUERY) >> answered(ns)


@case(kills=["tls-reads-one-record"])
def test_tls_carries_frames_of_any_size(ns: NameServerSession) -> None:
    namespace, value = ns.name("KV"), "x" * 100_000
    connection = ns.connect(tls=True)
    ns.put_kv(namespace, "k", value, on=connection) >> Reply(SUCCESS)
    ns.get_kv(namespace, "k", on=connection).value >> Reply(SUCCESS, value)
    first = connection.send_raw(QUERY_FRAME * 2, opaque=OPAQUE)
    second = connection.answer_to(OPAQUE)
    first >> answered(ns)
    second >> answered(ns)


@case(kills=["broken-tls-is-waited-for"])
def test_broken_tls_closes(ns: NameServerSession) -> None:
    ns.connect(preamble=b"\x16\x03\x01\x00\x10" + bytes(32)).closes() >> Closed()


@case(kills=["no-tls-behind-proxy"])
def test_tls_behind_proxy(ns: NameServerSession) -> None:
    for preamble in (LINES[0], HEADERS[0]):
        ns.connect(preamble=preamble, tls=True).call(*QUERY) >> answered(ns)


@case(kills=["tls-is-never-enforced"], setup={"tls.server.mode": "enforcing"})
def test_enforcing_closes_plain(ns: NameServerSession) -> None:
    ns.connect(preamble=QUERY_FRAME).closes() >> Closed()
    ns.connect(tls=True).call(*QUERY) >> answered(ns)


@case(kills=["tls-is-never-disabled"], setup={"tls.server.mode": "disabled"})
def test_disabled_closes_tls(ns: NameServerSession) -> None:
    ns.connect(tls=True).call(*QUERY) >> Closed()
    ns.connect().call(*QUERY) >> answered(ns)


@case(
    "wire.connection.no-certificate-no-tls",
    "wire.connection.certificate-comes-from-files",
    "wire.connection.certificate-is-read-again",
    kills=["without-certificate-nothing", "certificate-read-once"],
    setup=FILES,
    own_server=True,
)
def test_certificate_is_read_again(ns: NameServerSession) -> None:
    """The certificate comes from the files, is read again when both change, and is needed for TLS only."""
    ns.connect(tls=True).call(*QUERY) >> Closed()
    ns.connect().call(*QUERY) >> answered(ns)
    ns.file("certificate.pem", FIRST)
    ns.file("key.pem", FIRST_KEY)
    ns.restart()
    earlier = ns.connect(tls=True)
    earlier.call(*QUERY) >> answered(ns)
    ns.certificate() >> Reply(TOPIC_NOT_EXIST, FIRST_FINGERPRINT)
    ns.file("certificate.pem", SECOND)
    ns.file("key.pem", SECOND_KEY)
    ns.certificate().eventually() >> Reply(TOPIC_NOT_EXIST, SECOND_FINGERPRINT)
    earlier.call(*QUERY) >> answered(ns)


@case(
    kills=["key-with-a-password-is-not-read"],
    setup={**FILES, "tls.server.keyPassword": KEY_PASSWORD},
    own_server=True,
)
def test_key_may_have_a_password(ns: NameServerSession) -> None:
    ns.connect(tls=True).call(*QUERY) >> Closed()
    ns.file("certificate.pem", FIRST)
    ns.file("key.pem", FIRST_KEY_WITH_PASSWORD)
    ns.restart()
    ns.connect(tls=True).call(*QUERY) >> answered(ns)
    ns.certificate() >> Reply(TOPIC_NOT_EXIST, FIRST_FINGERPRINT)


# --- the end of a connection --------------------------------------------------------------------------------


@case(kills=["half-close-is-ignored"])
def test_half_close_is_answered_by_a_close(ns: NameServerSession) -> None:
    connection = ns.connect()
    connection.call(*QUERY) >> answered(ns)
    connection.half_close()
    connection.closes() >> Closed()


@case(
    kills=["idle-time-is-fixed", "idle-setting-is-halved"],
    setup={"serverChannelMaxIdleTimeSeconds": "60"},
    clock=True,
)
def test_idle_time_is_a_setting(ns: NameServerSession) -> None:
    waits, idles = ns.connect(), ns.connect()
    since = waits.call(*QUERY) >> answered(ns)
    idles.call(*QUERY) >> answered(ns)
    ns.advance_short_of(59, since, idle=(waits, idles))
    waits.call(*QUERY) >> answered(ns)
    idles.write(QUERY_FRAME[:1])
    ns.advance_past(60, since, idle=(waits, idles))
    idles.closes() >> Closed()


@case(
    kills=["idle-limit-of-0-is-at-once"],
    setup={"serverChannelMaxIdleTimeSeconds": "0"},
    ends_leases=True,
)
def test_idle_time_of_0_is_no_limit(ns: NameServerSession) -> None:
    idles = ns.connect()
    since = idles.call(*QUERY) >> answered(ns)
    ns.advance_past(ns.lease, since, idle=(idles,))
    idles.call(*QUERY) >> answered(ns)


@case(kills=["stop-is-ignored"], own_server=True)
def test_stop_closes(ns: NameServerSession) -> None:
    connection = ns.connect()
    connection.call(*QUERY) >> answered(ns)
    ns.shutdown()
    ns.advance(STOPPING, idle=[connection])
    connection.closes() >> Closed()


def begins_to_stop(ns: NameServerSession, open_connection: Connection, waits: int = WAITS) -> Mark:
    """Asks the server to stop, and waits until it sends newer peers away. Returns the moment of asking."""
    open_connection.call(*QUERY) >> answered(ns)
    ns.shutdown()
    asked = ns.mark()
    ns.advance(STOPPING)
    ns.while_lasts(waits, asked)
    open_connection.call(*QUERY, version=V5_3_2).eventually() >> Reply(GO_AWAY)
    return asked


@case(
    kills=["stopping-server-serves-everybody", "who-is-sent-away-is-not-told", "stop-is-never-graceful"],
    setup=GRACEFUL,
    own_server=True,
    clock=True,
)
def test_stopping_server_sends_newer_peers_away(ns: NameServerSession) -> None:
    connection = ns.connect()
    begins_to_stop(ns, connection)
    connection.call(*QUERY, version=V5_3_2) >> Reply(GO_AWAY, remark="please go away", body=b"")


@case(kills=["stopping-server-sends-everybody-away"], setup=GRACEFUL, own_server=True, clock=True)
def test_stopping_server_serves_older_peers(ns: NameServerSession) -> None:
    connection = ns.connect()
    broker = ns.broker(on=connection)
    begins_to_stop(ns, connection)
    broker.register(announces=V5_3_1) >> Reply(SUCCESS)
    ns.route(broker.topic("A"), version=V5_3_1, on=connection) >> Reply(SUCCESS)
    ns.route(broker.topic("A"), version=V5_3_1, on=ns.connect()) >> Reply(SUCCESS)


@case(
    kills=["who-is-sent-away-is-served", "go-away-to-oneway-requests"],
    setup=GRACEFUL,
    own_server=True,
    clock=True,
)
def test_refused_request_changes_nothing(ns: NameServerSession) -> None:
    connection = ns.connect()
    broker = ns.broker(on=connection)
    begins_to_stop(ns, connection)
    broker.register(announces=V5_3_2) >> Reply(GO_AWAY)
    broker.register(announces=V5_3_2, flag=FLAG_ONEWAY) >> Silence()
    ns.route(broker.topic("A"), version=V5_3_1, on=connection) >> Reply(TOPIC_NOT_EXIST)


@case(
    kills=["stop-is-ignored"],
    setup={**GRACEFUL, "shutdownWaitTimeSeconds": str(ENDS_AFTER)},
    own_server=True,
    clock=True,
)
def test_stopping_server_closes_in_the_end(ns: NameServerSession) -> None:
    connection = ns.connect()
    asked = begins_to_stop(ns, connection, ENDS_AFTER)
    ns.advance_past(ENDS_AFTER, asked)
    connection.closes() >> Closed()
