"""Requests of tools, for the cases about administration."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from harness.session import BrokerSession, Exchange
from harness.session.exchange import NotSo, View
from harness.wire import Command, ResponseCode, WireError
from harness.wire.bodies import KvTable
from harness.wire.fastjson import ParseError, parse

SUCCESS = ResponseCode.SUCCESS
ERROR = ResponseCode.SYSTEM_ERROR


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
