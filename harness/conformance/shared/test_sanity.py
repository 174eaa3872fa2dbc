"""Chapter sanity: the target speaks this protocol. It runs first; unanswered, it blocks all others."""

from harness.conformance import ANYTHING, Reply, case
from harness.session import NameServerSession
from harness.wire import FLAG_RESPONSE


@case(kills=["routes-are-not-answered"])
def test_well_formed_request_is_answered(ns: NameServerSession) -> None:
    ns.route(ns.name("nothing")) >> Reply(ANYTHING, flag=FLAG_RESPONSE)
