"""Chapter sanity: the target speaks this protocol at all. It runs first and decides about all others."""

from harness.conformance import Reply, case
from harness.session import NameServerSession
from harness.wire import FLAG_RESPONSE, RequestCode, ResponseCode


@case("wire.sanity.well-formed-request-is-answered", kills=["topic-list-is-not-answered"])
def test_well_formed_request_is_answered(ns: NameServerSession) -> None:
    """A well-formed request is answered."""
    ns.call(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER) >> Reply(ResponseCode.SUCCESS, flag=FLAG_RESPONSE)
