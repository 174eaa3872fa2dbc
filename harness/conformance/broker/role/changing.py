"""Changes of role, for the cases about roles."""

from harness.conformance import Reply
from harness.session import BrokerSession
from harness.wire import RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
NOTIFY = RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE
SLAVE = {"brokerRole": "SLAVE", "brokerId": "1"}
MASTER = {"brokerRole": "ASYNC_MASTER", "brokerId": "0"}


def slave_is_smallest(bk: BrokerSession, *, left: str | None = None) -> None:
    """Notifies a slave that its id is the smallest of its name, and optionally which broker has left."""
    bk.nameserver.ignores(RequestCode.GET_ROUTEINFO_BY_TOPIC)
    told = {"minBrokerId": "1", "minBrokerAddr": bk.broker_address}
    bk.call(NOTIFY, told if left is None else {**told, "offlineBrokerAddr": left}) >> Reply(SUCCESS)
