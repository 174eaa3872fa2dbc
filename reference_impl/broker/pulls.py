"""Pulls (11, and 361 of 5.x): messages of one queue from an offset on, for one group.

1. Refused in Apache's order: Broker, group, topic, queue, subscription, filter.
2. A pull that finds nothing at the end of its queue may wait once (`long_polling.py`), if it says so.
3. A pull may say how far its group has consumed; that counts when it is carried out for the first time.

Source: PullMessageProcessor of rocketmq-all-4.9.8; PullMessageProcessor, DefaultPullMessageResultHandler,
FilterAPI, ExpressionMessageFilter of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import MessageQueue, Subscription, SubscriptionGroup
from harness.wire.fastjson import document
from harness.wire.messages import Message, PropertyName, TopicName, tag_hash
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .filters import TAG
from .limits import OVERLOAD
from .long_polling import Held
from .mappings import QueuePart
from .other_brokers import Steps
from .part import Part
from .static_topics import NOT_FOUND, Mapped
from .store import GetStatus, Got, Wanted
from .topics import READ

COMMITS: Final = 1
WAITS: Final = 2
SUBSCRIBES: Final = 4
"""Bits of a pull's system flag: it commits an offset, it may wait, it brings its own subscription."""

_ANSWERS: Final = (
    ResponseCode.SUCCESS,
    ResponseCode.PULL_NOT_FOUND,
    ResponseCode.PULL_RETRY_IMMEDIATELY,
    ResponseCode.PULL_OFFSET_MOVED,
)
"""What a pull comes to that is not refused."""
_BY_BROKER, _BY_GROUP, _BY_TOPIC, _BY_BROADCASTING = 1, 2, 3, 4
"""5.x: who forbids a pull (`forbiddenType`)."""


class Pull(msgspec.Struct, gc=False):
    """What a pull asks for."""

    group: str
    topic: str
    queue_id: int
    offset: int
    most: int
    sys_flag: int
    committed: int | None
    wait: int | None
    """ms."""
    sub_version: int | None
    subscription: str | None
    expression_type: str | None
    mapped: Mapped | None = None
    """5.x: the queue of a static topic that it is about; queue and offset are those of `part` then."""
    part: QueuePart | None = None


class Pulls(Part):
    """Answers pulls."""

    @answers(RequestCode.PULL_MESSAGE)
    @answers(RequestCode.LITE_PULL_MESSAGE, v5=True)
    def pull(self, command: Command, connection: int, now: int) -> Reply | None:
        """For the first time."""
        refused = self.broker.limits.pull_refused()
        return refused if refused is not None else self._pull(command, connection, now, may_wait=True)

    def pull_again(self, command: Command, connection: int, now: int) -> Reply | None:
        """A pull that has waited; None: its queue has gone on, and another Broker is asked now."""
        try:
            return self._pull(command, connection, now, may_wait=False)
        except RefusedError as refused:
            return refused.reply()

    def _pull(self, command: Command, connection: int, now: int, *, may_wait: bool) -> Reply | None:
        asked = self.asked(command)
        self.check(asked)
        self.place(asked, command.ext or {})
        allowed = self.allowed(command.code, asked, connection, now)
        if isinstance(allowed, Reply):
            return allowed
        group, wanted = allowed
        if self.is_elsewhere(asked):
            steps = self.read_elsewhere(asked, command)
            return self.broker.other_brokers.conduct(steps, command, connection)
        reset = self.broker.offsets.take_reset(asked.group, asked.topic, asked.queue_id)
        if reset is None:
            store = self.broker.store
            got = store.get(asked.topic, asked.queue_id, asked.offset, asked.most, wanted)
            reply = self.answered(asked, got, group)
        else:
            reply = self.reset(asked, reset, group)
        if asked.mapped is not None and asked.part is not None:
            self.broker.static_topics.told_of(asked.mapped, asked.part, asked.offset, reply)
        if may_wait and asked.sys_flag & COMMITS and asked.committed is not None and self.may_commit():
            self.broker.offsets.commit(asked.group, asked.topic, asked.queue_id, asked.committed, now)
        if reply.code == ResponseCode.PULL_NOT_FOUND and may_wait and asked.sys_flag & WAITS:
            return self.held(asked, wanted, command, connection, now)
        if reply.code == ResponseCode.PULL_OFFSET_MOVED:
            self.moved(asked, reply, group, now)
        return reply

    # -- what is asked ---------------------------------------------------------------------------------------

    def asked(self, command: Command) -> Pull:
        """The header of a pull. Raises RefusedError."""
        ext: Ext = command.ext or {}
        return Pull(
            group=required.text(ext, "consumerGroup"),
            topic=required.text(ext, "topic"),
            queue_id=required.int32(ext, "queueId"),
            offset=required.int64(ext, "queueOffset"),
            most=required.int32(ext, "maxMsgNums"),
            sys_flag=required.int32(ext, "sysFlag"),
            committed=required.maybe_int64(ext, "commitOffset"),
            wait=required.maybe_int64(ext, "suspendTimeoutMillis"),
            sub_version=required.maybe_int64(ext, "subVersion"),
            subscription=ext.get("subscription"),
            expression_type=ext.get("expressionType"),
        )

    def check(self, asked: Pull) -> None:
        """Raises RefusedError where a field is missing that this pull makes use of, or a number is none."""
        for bit, value, name in (
            (COMMITS, asked.committed, "commitOffset"),
            (WAITS, asked.wait, "suspendTimeoutMillis"),
        ):
            if asked.sys_flag & bit and value is None:
                raise RefusedError(f"the custom field <{name}> is null")
        if not asked.sys_flag & SUBSCRIBES and asked.sub_version is None:
            raise RefusedError("the custom field <subVersion> is null")
        if asked.most < 0 and not self.profile.v5:
            raise RefusedError(f"maxMsgNums is {asked.most}: expected 0 or more")

    def place(self, asked: Pull, ext: Ext) -> None:
        """Finds the queue and the offset that a pull from a static topic is about."""
        asked.mapped = self.broker.static_topics.led(asked.topic, asked.queue_id, ext, NOT_FOUND)
        if asked.mapped is not None:
            part = asked.part = asked.mapped.part_of(asked.offset)
            asked.queue_id, asked.offset = part.queue_id, part.unmapped(asked.offset)
            if part.has_end:
                asked.most = min(asked.most, part.end_offset - part.start_offset)

    def is_elsewhere(self, asked: Pull) -> bool:
        """5.x: whether a pull is about a queue of another Broker."""
        return asked.part is not None and not self.broker.static_topics.is_here(asked.part)

    # -- whether it may be -----------------------------------------------------------------------------------

    def allowed(
        self, code: int, asked: Pull, connection: int, now: int
    ) -> tuple[SubscriptionGroup, Wanted | None] | Reply:
        """The group of a pull and its filter; or the refusal."""
        own = self.config.broker_ip1
        if not self.config.broker_permission & READ:
            return self.forbidden(_BY_BROKER, f"the broker[{own}] pulling message is forbidden")
        if code == RequestCode.LITE_PULL_MESSAGE and not self.config.lite_pull_message_enable:
            return self.forbidden(_BY_BROKER, f"the broker[{own}] for lite pull consumer is forbidden")
        group = self.broker.groups.find(asked.group, now)
        if group is None:
            remark = f"subscription group [{asked.group}] does not exist, {self.see()}"
            return Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, ext={}, remark=remark)
        if not group.consume_enable:
            return self.forbidden(_BY_GROUP, f"subscription group no permission, {asked.group}")
        topic = self.broker.topics.get(asked.topic)
        if topic is None:
            remark = f"topic[{asked.topic}] not exist, apply first please! {self.see()}"
            return Reply(ResponseCode.TOPIC_NOT_EXIST, ext={}, remark=remark)
        if not topic.perm & READ:
            return self.forbidden(_BY_TOPIC, f"the topic[{asked.topic}] pulling message is forbidden")
        if not (self.is_elsewhere(asked) or 0 <= asked.queue_id < topic.read_queue_nums):
            remark = (
                f"queueId[{asked.queue_id}] is illegal, topic:[{asked.topic}]"
                f" topicConfig.readQueueNums:[{topic.read_queue_nums}]"
                f" consumer:[/{self.broker.peer(connection)}]"
            )
            return Reply(self.profile.invalid_parameter, ext={}, remark=remark)
        subscription = self.subscription(asked, group)
        if isinstance(subscription, Reply):
            return subscription
        wanted = self.wanted(asked, subscription)
        return wanted if isinstance(wanted, Reply) else (group, wanted)

    def subscription(self, asked: Pull, group: SubscriptionGroup) -> Subscription | Reply:
        """What a pull wants of its topic: what it says itself, or what its group's heartbeats said."""
        if asked.sys_flag & SUBSCRIBES:
            own = self.own_subscription(asked.subscription, asked.expression_type)
            if own is None:
                remark = "parse the consumer's subscription failed"
                return Reply(ResponseCode.SUBSCRIPTION_PARSE_FAILED, ext={}, remark=remark)
            return own
        online = self.broker.clients.consumers.get(asked.group)
        if online is None:
            remark = f"the consumer's group info not exist{self.see()}"
            return Reply(ResponseCode.SUBSCRIPTION_NOT_EXIST, ext={}, remark=remark)
        if online.is_broadcasting and not group.consume_broadcast_enable:
            remark = f"the consumer group[{asked.group}] can not consume by broadcast way"
            return self.forbidden(_BY_BROADCASTING, remark)
        found = online.subscriptions.get(asked.topic)
        if found is None:
            remark = f"the consumer's subscription not exist{self.see()}"
            return Reply(ResponseCode.SUBSCRIPTION_NOT_EXIST, ext={}, remark=remark)
        if (found.sub_version or 0) < (asked.sub_version or 0):
            remark = "the consumer's subscription not latest"
            return Reply(ResponseCode.SUBSCRIPTION_NOT_LATEST, ext={}, remark=remark)
        return found

    def own_subscription(self, text: str | None, kind: str | None) -> Subscription | None:
        """The subscription that a pull or a pop brings; None: it cannot be read."""
        if kind is not None and kind != "TAG":
            return Subscription(expression_type=kind, sub_string=text) if text else None
        if not text or text == "*":
            return Subscription(sub_string="*")
        parts = text.split("||")
        while parts and not parts[-1]:
            parts.pop()
        if not parts:
            return None
        tags = [tag for part in parts if (tag := part.strip())]
        return Subscription(sub_string=text, tags_set=tags, code_set=[tag_hash(tag) for tag in tags])

    def wanted(self, asked: Pull, subscription: Subscription) -> Wanted | Reply | None:
        """Which messages a pull wants (None: each); or the refusal of its filter."""
        filters, kind = self.broker.filters, subscription.expression_type or TAG
        if kind == TAG:
            return self.filter(subscription)
        found: Wanted | Reply | None
        if asked.sys_flag & SUBSCRIBES:
            found = filters.brought(kind, subscription.sub_string)
        else:
            found = filters.said(kind, asked.topic, asked.group, asked.sub_version or 0)
        if isinstance(found, Reply):
            return found
        if subscription.class_filter_mode:
            return None
        if filters.looks_at_first_topic(asked.topic):
            return filters.of_first_topic(asked.topic.removeprefix(TopicName.RETRY_PREFIX))
        return found

    def filter(self, subscription: Subscription) -> Wanted | None:
        """Which messages a filter by tags wants; None: each."""
        if subscription.class_filter_mode or subscription.sub_string == "*":
            return None
        return Wanted(tags=frozenset(subscription.code_set))

    def forbidden(self, by: int, remark: str) -> Reply:
        """A refusal for want of permission; 5.x says whose."""
        ext: dict[str, str | None] = {"forbiddenType": str(by)} if self.profile.v5 else {}
        return Reply(ResponseCode.NO_PERMISSION, ext=ext, remark=remark)

    def see(self) -> str:
        """What ends the remarks of some refusals."""
        return f"\nSee {self.profile.faq} for further details."

    # -- what another Broker finds ---------------------------------------------------------------------------

    def read_elsewhere(self, asked: Pull, command: Command) -> Steps:
        """What the Broker says that has the part. It neither waits there nor commits."""
        assert asked.mapped is not None
        assert asked.part is not None
        answer = yield self.broker.other_brokers.question(
            command,
            asked.part,
            *_ANSWERS,
            queueOffset=asked.offset,
            maxMsgNums=asked.most,
            sysFlag=asked.sys_flag & ~(COMMITS | WAITS),
        )
        reply = Reply(answer.code, body=answer.body, ext=dict(answer.ext or {}), remark="")
        self.broker.static_topics.told_of(asked.mapped, asked.part, asked.offset, reply)
        return reply

    # -- what is found ---------------------------------------------------------------------------------------

    def answered(self, asked: Pull, got: Got, group: SubscriptionGroup) -> Reply:
        """The answer to what was found."""
        reply = Reply(
            self.code(got.status, asked.offset),
            ext={
                "suggestWhichBrokerId": str(self.suggested(group)),
                "nextBeginOffset": str(self.next_offset(asked, got)),
                "minOffset": str(got.min_offset),
                "maxOffset": str(got.max_offset),
            },
            remark=got.status.name,
        )
        if got.frames:
            reply.body = b"".join(got.frames)
        return self.of_line(reply, asked.topic, group)

    def code(self, status: GetStatus, offset: int) -> int:
        """The code for what the store found at an offset."""
        if status is GetStatus.FOUND:
            return ResponseCode.SUCCESS
        if status is GetStatus.OFFSET_OVERFLOW_ONE:
            return ResponseCode.PULL_NOT_FOUND
        if status is GetStatus.NO_MATCHED_MESSAGE:
            return ResponseCode.PULL_RETRY_IMMEDIATELY
        if status is GetStatus.NO_MESSAGE_IN_QUEUE and offset == 0:
            return ResponseCode.PULL_NOT_FOUND
        return ResponseCode.PULL_OFFSET_MOVED

    def next_offset(self, asked: Pull, got: Got) -> int:
        """From where the consumer goes on. A slave corrects no consumer: its master may have more."""
        found = got.status in (GetStatus.FOUND, GetStatus.NO_MATCHED_MESSAGE)
        return got.next_offset if found or self.corrects() else asked.offset

    def corrects(self) -> bool:
        """Whether the answer sends consumers to another offset."""
        return not self.config.is_slave or self.config.offset_check_in_slave

    def suggested(self, group: SubscriptionGroup) -> int:
        """The id of the Broker that the next pull had better go to."""
        return group.broker_id if self.config.slave_read_enable else 0

    def of_line(self, reply: Reply, topic: str, group: SubscriptionGroup) -> Reply:
        """The answer with what the line adds: 5.x the flags of topic and group."""
        if not self.profile.v5:
            return reply
        config = self.broker.topics.get(topic)
        assert reply.ext is not None
        reply.ext["topicSysFlag"] = str(0 if config is None else config.topic_sys_flag)
        reply.ext["groupSysFlag"] = str(group.group_sys_flag or 0)
        return reply

    def reset(self, asked: Pull, offset: int, group: SubscriptionGroup) -> Reply:
        """5.x: the answer that tells a consumer of an offset that an administrator has set."""
        store = self.broker.store
        ext: dict[str, str | None] = {
            "suggestWhichBrokerId": str(self.suggested(group)),
            "nextBeginOffset": str(offset),
            "minOffset": str(store.min_offset(asked.topic, asked.queue_id)),
            "maxOffset": str(store.max_offset(asked.topic, asked.queue_id)),
        }
        reply = Reply(ResponseCode.PULL_OFFSET_MOVED, ext=ext, remark="OFFSET_RESET")
        return self.of_line(reply, asked.topic, group)

    def may_commit(self) -> bool:
        """Whether a pull may commit an offset here: in 4.9 not on a slave."""
        return self.profile.v5 or not self.config.is_slave

    def held(
        self, asked: Pull, wanted: Wanted | None, command: Command, connection: int, now: int
    ) -> Reply | None:
        """Let a pull wait; or the busy answer."""
        held = self.broker.long_polling
        if not self.broker.limits.may_hold(held.count):
            return self.broker.limits.busy(OVERLOAD)
        until = now + self.wait(asked)
        held.hold(Held(command, connection, asked.topic, asked.queue_id, asked.offset, wanted, until), now)
        return None

    def wait(self, asked: Pull) -> int:
        """For how long a pull waits, ms."""
        return (asked.wait or 0) if self.config.long_polling_enable else self.config.short_polling_time_mills

    def moved(self, asked: Pull, reply: Reply, group: SubscriptionGroup, now: int) -> None:
        """Send a consumer to another offset: a slave says so in milder words, and 4.9 keeps a record."""
        assert reply.ext is not None
        if not self.corrects():
            reply.code = ResponseCode.PULL_RETRY_IMMEDIATELY
            reply.ext["suggestWhichBrokerId"] = str(group.broker_id)
        elif self.records_moves():
            self.record_move(asked, int(reply.ext["nextBeginOffset"] or 0), now)

    def records_moves(self) -> bool:
        """Whether corrections are kept as messages (4.9)."""
        return not self.profile.v5

    def record_move(self, asked: Pull, offset: int, now: int) -> None:
        """Store a message about a correction."""
        queue = MessageQueue(self.config.broker_name, asked.queue_id, asked.topic)
        event = {
            "consumerGroup": asked.group,
            "messageQueue": queue.document(),
            "offsetNew": offset,
            "offsetRequest": asked.offset,
        }
        message = Message(
            topic=TopicName.OFFSET_MOVED_EVENT,
            body=document(event),
            properties={
                PropertyName.KEYS: asked.group,
                PropertyName.DELAY_TIME_LEVEL: "0",
                PropertyName.TAGS: asked.group,
            },
            born_timestamp=now,
            born_host=self.config.address,
            store_host=self.config.address,
        )
        self.broker.store.put(message, now)
