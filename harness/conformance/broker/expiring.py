"""A Broker whose messages expire soon."""

from harness.conformance import Between, Reply
from harness.session import BrokerSession
from harness.wire import ResponseCode

EXPIRING = {
    "mappedFileSizeCommitLog": "65536",
    "fileReservedTime": "0",
    "deleteWhen": ";".join(f"{hour:02d}" for hour in range(24)),
}
"""Files of the log expire at once. A Broker looks for them every 10 s, for the first time after a minute."""
OLD = {**EXPIRING, "mappedFileSizeCommitLog": "4096"}
"""A file of the log holds two messages of 1,500 bytes."""


def begins_late(bk: BrokerSession, topic: str, queue: int = 1) -> int:
    """Puts six messages into an empty queue of a Broker that is OLD, and awaits that the first ones are gone.
    The lowest offset that is left.
    """
    for number in range(6):
        bk.send(topic, b"%d" % number * 1500, queue) >> Reply(ResponseCode.SUCCESS)
    bk.advance(120 + bk.jitter)
    low = bk.min_offset(topic, queue).offset.eventually() >> Reply(ResponseCode.SUCCESS, Between(1, 5))
    return int(low.value)
