"""Sends: one message (10, 310) or several at once (320, or any of them that says so).

1. Checked in Apache's order: the busy answers, the header, then topic and queue. What is refused is not
   stored, and has made no topic unless the queue was the only fault.
2. A stored message is answered with its id, queue and offset, which are there in every line; clients read
   the ext fields of a success without looking.
3. 5.x writes into the properties of every message what traces need, and an id if it has none.

Source: SendMessageProcessor, AbstractSendMessageProcessor of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import TopicConfig
from harness.wire.messages import (
    Message,
    PropertyName,
    SysFlag,
    TopicName,
    decode_batch,
    decode_properties,
    host_bytes,
)
from harness.wire.versions import V3_4_9
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .light_names import queue_of
from .part import Part
from .static_topics import Mapped
from .store import Put, PutStatus
from .topics import READ, WRITE
from .unique import UniqueKeys

if TYPE_CHECKING:
    from .core import Broker

_PLAIN: Final = (
    "producerGroup", "topic", "defaultTopic", "defaultTopicQueueNums", "queueId", "sysFlag", "bornTimestamp",
    "flag", "properties", "reconsumeTimes", "unitMode", "maxReconsumeTimes", "batch",
)  # fmt: skip
_SHORT: Final = tuple("abcdefghijklm")
"""The same names in 310, 320 and 325."""
_WITH_PLAIN_NAMES: Final = (RequestCode.SEND_MESSAGE, RequestCode.SEND_REPLY_MESSAGE)
_MULTI_TAG: Final = SysFlag.MULTI_TAGS.value
_UNIT, _UNIT_SUB = 1, 2
"""Bits of a topic's system flag."""


class Send(msgspec.Struct, gc=False):
    """What a send asks for, from either form of its header."""

    group: str | None
    topic: str
    default_topic: str | None
    default_queues: int | None
    queue_id: int
    sys_flag: int
    born_timestamp: int
    flag: int
    properties: dict[str, str]
    reconsume_times: int
    max_reconsume_times: int | None
    is_unit: bool
    is_batch: bool


class Sends(Part):
    """Answers sends."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.told: dict[str, str | None] = {
            "MSG_REGION": self.config.region_id,
            "TRACE_ON": "true" if self.config.trace_on else "false",
        }
        """What every answer to a send tells."""
        self._own_id = host_bytes(self.config.address).hex().upper()
        self._keys = UniqueKeys(self.config.broker_ip1, broker.chance)

    @answers(RequestCode.SEND_MESSAGE)
    @answers(RequestCode.SEND_MESSAGE_V2)
    @answers(RequestCode.SEND_BATCH_MESSAGE)
    def send(self, command: Command, connection: int, now: int) -> Reply | None:
        refused = self.broker.limits.send_refused()
        if refused is not None:
            return refused
        asked = self.asked(command)
        scope = self.scope(command)
        mapped = self.broker.static_topics.led(asked.topic, asked.queue_id, scope, chooses=True)
        if mapped is not None:
            asked.queue_id = mapped.last.queue_id
        if now < self.config.start_accept_send_request_time_stamp:
            return self.refusal(ResponseCode.SYSTEM_ERROR, self.too_early())
        topic = self.checked(asked, connection, now)
        if isinstance(topic, Reply):
            return topic
        if self.refuses_as_slave():
            return self.not_stored(PutStatus.SERVICE_NOT_AVAILABLE)
        queue_id = asked.queue_id if asked.queue_id >= 0 else self.any_queue(topic)
        waits = self.waits(asked.properties)
        if self.broker.replicated_sends.lacks_replicas(waits=waits):
            return self.refusal(ResponseCode.SYSTEM_ERROR, "in-sync replicas not enough")
        send = self.send_batch if asked.is_batch else self.send_one
        reply = send(command, asked, topic, queue_id, connection, now)
        if reply.code != ResponseCode.SUCCESS:
            return reply
        if mapped is not None:
            self.told_of(mapped, reply)
        return self.broker.replicated_sends.answer(reply, command, connection, now, waits=waits)

    def told_of(self, mapped: Mapped, reply: Reply) -> None:
        """The answer of a mapped queue: its number, and the offset in it."""
        assert reply.ext is not None
        offset = mapped.last.told(int(reply.ext["queueOffset"] or 0))
        reply.ext |= {"queueId": str(mapped.number), "queueOffset": str(offset)}

    def waits(self, properties: Mapping[str, str]) -> bool:
        """Whether a message is to be on slaves before its send is answered, where that can be."""
        return self.is_true(properties.get(PropertyName.WAIT_STORE_MSG_OK, "true"))

    # -- what is asked ---------------------------------------------------------------------------------------

    def asked(self, command: Command) -> Send:
        """The header of a send. Raises RefusedError."""
        ext: Ext = command.ext or {}
        is_plain = command.code in _WITH_PLAIN_NAMES
        names = _PLAIN if is_plain else _SHORT
        maybe = fields.int32 if is_plain else required.maybe_int32
        if self.profile.v5 and not command.body:
            raise RefusedError("the body is empty: expected a message")
        properties = ext.get(names[8])
        return Send(
            group=ext.get(names[0]),
            topic=required.text(ext, names[1]) if self.profile.v5 else ext.get(names[1]) or "",
            default_topic=ext.get(names[2]),
            default_queues=maybe(ext, names[3]),
            queue_id=required.int32(ext, names[4]),
            sys_flag=required.int32(ext, names[5]),
            born_timestamp=self.broker.of_client(required.int64(ext, names[6])),
            flag=required.int32(ext, names[7]),
            properties=decode_properties(properties) if properties else {},
            reconsume_times=maybe(ext, names[9]) or 0,
            max_reconsume_times=maybe(ext, names[11]),
            is_unit=self.is_true(ext.get(names[10])),
            is_batch=self.is_true(ext.get(names[12])),
        )

    def scope(self, command: Command) -> Ext:
        """Fields that may say whose queue is meant: short names have none for `lo`."""
        return (command.ext or {}) if command.code in _WITH_PLAIN_NAMES else {}

    def is_true(self, text: str | None) -> bool:
        """What a text means as a boolean."""
        return text is not None and text.lower() == "true"

    # -- whether it may be -----------------------------------------------------------------------------------

    def checked(self, asked: Send, connection: int, now: int) -> TopicConfig | Reply:
        """The topic of a send, made now if there was none; or the refusal."""
        topics = self.broker.topics
        topic = topics.get(asked.topic)
        if topic is not None and topic.order and not self.config.broker_permission & WRITE:
            remark = f"the broker[{self.config.broker_ip1}] sending message is forbidden"
            return self.refusal(ResponseCode.NO_PERMISSION, remark)
        fault = topics.fault(asked.topic)
        if fault is not None:
            return self.refusal(self.profile.invalid_parameter, fault)
        if topics.is_closed(asked.topic):
            remark = f"Sending message to topic[{asked.topic}] is forbidden."
            return self.refusal(ResponseCode.NO_PERMISSION, remark)
        if topic is None:
            topic = self.new_topic(asked, now)
            if topic is None:
                remark = f"topic[{asked.topic}] not exist, apply first please!{self.see()}"
                return self.refusal(ResponseCode.TOPIC_NOT_EXIST, remark)
        if asked.queue_id >= max(topic.write_queue_nums, topic.read_queue_nums):
            peer = self.broker.peer(connection)
            remark = f"request queueId[{asked.queue_id}] is illegal, {self.shown(topic)} Producer: {peer}"
            return self.refusal(self.profile.invalid_parameter, remark)
        return topic

    def new_topic(self, asked: Send, now: int) -> TopicConfig | None:
        """The topic that a send makes; None: it may not. Topics for retries are made in any case."""
        topics = self.broker.topics
        is_retry = asked.topic.startswith(TopicName.RETRY_PREFIX)
        flag = 0 if not asked.is_unit else _UNIT_SUB if is_retry else _UNIT
        if asked.default_topic is None or asked.default_queues is None:
            raise RefusedError(f"topic[{asked.topic}] not exist, and the send names no default topic")
        made = topics.create_by_send(asked.topic, asked.default_topic, asked.default_queues, flag, now)
        if made is None and is_retry:
            made = topics.create(asked.topic, 1, READ | WRITE, now, flag=flag)
        return made

    def any_queue(self, topic: TopicConfig) -> int:
        """The queue of a message whose producer does not mind."""
        if topic.write_queue_nums <= 0:
            raise RefusedError(f"topic[{topic.topic_name}] has no queue to write to")
        return self.broker.chance.below(topic.write_queue_nums)

    def too_early(self) -> str:
        """The remark before the time from which sends are taken on."""
        start = datetime.fromtimestamp(self.config.start_accept_send_request_time_stamp / 1000, UTC)
        text = start.strftime("%Y-%m-%d %H:%M:%S") + f",{start.microsecond // 1000:03d}"
        return f"broker unable to service, until {text}"

    def refuses_as_slave(self) -> bool:
        """Whether no message is stored, because this is a slave."""
        return self.config.is_slave

    def shown(self, topic: TopicConfig) -> str:
        """A topic as remarks show it."""
        perm = topic.perm
        letters = f"{'R' if perm & READ else '-'}{'W' if perm & WRITE else '-'}{'X' if perm & 1 else '-'}"
        pairs = ", ".join(f"{key}={value}" for key, value in (topic.attributes or {}).items())
        attributes = f", attributes={{{pairs}}}" if self.profile.v5 else ""
        return (
            f"TopicConfig [topicName={topic.topic_name}, readQueueNums={topic.read_queue_nums},"
            f" writeQueueNums={topic.write_queue_nums}, perm={letters},"
            f" topicFilterType={topic.topic_filter_type}, topicSysFlag={topic.topic_sys_flag},"
            f" order={str(topic.order).lower()}{attributes}]"
        )

    def see(self) -> str:
        """What ends the remarks of some refusals."""
        return f"\nSee {self.profile.faq} for further details."

    def refusal(self, code: int, remark: str | None) -> Reply:
        """A refusal, which tells what every answer to a send tells."""
        return Reply(code, ext=dict(self.told), remark=remark)

    # -- one message -----------------------------------------------------------------------------------------

    def send_one(
        self, command: Command, asked: Send, topic: TopicConfig, queue_id: int, connection: int, now: int
    ) -> Reply:
        """Store one message."""
        properties = asked.properties
        message = Message(
            topic=asked.topic,
            body=command.body,
            properties=properties,
            queue_id=queue_id,
            flag=asked.flag,
            sys_flag=asked.sys_flag,
            born_timestamp=asked.born_timestamp,
            born_host=self.broker.peer(connection),
            store_host=self.config.address,
            reconsume_times=asked.reconsume_times,
        )
        if asked.topic.startswith(TopicName.RETRY_PREFIX):
            refused = self.retried(message, asked, command.version, now)
            if refused is not None:
                return refused
            topic = self.broker.topics.get(message.topic) or topic
        if topic.topic_filter_type == "MULTI_TAG":
            message.sys_flag |= _MULTI_TAG
        self.complete(properties, now)
        if self.profile.v55 and (light := properties.get(PropertyName.LIGHT_TOPIC)):
            properties[PropertyName.LIGHT_QUEUES] = queue_of(asked.topic, light)
        if self.is_half(message) and self.config.reject_transaction_message:
            remark = f"the broker[{self.config.broker_ip1}] sending transaction message is forbidden"
            return self.refusal(ResponseCode.NO_PERMISSION, remark)
        if self.profile.v5 and message.sys_flag & SysFlag.INNER_BATCH:
            return self.not_stored(PutStatus.MESSAGE_ILLEGAL)  # no topic of this Broker stores batches whole
        put = self.stored(message, now)
        if put.status is not PutStatus.PUT_OK:
            return self.not_stored(put.status)
        self.broker.statistics.stored(asked.topic)
        reply = self.success(
            f"{self._own_id}{put.physical_offset:016X}", queue_id, put, properties.get(PropertyName.UNIQ_KEY)
        )
        if message.topic == TopicName.TIMER and reply.ext is not None:
            reply.ext["recallHandle"] = self.broker.timers.recall_handle(message)
        return reply

    def retried(self, message: Message, asked: Send, version: int, now: int) -> Reply | None:
        """A consumer sends back what it could not consume: after too many times it is a dead letter."""
        group_name = asked.topic[len(TopicName.RETRY_PREFIX) :]
        group = self.broker.groups.find(group_name, now)
        if group is None:
            remark = f"subscription group not exist, {group_name} {self.see()}"
            return self.refusal(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
        most = group.retry_max_times
        if version >= V3_4_9 and asked.max_reconsume_times is not None:
            most = asked.max_reconsume_times
        if self.is_dead(group_name, asked.reconsume_times, most, now):
            message.topic, message.queue_id = f"{TopicName.DLQ_PREFIX}{group_name}", 0
            self.broker.topics.create(message.topic, 1, READ | WRITE, now)
            if self.profile.v5:
                message.properties[PropertyName.DELAY_TIME_LEVEL] = "-1"
        return None

    def is_dead(self, group: str, times: int, most: int, now: int) -> bool:
        """Whether a message that was consumed in vain this often is a dead letter.

        In 5.x, one of a group that holds locks is at once: it would break the order.
        """
        if not self.profile.v5:
            return times >= most
        return times > most or self.broker.locks.holds_any(group, now)

    def complete(self, properties: dict[str, str], now: int) -> None:
        """What the Broker writes into the properties of a message, or takes out of them."""
        if self.profile.v5:
            properties["MSG_REGION"] = self.config.region_id
            properties["TRACE_ON"] = "true" if self.config.trace_on else "false"
            properties.pop(PropertyName.POP_CK, None)
            if not properties.get(PropertyName.UNIQ_KEY):
                properties[PropertyName.UNIQ_KEY] = self._keys.next(now)
        elif not (
            PropertyName.DELAY_TIME_LEVEL in properties or PropertyName.TRANSACTION_PREPARED in properties
        ):
            properties.pop(PropertyName.WAIT_STORE_MSG_OK, None)
        properties["CLUSTER"] = self.config.broker_cluster_name

    def is_half(self, message: Message) -> bool:
        """Whether a message is the first half of a transaction.

        In 5.x, not one that comes back for a retry, which old clients mark as such.
        """
        if message.properties.get(PropertyName.TRANSACTION_PREPARED, "").lower() != "true":
            return False
        if not self.profile.v5:
            return True
        delay = fields.int32(message.properties, PropertyName.DELAY_TIME_LEVEL) or 0
        return not (message.reconsume_times > 0 and delay > 0)

    def stored(self, message: Message, now: int) -> Put:
        """Store what was checked: now, for later, or as the first half of a transaction."""
        if self.is_half(message):
            return self.broker.transactions.prepare(message, now)
        return self.broker.delays.put(message, now)

    # -- several messages ------------------------------------------------------------------------------------

    def send_batch(
        self, command: Command, asked: Send, topic: TopicConfig, queue_id: int, connection: int, now: int
    ) -> Reply:
        """Store several messages, all or none: neither for retries, nor delayed, nor of transactions."""
        if self.profile.v5 and asked.topic.startswith(TopicName.RETRY_PREFIX):
            remark = f"batch request does not support retry group {asked.topic}"
            return self.refusal(ResponseCode.MESSAGE_ILLEGAL, remark)
        if not self.may_be_batch(asked):
            return self.not_stored(PutStatus.MESSAGE_ILLEGAL)
        if self.is_too_large(command.body):
            if self.profile.v5:
                raise RefusedError("message body size exceeded")
            return self.not_stored(PutStatus.MESSAGE_ILLEGAL)
        sys_flag = asked.sys_flag | (_MULTI_TAG if topic.topic_filter_type == "MULTI_TAG" else 0)
        try:
            messages = decode_batch(command.body, asked.topic)
        except WireError as error:
            raise RefusedError(f"the body is no batch: {error}") from error
        peer, common = self.broker.peer(connection), self.of_each(asked)
        for message in messages:
            message.properties |= common
            message.queue_id = queue_id
            message.sys_flag = sys_flag
            message.born_timestamp = asked.born_timestamp
            message.born_host = peer
            message.store_host = self.config.address
            message.reconsume_times = asked.reconsume_times
        if not messages:
            raise RefusedError("the body is empty: expected messages")
        puts = self.broker.store.put_batch(messages, now)
        if puts[0].status is not PutStatus.PUT_OK:
            return self.not_stored(puts[0].status)
        self.broker.statistics.stored(asked.topic)
        ids = ",".join(f"{self._own_id}{put.physical_offset:016X}" for put in puts)
        return self.success(ids, queue_id, puts[0], asked.properties.get(PropertyName.UNIQ_KEY))

    def of_each(self, asked: Send) -> dict[str, str]:
        """The properties that each message of a batch has beside its own: none in 5.5."""
        if self.profile.v55:
            return {}
        common = {**asked.properties, "CLUSTER": self.config.broker_cluster_name}
        if self.profile.v5:
            common |= {"MSG_REGION": self.config.region_id, "TRACE_ON": self.told["TRACE_ON"] or ""}
            common.pop(PropertyName.POP_CK, None)
        return common

    def is_too_large(self, batch: bytes) -> bool:
        """Whether the body of a batch is too long: what its messages take of the log does not count."""
        return len(batch) > self.config.max_message_size

    def may_be_batch(self, asked: Send) -> bool:
        """Whether messages may be stored in one go."""
        delay = fields.int32(asked.properties, PropertyName.DELAY_TIME_LEVEL) or 0
        is_transaction = asked.sys_flag & SysFlag.TRANSACTION_ROLLBACK.value
        return not is_transaction and delay <= 0

    # -- answers ---------------------------------------------------------------------------------------------

    def closed(self) -> str:
        """The remark where nothing is stored: the disk is full, or this is a slave."""
        used = f"{self.broker.store.space().used:5.2f}"
        return (
            "service not available now. It may be caused by one of the following reasons: the broker's disk"
            f" is full [CL: {used} CQ: {used} INDEX: {used}], messages are put to the slave, message store"
            " has been shut down, etc."
        )

    def success(self, message_id: str, queue_id: int, put: Put, key: str | None) -> Reply:
        """The answer to a send that was stored; `key` is the id that its producer gave."""
        ext: dict[str, str | None] = {
            **self.told,
            "msgId": message_id,
            "queueId": str(queue_id),
            "queueOffset": str(put.queue_offset),
        }
        if self.profile.v5 and key is not None:
            ext["transactionId"] = key
        return Reply(ResponseCode.SUCCESS, ext=ext)

    def not_stored(self, status: PutStatus) -> Reply:
        """The answer to a send that was not stored."""
        return self.refusal(*self.fault(status))

    def fault(self, status: PutStatus) -> tuple[int, str]:
        """Why a message was not stored, as code and remark."""
        config = self.config
        if status is PutStatus.SERVICE_NOT_AVAILABLE:
            return ResponseCode.SERVICE_NOT_AVAILABLE, self.closed()
        if status is PutStatus.WHEEL_TIMER_NOT_ENABLE:
            remark = "accurate timer message is not enabled, timerWheelEnable is false"
            return ResponseCode.SYSTEM_ERROR, remark
        if status is PutStatus.WHEEL_TIMER_MSG_ILLEGAL:
            return (
                ResponseCode.MESSAGE_ILLEGAL,
                "timer message illegal, the delay time should not be bigger than the max delay"
                f" {config.timer_max_delay_sec * 1000}ms; or if set del msg, the delay time should be bigger"
                " than the current time",
            )
        return (
            ResponseCode.MESSAGE_ILLEGAL,
            "the message is illegal, maybe msg body or properties length not matched."
            f" msg body length limit {config.max_message_size}B, msg properties length limit 32KB.",
        )
