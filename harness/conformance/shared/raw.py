"""Raw frames that a peer must serve, or answer with a close.

A frame that closes a connection is sent after a request was answered, because a close would take an
outstanding answer with it.
"""

from __future__ import annotations

from harness.conformance.expect import Closed, Reply
from harness.conformance.shared.frames import OPAQUE, json_frame, query_header
from harness.session import Connection, NameServerSession, Session
from harness.wire import RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS


def warmed(peer: Session) -> Connection:
    """A new connection on which a request was answered."""
    connection = peer.connect()
    connection.call(peer.query) >> Reply(SUCCESS)
    return connection


def serves(peer: Session, *frames: bytes) -> None:
    """Each frame, sent on one connection, is answered with code 0."""
    connection = peer.connect()
    for frame in frames:
        connection.send_raw(frame, opaque=OPAQUE) >> Reply(SUCCESS)


def serves_headers(peer: Session, *headers: str) -> None:
    """Each JSON header, sent on one connection, is answered with code 0."""
    serves(peer, *(json_frame(header) for header in headers))


def closes(peer: Session, *frames: bytes) -> None:
    """Each frame closes the connection on which it is sent."""
    for frame in frames:
        warmed(peer).send_raw(frame) >> Closed()


def closes_headers(peer: Session, *headers: str) -> None:
    """Each JSON header closes the connection on which it is sent."""
    closes(peer, *(json_frame(header) for header in headers))


def headers_with_number(code: int, value: str) -> list[str]:
    """For each member that is a number, a header of a request of that code with this value in its place."""
    query = {"code": f"{code:d}", "opaque": f"{OPAQUE}", "flag": "0", "version": "0"}
    changed = [{**query, name: value} for name in query]
    return ["{" + ",".join(f'"{name}":{text}' for name, text in members.items()) + "}" for members in changed]


def put(namespace: str, key: str, json_value: str) -> bytes:
    """A PUT_KV_CONFIG whose value is written into the header as it is."""
    members = f'"extFields":{{"namespace":"{namespace}","key":"{key}","value":{json_value}}}'
    return json_frame(query_header(members, code=RequestCode.PUT_KV_CONFIG))


def keeps(ns: NameServerSession, values: dict[str, str]) -> None:
    """Each value, given as the JSON that is sent, comes back as the text it is mapped to."""
    namespace = ns.name("KV")
    connection = ns.connect()
    for number, (sent, text) in enumerate(values.items()):
        connection.send_raw(put(namespace, f"k{number}", sent), opaque=OPAQUE) >> Reply(SUCCESS)
        ns.get_kv(namespace, f"k{number}").value >> Reply(SUCCESS, text)
