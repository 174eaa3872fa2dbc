"""Masters that the harness plays, of which a slave takes topics over."""

import msgspec

from harness.conformance import Request
from harness.conformance.broker.registrations import REGISTER, next_of_time
from harness.conformance.broker.role.changing import SLAVE
from harness.session import Answer, BrokerSession
from harness.wire import RequestCode

TOPICS = RequestCode.GET_ALL_TOPIC_CONFIG
TOLD = {**SLAVE, "registerNameServerPeriod": "10000", "unused": "{nameserver2}"}
"""A slave, and an address that can be named as its master."""
WRITTEN_AFTER = 4.0
"""Protocol seconds after which a slave that shows what it has taken over has surely written it, too."""


def table_of(counter: int, topic: str, queues: int, *, later: int = 0) -> bytes:
    """What a master says of its topics: one, and a data version, whose time may be `later` ms later."""
    one = {
        "topicName": topic,
        "readQueueNums": queues,
        "writeQueueNums": queues + 1,
        "perm": 4,
        "topicFilterType": "MULTI_TAG",
        "topicSysFlag": 0,
        "order": True,
    }
    version = {"counter": counter, "timestamp": 1_700_000_000_000 + counter + later, "stateVersion": 0}
    return msgspec.json.encode({"dataVersion": version, "topicConfigTable": {topic: one}})


def taken_over(bk: BrokerSession, body: bytes, since: Answer | None = None) -> Answer:
    """The slave asks its master for topics, and gets this; for the first time unless `since` is given."""
    master = bk.nameservers[1]
    host, _, port = master.address.rpartition(":")
    master.answers(TOPICS, body=body)
    if since is None:
        bk.nameserver.answers(REGISTER, ext={"masterAddr": f"{host}:{int(port) + 2}"})
        since = next_of_time(bk)
    return master.next(TOPICS, since=since, within=90 + bk.jitter) >> Request(TOPICS)
