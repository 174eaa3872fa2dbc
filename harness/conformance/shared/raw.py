"""Raw frames that a peer must serve, or answer with a close.

A frame that closes a connection is sent after a request was answered, because a close would take an
outstanding answer with it.
"""

from __future__ import annotations

from typing import Any

from harness.conformance.expect import Closed, Reply
from harness.conformance.shared.frames import OPAQUE, binary_frame, binary_header, json_frame, query_header
from harness.session import Connection, NameServerSession, Query, Session
from harness.wire import RequestCode, ResponseCode, Serialization

SUCCESS = ResponseCode.SUCCESS

_TYPE_BYTE = 4
"""Where a frame says how its header is written."""


def answered(peer: Session | type[Session], **judged: Any) -> Reply:
    """The answer to the peer's query; `judged` is what else of it is judged, as of any `Reply`."""
    return Reply(peer.query_answer, **judged)


def ordinary_frame(peer: Session, serialization: Serialization = Serialization.JSON) -> bytes:
    """The peer's query in a frame with nothing special in it."""
    if serialization is Serialization.JSON:
        return json_frame(query_header(peer.query))
    return binary_frame(binary_header(peer.query))


def warmed(peer: Session, serialization: Serialization = Serialization.JSON) -> Connection:
    """A new connection on which an ordinary frame was answered.

    The control of cases that expect a close: this server answers raw frames and leaves connections open.
    """
    connection = peer.connect()
    connection.send_raw(ordinary_frame(peer, serialization), opaque=OPAQUE) >> answered(peer)
    return connection


def serves(peer: Session, *frames: bytes) -> None:
    """Each frame of the peer's query, sent on one connection, is answered."""
    connection = peer.connect()
    for frame in frames:
        connection.send_raw(frame, opaque=OPAQUE) >> answered(peer)


def serves_headers(peer: Session, *headers: str) -> None:
    """Each JSON header of the peer's query, sent on one connection, is answered."""
    serves(peer, *(json_frame(header) for header in headers))


def serves_single_quotes(peer: Session) -> None:
    """Headers in single quotes are answered: an ordinary one, with extFields null, and without opaque."""
    ordinary = (query_header(peer.query), query_header(peer.bare_query, extFields="null"))
    unnumbered = query_header(peer.query, opaque=None)
    first, empty, without_opaque = (
        json_frame(header.replace('"', "'")) for header in (*ordinary, unnumbered)
    )
    peer.connect().send_raw(first, opaque=OPAQUE) >> answered(peer)
    peer.connect().send_raw(empty, opaque=OPAQUE) >> Reply(SUCCESS)
    peer.connect().send_raw(without_opaque) >> answered(peer)


def closes(peer: Session, *frames: bytes) -> None:
    """Each frame closes the connection on which it is sent, behind an ordinary one of its type byte."""
    for frame in frames:
        binary = frame[_TYPE_BYTE : _TYPE_BYTE + 1] == bytes([Serialization.ROCKETMQ])
        warmed(peer, Serialization.ROCKETMQ if binary else Serialization.JSON).send_raw(frame) >> Closed()


def closes_headers(peer: Session, *headers: str) -> None:
    """Each JSON header closes the connection on which it is sent."""
    closes(peer, *(json_frame(header) for header in headers))


NUMBERS = ("code", "opaque", "flag", "version")
"""The members of a header that are numbers."""


def headers_with_number(query: Query, value: str) -> list[str]:
    """For each member that is a number, a header of the request with this value in its place."""
    return [query_header(query, **{name: value}) for name in NUMBERS]


def put(namespace: str, key: str, json_value: str, more: str = "") -> bytes:
    """A PUT_KV_CONFIG whose value is written into the header as it is; `more` is text behind all members."""
    ext = f'{{"namespace":"{namespace}","key":"{key}","value":{json_value}}}'
    return json_frame(query_header(RequestCode.PUT_KV_CONFIG, more, extFields=ext))


def reads_ext(ns: NameServerSession, *written: str) -> None:
    """The ext fields of a PUT_KV_CONFIG are read, however they are written: each text has NAMESPACE, KEY and
    VALUE in it. An answer that a server gives without ext fields, too, would not show that.
    """
    namespace = ns.name("KV")
    connection = ns.connect()
    for number, text in enumerate(written):
        ext = text.replace("NAMESPACE", namespace).replace("KEY", f"k{number}").replace("VALUE", f"v{number}")
        frame = json_frame(query_header(RequestCode.PUT_KV_CONFIG, extFields=ext))
        connection.send_raw(frame, opaque=OPAQUE) >> Reply(SUCCESS)
        ns.get_kv(namespace, f"k{number}").value >> Reply(SUCCESS, f"v{number}")


def keeps(ns: NameServerSession, values: dict[str, str]) -> None:
    """Each value, given as the JSON that is sent, comes back as the text it is mapped to.

    It is sent in a plain header, and in one with an unknown member, which a server may read in another way.
    """
    namespace = ns.name("KV")
    connection = ns.connect()
    for number, (sent, text) in enumerate(values.items()):
        for key, more in ((f"k{number}", ""), (f"m{number}", '"extra":1')):
            connection.send_raw(put(namespace, key, sent, more), opaque=OPAQUE) >> Reply(SUCCESS)
            ns.get_kv(namespace, key).value >> Reply(SUCCESS, text)
