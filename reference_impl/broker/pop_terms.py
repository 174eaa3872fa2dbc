"""The words of POP: handles of messages, topics of those that come again, lists in answers. Pure functions.

1. A handle says which pop gave a message: it comes back with the acknowledgement. Its words are between
   blanks: where in the queue that pop began, when it was (ms), for how long it hides (ms), queue of the
   revive log, kind of topic, Broker, queue, offset.
2. The kind of a topic is 0 for the topic itself, 1 for `%RETRY%group_topic`, 2 for `%RETRY%group+topic`.

Source: ExtraInfoUtil, KeyBuilder of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from harness.wire.messages import TopicName
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError

ORDERED: Final = 999
"""What stands for the queue of the revive log where messages are popped in order: no checkpoint is kept."""
_V1, _V2 = "_", "+"
_SHORTEST: Final = 6


class Handle(msgspec.Struct, frozen=True):
    """What a message was popped with."""

    start: int
    pop_time: int
    invisible: int
    revive_queue: int
    kind: str
    broker_name: str
    queue_id: int
    offset: int

    def text(self) -> str:
        """As the property `POP_CK` has it."""
        return " ".join(map(str, msgspec.structs.astuple(self)))

    @classmethod
    def of(cls, text: str) -> Handle:
        """Read one; queue and offset may be left out, and are -1 then. Raises RefusedError."""
        words = text.split(" ")
        numbers = dict(enumerate(words))
        found = [fields.int64({"": numbers.get(at)}, "") for at in (0, 1, 2, 3)]
        if len(words) < _SHORTEST or None in found:
            what = "expected where the pop began, when it was, for how long, a queue, a kind and a Broker"
            raise RefusedError(f"the custom field <extraInfo> is {text!r:.80}: {what}")
        start, pop_time, invisible, revive_queue = (number or 0 for number in found)
        queue, offset = (fields.int64({"": numbers.get(at)}, "") for at in (6, 7))
        return cls(
            start,
            pop_time,
            invisible,
            revive_queue,
            words[4],
            words[5],
            -1 if queue is None else queue,
            -1 if offset is None else offset,
        )


def retry_topic(group: str, topic: str, *, v2: bool) -> str:
    """Where messages of a topic that a group popped and did not acknowledge come again."""
    return f"{TopicName.RETRY_PREFIX}{group}{_V2 if v2 else _V1}{topic}"


def plain_topic(group: str, topic: str) -> str:
    """The topic behind one of a group's for messages that come again, or the topic itself."""
    prefix = TopicName.RETRY_PREFIX + group
    return topic[len(prefix) + 1 :] if topic.startswith((prefix + _V1, prefix + _V2)) else topic


def kind_of(topic: str) -> str:
    """The kind of a topic."""
    if not topic.startswith(TopicName.RETRY_PREFIX):
        return "0"
    return "2" if _V2 in topic else "1"


def start_info(topic: str, queue_id: int, offset: int) -> str:
    """One entry of `startOffsetInfo`: where in a queue a pop began."""
    return f"{kind_of(topic)} {queue_id} {offset}"


def offsets_info(topic: str, queue_id: int, offsets: Iterable[int]) -> str:
    """One entry of `msgOffsetInfo`: which messages of a queue a pop gave."""
    return f"{kind_of(topic)} {queue_id} {','.join(map(str, offsets))}"
