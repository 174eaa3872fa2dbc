"""What is in the log of the Broker, for the cases about replication."""

from __future__ import annotations

from harness.conformance import Reply
from harness.session import Answer, BrokerSession
from harness.wire import ResponseCode
from harness.wire.messages import decode_offset_id

SUCCESS = ResponseCode.SUCCESS
FILE = 65_536
"""Bytes of a file of the log, where cases fill one."""


def place(sent: Answer) -> int:
    """Where the first message of a send is in the log, from its answer."""
    ext = (sent.command.ext if sent.command else None) or {}
    return decode_offset_id((ext["msgId"] or "").split(",")[0])[1]


def put(bk: BrokerSession, topic: str, body: bytes) -> int:
    """Sends a message; where it is in the log."""
    return place(bk.send(topic, body).ids >> Reply(SUCCESS))


def stored(bk: BrokerSession, offset: int) -> bytes:
    """The bytes of the message at an offset of the log, as the Broker shows them."""
    return bytes((bk.view(offset) >> Reply(SUCCESS)).value)


def end(bk: BrokerSession, offset: int) -> int:
    """Where the message at an offset of the log ends."""
    return offset + len(stored(bk, offset))
