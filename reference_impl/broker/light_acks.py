"""Acknowledgements that name a light topic (5.5), and requests that hide a message of one for longer.

The parent is checked before by those of POP; the queue is always the first one, and the handle one of a pop
in order.

Source: AckMessageProcessor#ackLite, ChangeInvisibleTimeProcessor#processChangeInvisibleTimeForLite of
rocketmq-all-5.5.0.
"""

from __future__ import annotations

from harness.wire import ResponseCode
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import Reply

from . import required
from .light_names import queue_of
from .part import Part
from .pop_terms import ORDERED, Handle

_ILLEGAL = "ack offset illegal."


class LightAcks(Part):
    """Acknowledges messages of light topics, or hides them again."""

    def names_one(self, ext: Ext) -> bool:
        """Whether a request is about a light topic."""
        return self.profile.v55 and bool((ext.get("liteTopic") or "").strip())

    def acknowledge(self, topic: str, queue_id: int, offset: int, ext: Ext, now: int) -> Reply:
        """A message is done with."""
        group = fields.part_of_key(ext, "consumerGroup")
        if self.broker.light_topics.parent_of(group, now) != topic:
            remark = "group type or bind topic not match."
            return Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
        queue = queue_of(topic, ext.get("liteTopic") or "")
        if self.is_beyond(queue, offset):
            return Reply(ResponseCode.NO_MESSAGE, remark=_ILLEGAL)
        handle = Handle.of(required.text(ext, "extraInfo"))
        if queue_id != 0 or handle.revive_queue != ORDERED:
            return Reply(ResponseCode.INVALID_PARAMETER, remark="ack queue illegal.")
        if self.is_consumed(group, queue, offset):
            return Reply(ResponseCode.SUCCESS)
        return self.done(group, queue, offset, handle, now)

    def done(self, group: str, queue: str, offset: int, handle: Handle, now: int) -> Reply:
        """A message that may be done with is: what of its light topic is free now can be popped."""
        popped = (queue, group, 0)
        consumed = self.broker.pop_order.acknowledge(popped, offset, handle.pop_time)
        if consumed == -1:
            return Reply(ResponseCode.MESSAGE_ILLEGAL, remark=_ILLEGAL)
        if consumed is not None:
            if not self.broker.offsets.is_reset(group, queue, 0):
                self.broker.offsets.commit(group, queue, 0, consumed, now)
            if not self.broker.pop_order.blocks(popped, None, now):
                self.broker.light_pops.has_more(queue, group)
        return Reply(ResponseCode.SUCCESS)

    def hide(self, topic: str, offset: int, ext: Ext, now: int) -> Reply:
        """A message is hidden for another time."""
        queue = queue_of(topic, ext.get("liteTopic") or "")
        if self.is_beyond(queue, offset):
            return Reply(ResponseCode.NO_MESSAGE, ext=_told(0, 0, 0))
        group, handle = fields.part_of_key(ext, "consumerGroup"), Handle.of(required.text(ext, "extraInfo"))
        until = now + required.int64(ext, "invisibleTime")
        if self.is_consumed(group, queue, offset):
            return Reply(ResponseCode.SUCCESS, ext=_told(0, 0, 0))
        self.broker.pop_order.hide((queue, group, 0), offset, handle.pop_time, until)
        hidden = until - handle.pop_time
        return Reply(ResponseCode.SUCCESS, ext=_told(handle.pop_time, hidden, handle.revive_queue))

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def is_beyond(self, queue: str, offset: int) -> bool:
        """Whether no message of a light topic has had that offset, nor will the next one."""
        return offset > self.broker.store.max_offset(queue, 0)

    def is_consumed(self, group: str, queue: str, offset: int) -> bool:
        """Whether a group is done with a message."""
        return offset < (self.broker.offsets.offset_of(group, queue, 0) or 0)


def _told(pop_time: int, invisible: int, revive_queue: int) -> dict[str, str | None]:
    return {"popTime": str(pop_time), "invisibleTime": str(invisible), "reviveQid": str(revive_queue)}
