"""Chapter endurance: the target lived through all that the other chapters did to it. It runs last."""

from harness.conformance import Reply, case
from harness.session import NameServerSession
from harness.wire import FLAG_RESPONSE, RequestCode, ResponseCode

CONNECTIONS = 100
"""Far fewer than a server must bear, more than a careless limit or a leak in a small pool lets through."""


@case("wire.endurance.serves-after-everything", kills=["connections-run-out"])
def test_serves_after_everything(ns: NameServerSession) -> None:
    """After all other cases, and many connections that ended in every way, a request is answered."""
    for number in range(CONNECTIONS):
        connection = ns.connect()
        connection.call(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER) >> Reply(ResponseCode.SUCCESS)
        end = (connection.close, connection.reset, connection.half_close)[number % 3]
        end()
    ns.call(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER) >> Reply(ResponseCode.SUCCESS, flag=FLAG_RESPONSE)
