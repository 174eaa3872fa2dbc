"""Chapter sanity: the target speaks this protocol. It runs first; unanswered, it blocks all others."""

from harness.conformance import ANYTHING, Reply, case
from harness.session import NameServerSession
from harness.wire import FLAG_RESPONSE


@case(kills=["routes-are-not-answered"])
def test_well_formed_request_is_answered(ns: NameServerSession) -> None:
    ns.route(ns.name("nothing")) >> Reply(ANYTHING, flag=FLAG_RESPONSE)


@case(kills=["answers-close-the-connection", "one-connection-at-a-time-is-served"])
def test_connections_are_served_beside_each_other(ns: NameServerSession) -> None:
    topic, first, second = ns.name("nothing"), ns.connect(), ns.connect()
    for connection in (first, second, first):
        ns.route(topic, on=connection) >> Reply(ANYTHING, flag=FLAG_RESPONSE)
