"""A topic with messages, and what pulls are answered with."""

from typing import Final

from harness.conformance import Reply
from harness.session import BrokerSession, meanwhile
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS
LITE: Final = 361
"""PULL_MESSAGE, LITE_PULL_MESSAGE."""
NOT_FOUND = ResponseCode.PULL_NOT_FOUND
HOLD_SCAN = 5
"""Protocol seconds between two scans of held pulls."""


def filled(bk: BrokerSession, *tags: str) -> str:
    """A topic with a message for each tag in queue 0, its body the tag, all of them to be pulled."""
    topic = bk.topic()
    for tag in tags:
        bk.send(topic, tag.encode(), tags=tag) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, len(tags))
    return topic


def behind_a_scan(bk: BrokerSession) -> None:
    """Awaits a scan of held pulls, so that the next one comes after ``HOLD_SCAN``."""
    topic, consumer = bk.topic("scanned"), bk.connect()
    pull = bk.pull(topic, subscription="wanted", suspend=600, on=consumer)
    bk.send(topic, tags="unwanted") >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    for scanned in (meanwhile(pull, HOLD_SCAN + bk.jitter), pull):
        scanned >> Reply(ResponseCode.PULL_RETRY_IMMEDIATELY)
