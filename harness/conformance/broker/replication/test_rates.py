"""Chapter replication: the bytes of the last second that a slave shows."""

from harness.conformance import Between, Including, Reply, case
from harness.conformance.broker.replication.following import SLAVE, followed, pushed
from harness.conformance.broker.replication.logs import SUCCESS
from harness.session import BrokerSession

HEARTBEATS = 48
"""Bytes of the headers of some pushes, which count too."""


@case(kills=["rates-of-a-slave-stay-0", "rates-of-a-slave-stay"], clock=True, own_server=True, setup=SLAVE)
def test_slave_shows_its_rate(bk: BrokerSession) -> None:
    size = pushed(bk, followed(bk), b"x" * 700)
    for low, high in ((size, size + HEARTBEATS), (0, HEARTBEATS)):
        shown = Including({"transferredByteInSecond": Between(low, high)})
        bk.replication_status().json.eventually() >> Reply(SUCCESS, Including({"haClientRuntimeInfo": shown}))
        bk.advance(3)
