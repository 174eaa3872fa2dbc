"""Chapter sanity: the target is a Broker at all. It runs first and decides about all others."""

from harness.conformance import Reply, case
from harness.session import BrokerSession
from harness.wire import FLAG_RESPONSE, ResponseCode


@case("bk.sanity.heartbeat-is-answered", kills=["broker-heartbeat-not-answered"])
def test_heartbeat_is_answered(bk: BrokerSession) -> None:
    """A heartbeat is answered."""
    bk.heartbeat(bk.name("client")) >> Reply(ResponseCode.SUCCESS, flag=FLAG_RESPONSE)
