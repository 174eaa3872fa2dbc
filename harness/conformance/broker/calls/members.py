"""Members of a group that a Broker asks for an administrator, and how the answers are read."""

from typing import Any

from harness.conformance import Reply
from harness.conformance.broker.tools import tables_of
from harness.session import BrokerSession, Connection
from harness.session.broker.requests import consuming
from harness.session.exchange import NotSo, View
from harness.wire import Command, ResponseCode, WireError
from harness.wire.fastjson import ParseError
from harness.wire.versions import V3_0_7_SNAPSHOT

SUCCESS, ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR
WITHIN, STATUS_WITHIN = 10, 5
"""Protocol seconds that a client has for its answer."""
OLD = V3_0_7_SNAPSHOT - 1
Client = tuple[str, Connection]


def online(bk: BrokerSession, group: str, **header: Any) -> Client:
    """A member of a group, and its connection."""
    client, connection = bk.client()
    bk.heartbeat(client, consumers=[consuming(group)], on=connection, **header) >> Reply(SUCCESS)
    return client, connection


def _readable(read: Any) -> Any:
    def readable(command: Command) -> Any:
        try:
            return read(command) if command.body else None
        except (WireError, ParseError) as problem:
            raise NotSo(str(problem)) from problem

    return readable


TABLE = View("table of queues", _readable(tables_of))
