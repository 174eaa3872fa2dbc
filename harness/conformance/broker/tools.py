"""Requests of tools, and the tables in their answers, as cases of several chapters ask for them."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from harness.session import BrokerSession, Exchange
from harness.session.exchange import NotSo, View
from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import KvTable, MessageQueue, plain_tables
from harness.wire.fastjson import ParseError, document, parse

SUCCESS = ResponseCode.SUCCESS
ERROR = ResponseCode.SYSTEM_ERROR
SYSTEM_GROUPS = (
    "TOOLS_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
)
"""Groups that every Broker has."""


def asked(bk: BrokerSession, code: int, read: Callable[[Command], Any] | None = None, **ext: str) -> Exchange:
    """A request of a tool, seen as `read` sees its reply; without it, as JSON."""
    exchange = bk.call(code, ext, about=", ".join(ext.values()))
    return exchange.seen_as(View("body", _readable(read or as_json)))


def _readable(read: Callable[[Command], Any]) -> Callable[[Command], Any]:
    def readable(reply: Command) -> Any:
        try:
            return read(reply) if reply.body else None
        except (WireError, ParseError, msgspec.MsgspecError) as problem:
            raise NotSo(str(problem)) from problem

    return readable


def as_json(reply: Command) -> Any:
    return parse(reply.body)


def state_of(reply: Command) -> Mapping[str, str]:
    return KvTable.decode(reply.body).table


def tables_of(reply: Command) -> Any:
    """The whole of a body with tables of queues; the name of a queue is as `queue_name` makes it."""
    return plain_tables(reply.body)


def queue_name(bk: BrokerSession, topic: str, queue: int) -> str:
    """How a table of queues names one of a topic."""
    return document(MessageQueue(bk.broker_name, queue, topic).document()).decode()


def timers(bk: BrokerSession, *topics: str) -> Exchange:
    """GET_TIMER_METRICS (61), seen as how many messages wait for each of these topics, and since when."""

    def read(reply: Command) -> Any:
        table = as_json(reply)
        number = {"counter": int, "stateVersion": int, "timestamp": int}
        version = {name: type(value) for name, value in table["dataVersion"].items()}
        waiting = [table["timingCount"].get(topic, {}) for topic in topics]
        return (
            version == number,
            [one.get("count") for one in waiting],
            [one.get("timeStamp") for one in waiting],
        )

    return asked(bk, RequestCode.GET_TIMER_METRICS, read)
