"""A log of several files."""

from harness.conformance import Between, Reply
from harness.session import BrokerSession
from harness.wire import ResponseCode
from harness.wire.messages import decode_offset_id

SUCCESS = ResponseCode.SUCCESS
SOME = b"x" * 20_000
"""Three or four of them fill a file of the log."""
FILE = 65_536
SMALL_FILES = {"mappedFileSizeCommitLog": str(FILE)}


def filled(bk: BrokerSession) -> tuple[str, str, int]:
    """Several files of the log: six messages in one topic, then eight in another; the place of the second.

    (Apache shows what is first in the log for the place 0.)
    """
    old, topic = bk.topic("old"), bk.topic()
    bk.send(old, SOME, 1, keys="k") >> Reply(SUCCESS)
    sent = bk.send(old, SOME, 1, keys="k").ids >> Reply(SUCCESS)
    for _ in range(4):
        bk.send(old, SOME, 1, keys="k") >> Reply(SUCCESS)
    for number in range(8):
        bk.send(topic, SOME + b"%d" % number, 2, keys="k").offset >> Reply(SUCCESS, number)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 8)
    bk.advance(60 + 10 + 10 + bk.jitter)
    return old, topic, decode_offset_id(sent.value[0])[1]


def kept(bk: BrokerSession, old: str, topic: str) -> int:
    """The second topic has lost its beginning, and goes on to its end; the lowest offset that it has."""
    low = (bk.min_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, Between(1, 7))).value
    bk.max_offset(old, 1).offset >> Reply(SUCCESS, 6)
    bk.pull(topic, 2).next_offset >> Reply(ResponseCode.PULL_OFFSET_MOVED, low)
    pull = bk.pull(topic, 2, low, most=1)
    pull.bounds >> Reply(SUCCESS, (low, 8))
    pull.bodies >> Reply(SUCCESS, [SOME + b"%d" % low])
    return int(low)
