"""Timed messages over restarts, for the cases about delays."""

from harness.conformance import Reply
from harness.session import BrokerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS
RARELY = {"flushDelayOffsetInterval": "3600000"}
"""How far delayed messages were delivered is written at an orderly end."""


def two_timed(bk: BrokerSession, first: int = 3) -> str:
    """A topic to which two timed messages have been delivered, in the queues 1 and 2."""
    topic = bk.topic()
    for queue, seconds in ((1, first), (2, first + 2)):
        said = {"TIMER_DELAY_SEC": str(seconds)}
        bk.send(topic, b"%d" % queue, queue, properties=said) >> Reply(SUCCESS)
    bk.advance(first + 2 + 4 + bk.jitter)
    for queue in (1, 2):
        bk.pull(topic, queue).bodies.eventually() >> Reply(SUCCESS, [b"%d" % queue])
    return topic


def come_no_more(bk: BrokerSession, topic: str) -> None:
    """Neither of them is delivered again, though others are."""
    bk.send(topic, b"after", 0, properties={"TIMER_DELAY_SEC": "5"}) >> Reply(SUCCESS)
    bk.advance(5 + 20 + bk.jitter)
    bk.pull(topic, 0, most=1).bodies.eventually() >> Reply(SUCCESS, [b"after"])
    for queue in (1, 2):
        bk.max_offset(topic, queue).offset >> Reply(SUCCESS, 1)
