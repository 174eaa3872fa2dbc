"""Half messages, how they end, and what a question about one says."""

from harness.conformance import (
    Reply,
)
from harness.conformance.broker.whole import (
    pushed,
)
from harness.session import Answer, BrokerSession, Connection
from harness.session.exchange import View
from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.messages import decode_offset_id

SUCCESS = ResponseCode.SUCCESS
CHECK = RequestCode.CHECK_TRANSACTION_STATE
COMMIT, ROLL_BACK, UNKNOWN = 8, 12, 0
TIME_OUT = 5
QUICK = {
    "transactionTimeOut": f"{TIME_OUT}000",
    "transactionCheckInterval": "10000",
    "transactionCheckMax": "2",
}
"""A Broker checks half messages every 10 s, once they are `TIME_OUT` seconds old."""
LATER = {"transactionTimeOut": "20000", "transactionCheckInterval": "10000"}


def _message(command: Command) -> tuple[str, int, bytes]:
    message = pushed(command)
    return message["topic"], message["queue_id"], message["body"]


MESSAGE = View("message", _message, said="message (topic, queueId, body)")


def half(
    bk: BrokerSession,
    topic: str,
    group: str,
    body: bytes = b"half",
    born: int | None = None,
    **properties: str,
) -> Answer:
    """Sends a half message to queue 1."""
    given = {"TRAN_MSG": "true", "PGROUP": group, "UNIQ_KEY": bk.name("key"), **properties}
    born = bk.broker_time() if born is None else born
    sent = bk.send(topic, body, 1, properties=given, group=group, sys_flag=4, born=born)
    return sent.ids >> Reply(SUCCESS)


def place(sent: Answer) -> tuple[int, int]:
    """The offsets of the half message in its queue and in the log."""
    ext = (sent.command and sent.command.ext) or {}
    return int(ext["queueOffset"] or 0), decode_offset_id(sent.value[0])[1]


def producer(bk: BrokerSession, group: str) -> Connection:
    """A producer of the group that waits for questions."""
    client, connection = bk.client()
    bk.heartbeat(client, producers=[group], on=connection) >> Reply(SUCCESS)
    return connection


def refused(bk: BrokerSession, remark: str, group: str | None = None, queue: int = 0, log: int = 0) -> None:
    """An end with something wrong about it is refused, and commits nothing."""
    topic, own = bk.topic(), bk.group()
    offset, at = place(half(bk, topic, own))
    end = bk.end_transaction(group or own, offset + queue, at + log, COMMIT)
    end >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
    bk.max_offset(topic, 1).offset >> Reply(SUCCESS, 0)
