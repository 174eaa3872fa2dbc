"""Offsets that an administrator sets anew for a group.

1. 4.9 tells the members of the group to do it (220), and changes nothing itself; without members it refuses,
   and it goes no further than to one whose release does not know that.
2. 5.x does it itself, unless `useServerSideResetOffset` is false: the next pull learns where to go on, and
   commits do not count until then.

Source: AdminBrokerProcessor#resetOffset, Broker2Client#resetOffset of rocketmq-all-4.9.8;
AdminBrokerProcessor#resetOffsetInner of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import MessageQueue, QueueOffsets
from harness.wire.fastjson import document
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .part import Part

_NEWEST = -1
"""The time that stands for the end of a queue; where the Broker sets offsets itself, any below zero does."""


class Resets(Part):
    """Resets offsets of groups."""

    @answers(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET)
    def reset(self, command: Command, connection: int, now: int) -> Reply:
        ext = command.ext or {}
        topic, group = required.text(ext, "topic"), required.text(ext, "group")
        timestamp = fields.int64(ext, "timestamp") or 0
        if self.resets_itself():
            return self.reset_here(command, topic, group, timestamp, now)
        return self.ask_members(command, topic, group, timestamp)

    def resets_itself(self) -> bool:
        """Whether the Broker sets the offsets itself."""
        return self.profile.v5 and self.config.use_server_side_reset_offset

    # -- by the Broker -------------------------------------------------------------------------------------

    def reset_here(self, command: Command, topic: str, group: str, timestamp: int, now: int) -> Reply:
        """All queues of a topic, or the one that is named."""
        if self.config.is_slave:
            return Reply(ResponseCode.SYSTEM_ERROR, remark="Can not reset offset in slave broker")
        known = self.broker.topics.get(topic)
        if known is None:
            return Reply(ResponseCode.TOPIC_NOT_EXIST, remark=f"Topic {topic} does not exist")
        if group not in self.broker.groups.table:
            remark = f"Group {group} does not exist"
            return Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=remark)
        queue, offset = fields.int32(command.ext, "queueId"), fields.int64(command.ext, "offset")
        if queue is None or queue < 0:
            found = {queue: self.at(topic, queue, timestamp) for queue in range(known.read_queue_nums)}
        elif offset is None or offset == -1:
            found = {queue: self.at(topic, queue, timestamp)}
        else:
            low, high = self.broker.store.min_offset(topic, queue), self.broker.store.max_offset(topic, queue)
            if not low <= offset <= high + 1:
                remark = f"Target offset {offset} not in consume queue range [{low}-{high}]"
                return Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
            found = {queue: offset}
        if not found:
            return Reply(ResponseCode.SYSTEM_ERROR, remark="No queues to reset.")
        for queue, offset in found.items():
            self.broker.offsets.reset(group, topic, queue, offset, now)
        return Reply(ResponseCode.SUCCESS, body=self.table(topic, found).encode())

    def at(self, topic: str, queue: int, timestamp: int) -> int:
        """From where a queue is consumed if that is to begin with what was stored at a time."""
        store = self.broker.store
        if timestamp < 0:
            return store.max_offset(topic, queue)
        return store.offset_at(topic, queue, timestamp)

    def table(self, topic: str, offsets: Mapping[int, int]) -> QueueOffsets:
        """Offsets by queue, as a body."""
        name = self.config.broker_name
        return QueueOffsets({MessageQueue(name, queue, topic): offset for queue, offset in offsets.items()})

    # -- by members ----------------------------------------------------------------------------------------

    def ask_members(self, command: Command, topic: str, group: str, timestamp: int) -> Reply:
        """Tell the members of a group from where to consume."""
        known = self.broker.topics.get(topic)
        if known is None:
            remark = f"[reset-offset] reset offset failed, no topic in this broker. topic={topic}"
            unknown = ResponseCode.TOPIC_NOT_EXIST if self.profile.v5 else ResponseCode.SYSTEM_ERROR
            return Reply(unknown, remark=remark)
        if command.language is None:
            raise RefusedError("the language of the request is unknown: it decides the form of the answer")
        found: dict[int, int] = {}
        for queue in range(known.write_queue_nums):
            committed = self.broker.offsets.offset_of(group, topic, queue)
            if committed is None:
                remark = f"THe consumer group <{group}> not exist"
                return Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
            forced = fields.boolean(command.ext, "isForce") is True
            found[queue] = self.wanted(topic, queue, timestamp, committed, forced=forced)
        online = self.broker.clients.consumers.get(group)
        if online is None or not online.members:
            asked = f"Group: {group} Topic: {topic} Timestamp: {timestamp}"
            remark = f"Consumer not online, so can not reset offset, {asked}"
            return Reply(ResponseCode.CONSUMER_NOT_ONLINE, remark=remark)
        ext: dict[str, str | None] = {
            "topic": topic,
            "group": group,
            "timestamp": str(timestamp),
            "isForce": "false",
        }
        if self.profile.v5:
            ext["queueId"] = "-1"
        table = self.table(topic, found)
        body = self.body_for(command.language, table)
        for member, client in online.members.items():
            refusal = self.broker.client_rpc.refusal_of(client)
            if refusal is not None:
                return refusal
            self.tell(member, Command(RequestCode.RESET_CONSUMER_CLIENT_OFFSET, ext=ext, body=body))
        return Reply(ResponseCode.SUCCESS, body=table.encode())

    def wanted(self, topic: str, queue: int, timestamp: int, committed: int, *, forced: bool) -> int:
        """From where members are to consume: without force not behind what is committed."""
        store = self.broker.store
        newest = timestamp == _NEWEST
        wanted = store.max_offset(topic, queue) if newest else store.offset_at(topic, queue, timestamp)
        return wanted if forced else min(wanted, committed)

    def body_for(self, language: str, table: QueueOffsets) -> bytes:
        """The request to the members, in the form for the language of the caller."""
        return _for_cpp(table) if language == "CPP" else table.encode()

    def tell(self, member: int, told: Command) -> None:
        """Tell one member."""
        self.broker.push(member, told)


def _for_cpp(table: QueueOffsets) -> bytes:
    queues = [
        {"brokerName": queue.broker_name, "offset": offset, "queueId": queue.queue_id, "topic": queue.topic}
        for queue, offset in table.offset_table.items()
    ]
    return document({"offsetTable": queues})
