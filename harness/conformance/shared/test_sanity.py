"""Chapter sanity: the target speaks this protocol. It runs first; if it fails, all others are blocked."""

from harness.conformance import Reply, case
from harness.session import NameServerSession
from harness.wire import FLAG_RESPONSE, RequestCode, ResponseCode


@case(kills=["topic-list-is-not-answered"])
def test_well_formed_request_is_answered(ns: NameServerSession) -> None:
    ns.call(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER) >> Reply(ResponseCode.SUCCESS, flag=FLAG_RESPONSE)
