"""Looking at messages that could be popped (5.x): nothing is taken, nothing is hidden.

Source: PeekMessageProcessor of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from harness.wire import Command, RequestCode, ResponseCode
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from . import required
from .part import Part
from .pop_terms import retry_topic
from .store import GetStatus
from .topics import READ


class PopPeeking(Part):
    """Answers peeks."""

    @answers(RequestCode.PEEK_MESSAGE, v5=True)
    def peek(self, command: Command, connection: int, now: int) -> Reply:
        """Messages of a queue, or of all (below 0), and then of those that come again."""
        ext: Ext = command.ext or {}
        group, topic = required.text(ext, "consumerGroup"), required.text(ext, "topic")
        queue_id, most = fields.int32(ext, "queueId") or 0, fields.int32(ext, "maxMsgNums") or 0
        if not self.config.broker_permission & READ:
            remark = f"the broker[{self.config.broker_ip1}] peeking message is forbidden"
            return self.broker.pops.refusal(ResponseCode.NO_PERMISSION, remark)
        refused = self.broker.pops.place_refused(group, topic, queue_id, connection, now)
        if refused is not None:
            return refused
        frames: list[bytes] = []
        rest = 0
        for place, queue in self.places(group, topic, queue_id):
            start = self.start(group, place, queue)
            rest += self.broker.store.max_offset(place, queue) - start
            frames += self.seen(place, queue, start, most - len(frames))
        ext_fields = {"popTime": "0", "invisibleTime": "0", "reviveQid": "0", "restNum": str(rest)}
        status = GetStatus.FOUND if frames else GetStatus.NO_MESSAGE_IN_QUEUE
        code = ResponseCode.SUCCESS if frames else ResponseCode.PULL_NOT_FOUND
        return Reply(code, ext={**ext_fields}, remark=status.name, body=b"".join(frames))

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def places(self, group: str, topic: str, queue_id: int) -> list[tuple[str, int]]:
        """Topics and queues, in the order in which they are looked at."""
        again = retry_topic(group, topic, v2=self.config.enable_retry_topic_v2)
        return [
            *([(topic, queue_id)] if queue_id >= 0 else self.queues_of(topic)),
            *self.queues_of(again),
        ]

    def queues_of(self, topic: str) -> list[tuple[str, int]]:
        """All queues of a topic, beginning somewhere; none if the topic does not exist."""
        known = self.broker.topics.get(topic)
        count = 0 if known is None else known.read_queue_nums
        begin = self.broker.chance.below(count) if count else 0
        return [(topic, (begin + more) % count) for more in range(count)]

    def start(self, group: str, topic: str, queue_id: int) -> int:
        """From where a group would go on in a queue: without an offset, at its beginning."""
        known = self.broker.offsets.offset_of(group, topic, queue_id)
        return self.broker.store.min_offset(topic, queue_id) if known is None else known

    def seen(self, topic: str, queue_id: int, start: int, most: int) -> list[bytes]:
        """At most `most` messages of a queue from an offset on."""
        if most <= 0:
            return []
        store = self.broker.store
        got = store.get(topic, queue_id, start, most)
        if got.status in (GetStatus.OFFSET_TOO_SMALL, GetStatus.OFFSET_OVERFLOW_BADLY):
            got = store.get(topic, queue_id, got.next_offset, most)
        return got.frames
