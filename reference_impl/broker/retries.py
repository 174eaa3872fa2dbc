"""Messages that come back: consumers send them back to be tried again, and in the end they are dead letters.

1. What is tried again goes to `%RETRY%<group>`, delayed by the level that the consumer gave, or by one that
   grows with the times it was tried; a dead letter goes to `%DLQ%<group>` at once.
2. The copy is a message of its own, with the properties of the one that was sent back; these also say which
   topic it was sent to first and under which id.

Source: SendMessageProcessor#asyncConsumerSendMsgBack of rocketmq-all-4.9.8,
AbstractSendMessageProcessor#consumerSendMsgBack of rocketmq-all-5.3.3. What comes back as a send: `sends`.
"""

from __future__ import annotations

from typing import Final

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import SubscriptionGroup, TopicConfig
from harness.wire.messages import Message, PropertyName, TopicName, offset_id
from harness.wire.versions import V3_4_9
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from . import required
from .part import Part
from .store import PutStatus
from .topics import READ, WRITE

_FIRST_LEVEL: Final = 3
"""The delay level of the first time that a message is tried again, where the consumer leaves it open."""
_DEAD_LETTER_QUEUES: Final = 1
_UNIT_OF_SUBSCRIBERS: Final = 2
"""Bit of a topic's system flag."""


class Retries(Part):
    """Takes messages back from consumers."""

    @answers(RequestCode.CONSUMER_SEND_MSG_BACK)
    def send_back(self, command: Command, connection: int, now: int) -> Reply:
        """Checked in Apache's order: group, permissions, the message."""
        if self.broker.limits.rejects_sends():
            return self.broker.limits.rejected()
        ext = command.ext or {}
        group = required.text(ext, "group")
        offset = required.int64(ext, "offset")
        level = required.int32(ext, "delayLevel")
        known = self.broker.groups.find(group, now)
        if known is None:
            return self.unknown_group(group)
        if not self.config.broker_permission & WRITE:
            remark = f"the broker[{self.config.broker_ip1}] sending message is forbidden"
            return Reply(ResponseCode.NO_PERMISSION, remark=remark)
        if known.retry_queue_nums <= 0:
            return Reply(ResponseCode.SUCCESS)
        retry = self.retry_topic(group, known, unit=bool(fields.boolean(ext, "unitMode")), now=now)
        if not retry.perm & WRITE:
            remark = f"the topic[{retry.topic_name}] sending message is forbidden"
            return Reply(ResponseCode.NO_PERMISSION, remark=remark)
        message = self.broker.store.at(offset)
        if message is None:
            return Reply(ResponseCode.SYSTEM_ERROR, remark=f"look message by offset failed, {offset}")
        limit = self.limit(known, fields.int32(ext, "maxReconsumeTimes"), command.version)
        if self.refuses_as_slave():
            return Reply(ResponseCode.SYSTEM_ERROR, remark=ResponseCode.SERVICE_NOT_AVAILABLE.name)
        if self.is_dead(message.reconsume_times, limit, level):
            if self.profile.v5:
                required.text(ext, "originTopic")
            copy = self.returned(message, self.dead_letters(group, now), 0)
        else:
            copy = self.returned(message, retry, self.level(level, message.reconsume_times))
        put = self.broker.delays.put(copy, now)
        if put.status is not PutStatus.PUT_OK:
            return Reply(ResponseCode.SYSTEM_ERROR, remark=put.status.name)
        return Reply(ResponseCode.SUCCESS)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def refuses_as_slave(self) -> bool:
        """Whether nothing is taken back, because this is a slave. (5.x does not look at the request then.)"""
        return self.config.is_slave

    def unknown_group(self, group: str) -> Reply:
        """The refusal of an unknown group."""
        remark = f"subscription group not exist, {group} \nSee {self.profile.faq} for further details."
        return Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=remark)

    def limit(self, group: SubscriptionGroup, asked: int | None, version: int) -> int:
        """How often a message is tried again: what the request says, if its sender is not too old."""
        return group.retry_max_times if asked is None or version < V3_4_9 else asked

    def is_dead(self, times: int, limit: int, level: int) -> bool:
        """Whether a message that was sent back is a dead letter."""
        return times >= limit or level < 0

    def level(self, asked: int, times: int) -> int:
        """The delay level of a message that was sent back."""
        return asked or _FIRST_LEVEL + times

    def retry_topic(self, group: str, known: SubscriptionGroup, *, unit: bool, now: int) -> TopicConfig:
        """The topic for what is tried again."""
        name = TopicName.RETRY_PREFIX + group
        flag = _UNIT_OF_SUBSCRIBERS if unit else 0
        return self.broker.topics.create(name, known.retry_queue_nums, READ | WRITE, now, flag=flag)

    def dead_letters(self, group: str, now: int) -> TopicConfig:
        """The topic for dead letters."""
        return self.broker.topics.create(TopicName.DLQ_PREFIX + group, _DEAD_LETTER_QUEUES, READ | WRITE, now)

    def returned(self, message: Message, topic: TopicConfig, level: int) -> Message:
        """The message that is stored for one that was sent back."""
        properties = message.properties | {
            PropertyName.WAIT_STORE_MSG_OK: "false",
            PropertyName.DELAY_TIME_LEVEL: str(level),
        }
        properties.setdefault(PropertyName.RETRY_TOPIC, message.topic)
        properties.setdefault(
            PropertyName.ORIGIN_MESSAGE_ID, offset_id(message.store_host, message.physical_offset)
        )
        return Message(
            topic=topic.topic_name or "",
            body=message.body,
            properties=properties,
            queue_id=self.broker.chance.below(self.queues(topic)),
            flag=message.flag,
            sys_flag=message.sys_flag,
            born_timestamp=message.born_timestamp,
            born_host=message.born_host,
            store_host=self.config.address,
            reconsume_times=message.reconsume_times + 1,
        )

    def queues(self, topic: TopicConfig) -> int:
        """Over how many queues messages that come back are spread."""
        return max(1, topic.write_queue_nums)
