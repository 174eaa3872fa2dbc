"""Messages with properties, and pulls of those that a filter lets pass."""

from collections.abc import Mapping

import msgspec

from harness.conformance import Reply
from harness.session import BrokerSession, Exchange
from harness.session.broker.requests import consuming
from harness.session.broker.views import MessagesExchange
from harness.session.connection import Connection
from harness.wire import RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
NONE_WANTED = ResponseCode.PULL_RETRY_IMMEDIATELY
UNREADABLE = ResponseCode.SUBSCRIPTION_PARSE_FAILED
SQL = "SQL92"
ON = {"enablePropertyFilter": "true"}
BIT_MAPS = {**ON, "enableCalcFilterBitMap": "true", "enableConsumeQueueExt": "true"}


def filled(bk: BrokerSession, *messages: Mapping[str, str]) -> str:
    """A topic with messages of these properties in queue 0; the first has the body 0, the next one 1, …"""
    topic = bk.topic()
    for number, properties in enumerate(messages):
        bk.send(topic, b"%d" % number, properties=properties) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, len(messages))
    return topic


def with_a(bk: BrokerSession, *values: str) -> str:
    """A topic with messages whose property a has these values."""
    return filled(bk, *({"a": value} for value in values))


def filtered(
    bk: BrokerSession, topic: str, expression: str, offset: int = 0, most: int = 32
) -> MessagesExchange:
    """A pull that brings its filter."""
    return bk.pull(topic, 0, offset, most, subscription=expression, expression_type=SQL)


def passes(bk: BrokerSession, topic: str, expression: str, *numbers: int) -> None:
    """Judges which messages of a topic pass a filter."""
    pull = filtered(bk, topic, expression).bodies
    if numbers:
        pull >> Reply(SUCCESS, [b"%d" % number for number in numbers])
    else:
        pull >> Reply(NONE_WANTED, [])


def checked(bk: BrokerSession, expression: str, kind: str = SQL) -> Exchange:
    """CHECK_CLIENT_CONFIG (46) for a filter."""
    subscription = consuming("", {"Thema-Ä": expression}, expression_type=kind)["subscriptionDataSet"][0]
    body = msgspec.json.encode({"clientId": "C", "group": "G", "subscriptionData": subscription})
    return bk.call(RequestCode.CHECK_CLIENT_CONFIG, None, body)


def said(
    bk: BrokerSession,
    group: str,
    filters: Mapping[str, str],
    version: int = 1,
    by: tuple[str, Connection] | None = None,
) -> tuple[str, Connection]:
    """A member of a group, a new one by default, says in a heartbeat what the group wants of topics.

    Like Apache's client it has each filter checked before, whatever the answer: Apache's Broker loses one
    that it is still compiling when it writes down filters.
    """
    for expression in filters.values():
        checked(bk, expression).outcome()
    name, connection = by or bk.client()
    wants = consuming(group, filters, version=version, expression_type=SQL)
    bk.heartbeat(name, consumers=[wants], on=connection) >> Reply(SUCCESS)
    return name, connection


def of_group(
    bk: BrokerSession,
    topic: str,
    group: str,
    version: int = 1,
    suspend: int = 0,
    on: Connection | None = None,
) -> MessagesExchange:
    """A pull that leaves it to the heartbeats of its group what it wants."""
    return bk.pull(
        topic,
        group=group,
        sys_flag=0,
        subscription=None,
        sub_version=version,
        expression_type=SQL,
        suspend=suspend,
        on=on,
    )
