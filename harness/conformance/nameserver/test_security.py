"""Chapter security: hostile input, and the service that the server must still give afterwards.

* Each case has a witness: a pair that it stores before, and must read unchanged afterwards.
* No input exceeds what a sound server can handle beside its work: all cases run on the shared server.
* The server is mostly free in how it refuses: an error and a close do equally well.
"""

import itertools
import zlib
from collections.abc import Iterator

from harness.conformance import AnyOf, Closed, Reply, Silence, case
from harness.conformance.shared.frames import QUERY, json_frame, query_header
from harness.conformance.shared.raw import answered, warmed
from harness.session import Broker, NameServerSession
from harness.session.exchange import Exchange
from harness.wire import FRAME_LIMIT, ResponseCode
from harness.wire.bodies import DataVersion

SUCCESS, SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR
TOPIC_NOT_EXIST, NOT_FOUND = ResponseCode.TOPIC_NOT_EXIST, ResponseCode.QUERY_NOT_FOUND
NOT_SUPPORTED = ResponseCode.REQUEST_CODE_NOT_SUPPORTED

MIB = 1 << 20
BOMB = 512
"""MiB that half a MiB inflates to."""
DEEP = 200_000
"""Levels of nesting: more than any stack holds."""
WORDS = (2**31 - 1, 2**30, -1, -(2**31))
"""Length words that the inflated body does not fulfil."""
COLLIDING = ["".join(pair) for pair in itertools.product(("Aa", "BB"), repeat=13)]
"""8192 names that have one hash code in Java."""
PATHS = (
    "../../../../../../etc/passwd",
    "/etc/passwd",
    "..\\..\\kvConfig.json",
    "%2e%2e%2fpasswd",
    "file:///etc/passwd",
)
FOREIGN = (10, 11, 14, 17, 25, 26, 34, 36, 43, 54, 310, 351, 1001, 1009)
"""Codes of brokers and controllers: messages, topics, configuration, users, elections (`RequestCode`)."""
HALF_FRAMES = 64
"""Connections that announce 1 GiB among them."""
BROKEN = AnyOf(Reply(SYSTEM_ERROR), deviates=[Reply(SUCCESS), Closed()])
"""The outcome of a malformed request. A server that skips unused parts may serve it."""
GADGET = (
    b'{"@type":"com.sun.rowset.JdbcRowSetImpl","dataSourceName":"ldap://127.0.0.1:1/x","autoCommit":true}'
)
"""A class that old JSON libraries load on demand, and that connects to the address in the JSON."""


def witness(ns: NameServerSession) -> str:
    """Stores a pair that must be there afterwards, and returns its namespace."""
    namespace = ns.name("witness")
    ns.put_kv(namespace, "key", "value") >> Reply(SUCCESS)
    return namespace


def stranger(ns: NameServerSession) -> Broker:
    """A broker that has not registered, with topics of its own."""
    return ns.broker(topics=("C", "D"))


def unharmed(ns: NameServerSession, namespace: str) -> None:
    """The server serves as before, over an existing connection and over a new one."""
    for connection in (ns.connection, ns.connect()):
        ns.get_kv(namespace, "key", on=connection).value >> Reply(SUCCESS, "value")


def is_unknown(ns: NameServerSession, broker: Broker) -> None:
    """The broker is listed nowhere."""
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)
    ns.route(broker.topic("C")) >> Reply(TOPIC_NOT_EXIST)


def word(number: int) -> bytes:
    """A length word."""
    return number.to_bytes(4, "big", signed=True)


def compressed(broker: Broker, body: bytes) -> Exchange:
    """A registration whose body is this zlib stream, as a 4.9 broker announces it."""
    return broker.register(body=body, ext={"compressed": True}, announces=409)


def bomb(mebibytes: int) -> bytes:
    """A zlib stream of a length word and as many zero bytes as that says, made without inflating it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    begin = word(mebibytes * MIB)
    first = packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
    zeros = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    low, high = zlib.adler32(begin) & 0xFFFF, zlib.adler32(begin) >> 16
    high = (high + mebibytes * MIB * low) % 65521
    return b"\x78\xda" + first + zeros * mebibytes + b"\x03\x00" + (high << 16 | low).to_bytes(4, "big")


def nested(levels: int) -> Iterator[str]:
    """JSON values of this many levels: arrays, and objects."""
    yield "[" * levels + "]" * levels
    yield '{"a":' * levels + "1" + "}" * levels


# --- bodies -------------------------------------------------------------------------------------------------


@case(kills=["inflating-body-stops-the-server"])
def test_inflating_body_is_survived(ns: NameServerSession) -> None:
    before, hostile = witness(ns), stranger(ns)
    compressed(hostile, bomb(BOMB)) >> AnyOf(Reply(SYSTEM_ERROR), Closed())
    is_unknown(ns, hostile)
    unharmed(ns, before)


@case(kills=["length-words-stop-the-server"])
def test_length_words_are_not_trusted(ns: NameServerSession) -> None:
    before, hostile = witness(ns), stranger(ns)
    version = DataVersion(1, 1_700_000_000_000).encode()
    head = word(len(version)) + version
    for number in WORDS:
        for layout in (word(number) + version, head + word(1) + word(number), head + word(0) + word(number)):
            compressed(hostile, zlib.compress(layout)) >> Reply(SYSTEM_ERROR)
    is_unknown(ns, hostile)
    unharmed(ns, before)


@case(kills=["deep-body-stops-the-server"])
def test_deep_body_is_survived(ns: NameServerSession) -> None:
    before = witness(ns)
    for value in nested(DEEP):
        body = f'{{"x":{value}}}'.encode()
        stranger(ns).query_version(body=body) >> BROKEN
        stranger(ns).register(body=body) >> BROKEN
    unharmed(ns, before)


@case(kills=["class-names-stop-the-server"])
def test_class_names_are_only_text(ns: NameServerSession) -> None:
    before, hostile = witness(ns), stranger(ns)
    body = hostile.body().encode()
    for sent in (GADGET[:-1] + b"," + body[1:], b'{"x":' + GADGET + b"," + body[1:]):
        hostile.register(body=sent) >> Reply((SUCCESS, SYSTEM_ERROR))
        hostile.query_version(body=sent) >> Reply((SUCCESS, SYSTEM_ERROR))
    unharmed(ns, before)


# --- headers and frames -------------------------------------------------------------------------------------


@case("wire.security.deep-header-is-survived", kills=["deep-header-stops-the-server"])
def test_deep_header_is_survived(ns: NameServerSession) -> None:
    before = witness(ns)
    for value in nested(DEEP):
        ext = f'{{"topic":"{QUERY.ext["topic"]}","x":{value}}}'
        for header in (query_header(x=value), query_header(extFields=ext)):
            warmed(ns).send_raw(json_frame(header)) >> AnyOf(Closed(), answered(ns))
    unharmed(ns, before)


@case("wire.security.many-ext-fields-are-survived", kills=["colliding-names-stop-the-server"])
def test_many_ext_fields_are_survived(ns: NameServerSession) -> None:
    before = witness(ns)
    code, ext = QUERY
    sent = ext | dict.fromkeys(COLLIDING, "x")
    ns.connect().call(code, sent) >> AnyOf(answered(ns), deviates=[Reply(SYSTEM_ERROR), Closed()])
    unharmed(ns, before)


@case("wire.security.announced-bytes-are-not-set-aside", kills=["announced-bytes-are-set-aside"])
def test_announced_bytes_are_not_set_aside(ns: NameServerSession) -> None:
    before = witness(ns)
    for _ in range(HALF_FRAMES):
        ns.connect().write(word(FRAME_LIMIT - 4) + word(len(query_header())) + query_header().encode())
    unharmed(ns, before)


# --- names --------------------------------------------------------------------------------------------------


@case(kills=["path-like-keys-are-read-as-files"])
def test_names_are_not_paths(ns: NameServerSession) -> None:
    before = witness(ns)
    for path in PATHS:
        ns.route(path) >> Reply(TOPIC_NOT_EXIST)
        ns.list_kv(path) >> Reply(NOT_FOUND)
        ns.get_kv(ns.name("space"), path).value >> Reply(NOT_FOUND)
        namespace = path + ns.name("space")
        ns.put_kv(namespace, path, path) >> Reply(SUCCESS)
        ns.get_kv(namespace, path).value >> Reply(SUCCESS, path)
    unharmed(ns, before)


@case(kills=["path-like-topics-lose-their-dots"])
def test_path_like_topics_are_only_names(ns: NameServerSession) -> None:
    before = witness(ns)
    for path in PATHS:
        hostile, topic, other = stranger(ns), path + ns.name("t"), ns.name("t")
        hostile.register(body=hostile.body_of(topic, other).encode()) >> Reply((SUCCESS, SYSTEM_ERROR))
        served = Reply(SUCCESS, {hostile.name: {0: hostile.address}})
        ns.route(topic).addresses >> AnyOf(served, deviates=[Reply(TOPIC_NOT_EXIST)])
    unharmed(ns, before)


@case(kills=["long-names-stop-the-server"])
def test_long_names_are_survived(ns: NameServerSession) -> None:
    before = witness(ns)
    long = "t" * MIB
    unknown = (ns.route, TOPIC_NOT_EXIST), (ns.list_kv, NOT_FOUND)
    for ask, code in unknown:
        ask(long, on=ns.connect()) >> AnyOf(Reply(code), deviates=[Reply(SYSTEM_ERROR), Closed()])
    unharmed(ns, before)


# --- requests that are meant for others ---------------------------------------------------------------------


@case(kills=["code-17-creates-topics", "code-25-is-served"])
def test_codes_of_others_are_not_served(ns: NameServerSession) -> None:
    refused = Reply(NOT_SUPPORTED)
    unserved = refused if ns.profile.has("refused-codes") else AnyOf(refused, Silence())
    before, topic = witness(ns), ns.topic("new")
    asked = {
        "topic": topic,
        "defaultTopic": "TBW102",
        "perm": "6",
        "readQueueNums": "8",
        "writeQueueNums": "8",
    }
    for code in FOREIGN:
        ns.call(code, asked, b"brokerName=x\n", on=ns.connection) >> unserved
    ns.route(topic) >> Reply(TOPIC_NOT_EXIST)
    ns.topics().among([topic]) >> Reply(SUCCESS, [])
    unharmed(ns, before)
