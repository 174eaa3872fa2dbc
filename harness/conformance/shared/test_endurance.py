"""Chapter endurance: the target survived all other chapters. It runs last."""

from harness.conformance import ANYTHING, Reply, case
from harness.session import NameServerSession
from harness.wire import FLAG_RESPONSE

CONNECTIONS = 100
"""Far fewer than a server must handle, and more than a careless limit or a leak in a small pool allows."""


@case(kills=["connections-run-out"])
def test_serves_after_everything(ns: NameServerSession) -> None:
    for number in range(CONNECTIONS):
        connection = ns.connect()
        ns.route(ns.name("nothing"), on=connection) >> Reply(ANYTHING)
        end = (connection.close, connection.reset, connection.half_close)[number % 3]
        end()
    ns.route(ns.name("nothing")) >> Reply(ANYTHING, flag=FLAG_RESPONSE)
