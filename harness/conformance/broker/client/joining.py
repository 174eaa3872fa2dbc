"""Clients that join groups, for the cases about clients."""

from harness.conformance import AnyOf, Including, Reply, Request
from harness.session import BrokerSession
from harness.session.broker.requests import Consuming
from harness.session.connection import Connection
from harness.wire import FLAG_ONEWAY, RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR
CHANGED = RequestCode.NOTIFY_CONSUMER_IDS_CHANGED
WITHOUT_GROUPS = {"autoCreateSubscriptionGroup": "false"}
NO_PRODUCERS = AnyOf(Reply(SYSTEM_ERROR), Reply(SUCCESS, body=b'{"connectionSet":[]}'))
EXPIRY = 120
"""Protocol seconds until a silent client is removed."""


def joined(bk: BrokerSession, wants: Consuming) -> tuple[str, Connection]:
    """A new client that consumes."""
    name, connection = bk.client()
    bk.heartbeat(name, consumers=[wants], on=connection) >> Reply(SUCCESS)
    return name, connection


def told(group: str) -> Request:
    """The notification that members of a group get when it changes."""
    return Request(CHANGED, ext=Including({"consumerGroup": group}), flag=FLAG_ONEWAY)
