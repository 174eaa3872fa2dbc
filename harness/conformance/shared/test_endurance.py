"""Chapter endurance: the target survived all other chapters. It runs last."""

from harness.conformance import Reply, case
from harness.session import NameServerSession
from harness.wire import FLAG_RESPONSE, RequestCode, ResponseCode

CONNECTIONS = 100
"""Far fewer than a server must handle, and more than a careless limit or a leak in a small pool allows."""


@case(kills=["connections-run-out"])
def test_serves_after_everything(ns: NameServerSession) -> None:
    for number in range(CONNECTIONS):
        connection = ns.connect()
        connection.call(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER) >> Reply(ResponseCode.SUCCESS)
        end = (connection.close, connection.reset, connection.half_close)[number % 3]
        end()
    ns.call(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER) >> Reply(ResponseCode.SUCCESS, flag=FLAG_RESPONSE)
