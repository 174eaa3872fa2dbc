"""What becomes of messages that were popped (5.x): they are acknowledged (200051, 200151), or hidden for
another time (200053).

1. The handle that comes with a request says which pop is meant. What is not hidden any longer, or never was,
   is acknowledged without effect.
2. A message that is hidden for another time is popped anew by that: its old handle is worth nothing. Where
   messages are popped in order, the handle stays.

Source: AckMessageProcessor, ChangeInvisibleTimeProcessor of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import BatchAck, BatchAcks, NullBodyError
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .part import Part
from .pop_checkpoints import PopOf
from .pop_order import Popped
from .pop_terms import ORDERED, Handle, retry_topic

_KINDS = {"1": False, "2": True}
"""Kinds of topics for messages that come again: whether it is the newer one."""


class PopAcks(Part):
    """Acknowledges popped messages, or hides them again."""

    # -- acknowledging ---------------------------------------------------------------------------------------

    @answers(RequestCode.ACK_MESSAGE, v5=True)
    def acknowledge(self, command: Command, connection: int, now: int) -> Reply:
        ext: Ext = command.ext or {}
        topic, queue_id, offset = self.message(ext)
        refused = self.queue_refused(topic, queue_id, connection)
        if refused is not None:
            return refused
        if self.broker.light_acks.names_one(ext):
            return self.broker.light_acks.acknowledge(topic, queue_id, offset, ext, now)
        store = self.broker.store
        low, high = store.min_offset(topic, queue_id), store.max_offset(topic, queue_id)
        if not low <= offset <= high:
            where = f"key:{topic}@{queue_id}, commit:{offset}, store:{low}~{high}"
            return Reply(ResponseCode.NO_MESSAGE, remark=f"offset is illegal, {where}")
        group, handle = fields.part_of_key(ext, "consumerGroup"), Handle.of(required.text(ext, "extraInfo"))
        of = PopOf(topic, group, queue_id, handle.start, handle.pop_time)
        return self.done(of, [offset], handle.revive_queue, connection, now)

    @answers(RequestCode.BATCH_ACK_MESSAGE, v5=True)
    def acknowledge_all(self, command: Command, connection: int, now: int) -> Reply:
        """Where any of them is in order and none of its pop, the last such refusal is the answer."""
        try:
            engine = self.profile.engine
            asked = BatchAcks.decode(command.body, engine=engine) if command.body else BatchAcks()
        except NullBodyError:
            asked = BatchAcks()
        except WireError as error:
            raise RefusedError(f"the body cannot be read: {error}") from error
        if not asked.acks:
            return Reply(ResponseCode.NO_MESSAGE)
        reply = Reply(ResponseCode.SUCCESS)
        for of, offsets, revive_queue in [self.meant(ack) for ack in asked.acks]:
            low, high = (
                self.broker.store.min_offset(of.topic, of.queue_id),
                self.broker.store.max_offset(of.topic, of.queue_id),
            )
            there = [offset for offset in offsets if low <= offset <= high]
            refused = self.done(of, there, revive_queue, connection, now)
            if refused.code != ResponseCode.SUCCESS:
                reply = refused
        return reply

    def meant(self, ack: BatchAck) -> tuple[PopOf, list[int], int]:
        """Which messages an acknowledgement of several means. Raises RefusedError."""
        group, topic = ack.consumer_group or "null", ack.topic
        if topic is None or ack.retry not in ("0", *_KINDS):
            found = f"t={topic!r:.40}, r={ack.retry!r:.10}"
            raise RefusedError(f"an acknowledgement has {found}: expected a topic, and 0, 1 or 2")
        if ack.retry in _KINDS:
            topic = retry_topic(group, topic, v2=_KINDS[ack.retry])
        if self.profile.v55 and not ack.bits:
            raise RefusedError("an acknowledgement has no bits")
        try:
            offsets = ack.offsets
        except WireError as error:
            raise RefusedError(str(error)) from error
        of = PopOf(topic, group, ack.queue_id, ack.start_offset, ack.pop_time)
        return of, offsets, ack.revive_queue_id

    def done(self, of: PopOf, offsets: list[int], revive_queue: int, connection: int, now: int) -> Reply:
        """Messages of a pop are done with."""
        if revive_queue != ORDERED:
            self.broker.checkpoints.acknowledge(of, offsets, now)
            return Reply(ResponseCode.SUCCESS)
        reply = Reply(ResponseCode.SUCCESS)
        for offset in offsets:
            refused = self.done_in_order((of.topic, of.group, of.queue_id), offset, of.time, connection, now)
            reply = refused or reply
        return reply

    def done_in_order(
        self, queue: Popped, offset: int, pop_time: int, connection: int, now: int
    ) -> Reply | None:
        """A message that was popped in order is done with; the refusal of one that was not."""
        topic, group, queue_id = queue
        before = self.broker.offsets.offset_of(group, topic, queue_id)
        before = -1 if before is None else before
        if offset < before:
            return None
        consumed = self.broker.pop_order.acknowledge(queue, offset, pop_time)
        if consumed == -1:
            where = f"key:{topic}@{group}@{queue_id}, old:{before}, commit:{offset}, next:-1"
            remark = f"offset is illegal, {where}, /{self.broker.peer(connection)}"
            return Reply(ResponseCode.MESSAGE_ILLEGAL, remark=remark)
        if consumed is not None:
            if not self.broker.offsets.is_reset(group, topic, queue_id):
                self.broker.offsets.commit(group, topic, queue_id, consumed, now)
            if not self.broker.pop_order.blocks(queue, None, now):
                self.broker.pop_waiting.has_more(topic, group, queue_id)
        return None

    # -- hiding ----------------------------------------------------------------------------------------------

    @answers(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, v5=True)
    def hide(self, command: Command, connection: int, now: int) -> Reply:
        ext: Ext = command.ext or {}
        topic, queue_id, offset = self.message(ext)
        refused = self.queue_refused(topic, queue_id, connection)
        if refused is not None:
            refused.ext = _told(0, 0, 0)
            return refused
        if self.broker.light_acks.names_one(ext):
            return self.broker.light_acks.hide(topic, offset, ext, now)
        store = self.broker.store
        if not store.min_offset(topic, queue_id) <= offset < store.max_offset(topic, queue_id):
            return Reply(ResponseCode.NO_MESSAGE, ext=_told(0, 0, 0))
        group, handle = fields.part_of_key(ext, "consumerGroup"), Handle.of(required.text(ext, "extraInfo"))
        invisible = required.int64(ext, "invisibleTime")
        if handle.revive_queue == ORDERED:
            return self.hide_in_order((topic, group, queue_id), offset, handle, invisible, now)
        # Never at the time of the pop itself: the new checkpoint would be the old one.
        again = PopOf(topic, group, queue_id, offset, max(now, handle.pop_time + 1))
        suspended = self.profile.v55 and fields.boolean(ext, "suspend") is True
        if not self.hidden_anew(again, offset, invisible, handle, suspended, now):
            return Reply(ResponseCode.SYSTEM_ERROR, ext=_told(0, 0, 0))
        of = PopOf(topic, group, queue_id, handle.start, handle.pop_time)
        self.broker.checkpoints.acknowledge(of, [offset], now)
        return Reply(ResponseCode.SUCCESS, ext=_told(again.time, invisible, handle.revive_queue))

    def hidden_anew(
        self, again: PopOf, offset: int, invisible: int, handle: Handle, suspended: bool, now: int
    ) -> bool:
        """Hide a message for another time. False: that cannot be kept."""
        return self.broker.checkpoints.add(
            again, [offset], invisible, handle.revive_queue, now, suspended=suspended
        )

    def hide_in_order(self, queue: Popped, offset: int, handle: Handle, invisible: int, now: int) -> Reply:
        """200053 of a message that was popped in order."""
        topic, group, queue_id = queue
        before = self.broker.offsets.offset_of(group, topic, queue_id)
        if before is not None and offset < before:
            return Reply(ResponseCode.SUCCESS, ext=_told(0, 0, 0))
        self.broker.pop_order.hide(queue, offset, handle.pop_time, now + invisible)
        hidden = now + invisible - handle.pop_time
        return Reply(ResponseCode.SUCCESS, ext=_told(handle.pop_time, hidden, ORDERED))

    # -- what is asked ---------------------------------------------------------------------------------------

    def message(self, ext: Ext) -> tuple[str, int, int]:
        """(topic, queue, offset) of a request. Raises RefusedError."""
        return required.text(ext, "topic"), required.int32(ext, "queueId"), required.int64(ext, "offset")

    def queue_refused(self, topic: str, queue_id: int, connection: int) -> Reply | None:
        """The refusal of an unknown queue."""
        known = self.broker.topics.get(topic)
        if known is None:
            remark = f"topic[{topic}] not exist, apply first please! {self.broker.pulls.see()}"
            return Reply(ResponseCode.TOPIC_NOT_EXIST, remark=remark)
        if not 0 <= queue_id < known.read_queue_nums:
            remark = self.broker.pops.no_queue(known, queue_id, connection)
            return Reply(ResponseCode.MESSAGE_ILLEGAL, remark=remark)
        return None


def _told(pop_time: int, invisible: int, revive_queue: int) -> dict[str, str | None]:
    return {"popTime": str(pop_time), "invisibleTime": str(invisible), "reviveQid": str(revive_queue)}
