"""Chapter sanity: the target is a Broker. It runs first; if it fails, all others are blocked."""

from harness.conformance import Reply, case
from harness.session import BrokerSession
from harness.wire import FLAG_RESPONSE, ResponseCode


@case(kills=["broker-heartbeat-not-answered"])
def test_heartbeat_is_answered(bk: BrokerSession) -> None:
    bk.heartbeat(bk.name("client")) >> Reply(ResponseCode.SUCCESS, flag=FLAG_RESPONSE)
