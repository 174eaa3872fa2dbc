"""Queues as administrators look into them: entry by entry, and by the times of their messages.

1. A queue that nothing was ever put into has no entries, and does not exist for 321.
2. Times are of when messages were stored, ms since the epoch; -1 is shown where there is no message. Texts of
   times are by the clock on the wall.

Source: AdminBrokerProcessor#queryConsumeQueue, #queryConsumeTimeSpan, QueueTimeSpan of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import MessageQueue
from harness.wire.fastjson import document
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from . import required
from .part import Part

_NO_TIME: Final = -1
_EPOCH: Final = datetime.fromtimestamp(0).astimezone()


class QueueInspection(Part):
    """Shows what is in queues, and from when."""

    @answers(RequestCode.QUERY_CONSUME_QUEUE)
    def entries(self, command: Command, connection: int, now: int) -> Reply:
        """Entries from an offset on. An offset that the queue does not have is no error."""
        ext, store = command.ext or {}, self.broker.store
        topic, queue_id = required.text(ext, "topic"), fields.int32(ext, "queueId") or 0
        index, count = fields.int64(ext, "index") or 0, fields.int32(ext, "count") or 0
        if not self.exists(topic, queue_id):
            return Reply(ResponseCode.SYSTEM_ERROR, remark=f"{queue_id}@{topic} is not exist!")
        first, end = store.min_offset(topic, queue_id), store.max_offset(topic, queue_id)
        if not first <= index < end:
            return Reply(ResponseCode.SUCCESS, remark=f"Index {index} of {queue_id}@{topic} is not exist!")
        told: dict[str, object] = {
            "maxQueueIndex": end,
            "minQueueIndex": first,
            "queueData": [
                {"eval": False, "physicOffset": place, "physicSize": size, "tagsCode": tag}
                for place, size, tag in store.entries(topic, queue_id, index, max(0, count))
            ],
            **self.subscription(fields.text(ext, "consumerGroup"), topic),
        }
        return Reply(ResponseCode.SUCCESS, body=document(dict(sorted(told.items()))))

    def exists(self, topic: str, queue_id: int) -> bool:
        """Whether something was ever put into a queue."""
        return queue_id in self.broker.store.topics().get(topic, ())

    def subscription(self, group: str | None, topic: str) -> dict[str, object]:
        """What a group wants of a topic, and why that is not known."""
        if group is None:
            return {}
        online = self.broker.clients.consumers.get(group)
        found = None if online is None else online.subscriptions.get(topic)
        if found is None:
            return {"filterData": f"{group}@{topic} is not online!"}
        return {"filterData": "null", "subscriptionData": found.document()}

    @answers(RequestCode.QUERY_CONSUME_TIME_SPAN)
    def time_spans(self, command: Command, connection: int, now: int) -> Reply:
        """From when to when the messages of each queue are, and up to when a group has consumed them."""
        ext = command.ext or {}
        topic, group = required.text(ext, "topic"), fields.part_of_key(ext, "group")
        config = self.broker.topics.get(topic)
        if config is None:
            return Reply(ResponseCode.TOPIC_NOT_EXIST, remark=f"topic[{topic}] not exist")
        spans = [self.span(group, topic, queue_id, now) for queue_id in range(config.write_queue_nums)]
        return Reply(ResponseCode.SUCCESS, body=document({"consumeTimeSpanSet": spans}))

    def span(self, group: str, topic: str, queue_id: int, now: int) -> dict[str, object]:
        """The times of one queue. The delay is the age of the next message; 0 where all are consumed."""
        store = self.broker.store
        first, end = store.min_offset(topic, queue_id), store.max_offset(topic, queue_id)
        at = self.broker.offsets.offset_of(group, topic, queue_id)
        offset = -1 if at is None else at
        least = self.stored(topic, queue_id, first)
        consumed = self.stored(topic, queue_id, offset - 1) if offset > 0 else least
        most = self.stored(topic, queue_id, end - 1)
        queue = MessageQueue(self.config.broker_name, queue_id, topic)
        return {
            "consumeTimeStamp": consumed,
            "consumeTimeStampStr": _text(consumed),
            "delayTime": now - self.stored(topic, queue_id, offset) if offset < end else 0,
            "maxTimeStamp": most,
            "maxTimeStampStr": _text(most),
            "messageQueue": queue.document(),
            "minTimeStamp": least,
            "minTimeStampStr": _text(least),
        }

    def stored(self, topic: str, queue_id: int, offset: int) -> int:
        """When a message was stored; -1: there is none."""
        found = self.broker.store.timestamp_of(topic, queue_id, offset)
        return _NO_TIME if found is None else found


def _text(time: int) -> str:
    moment = (_EPOCH + timedelta(milliseconds=time)).astimezone()
    return moment.strftime("%Y-%m-%d#%H:%M:%S:") + f"{moment.microsecond // 1000:03d}"
