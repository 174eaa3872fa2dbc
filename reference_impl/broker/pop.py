"""Pops (200050 of 5.x): messages of any queue for a group, hidden from its other members for a while.

1. Refused in Apache's order: the time of the request, Broker, number, wheel, topic, queue, group, filter.
2. What a group popped counts as consumed, and is kept as a checkpoint until it is acknowledged; where
   messages are popped in order it counts when it is acknowledged. A message that comes again does so under
   its own topic, with its handle as a property.
3. A share of the pops looks for messages that come again first; the others look for them last.
4. A pop that finds nothing waits, if it may.

Source: PopMessageProcessor of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.messages import PropertyName, TopicName, decode_message
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from . import required
from .filters import TAG
from .part import Part
from .pop_checkpoints import PopOf
from .pop_terms import ORDERED, Handle, kind_of, offsets_info, retry_topic, start_info
from .pop_waiting import ANY_QUEUE, FULL, HELD, LATE, Waiter
from .store import GetStatus, Wanted
from .topics import READ

if TYPE_CHECKING:
    from harness.wire.bodies import Subscription, TopicConfig

_MOST: Final = 32
TOO_LATE: Final = 500
"""ms after its time from which on a pop is not carried out."""
_FROM_THE_BEGINNING: Final = 0
_QUEUE_OFFSET: Final = slice(20, 28)
"""Where in a stored message its queue offset is."""


class Pop(msgspec.Struct, kw_only=True):
    """What a pop asks for."""

    group: str
    topic: str
    queue_id: int
    most: int
    invisible: int
    poll: int
    born: int
    init_mode: int
    expression: str | None
    expression_type: str | None
    order: bool
    attempt: str | None


class Found(msgspec.Struct):
    """What a pop has come to."""

    pop: Pop
    wanted: Wanted | None
    time: int
    revive_queue: int
    frames: list[bytes] = []
    starts: list[str] = []
    offsets: list[str] = []
    counts: list[str] = []
    rest: int = 0

    @property
    def room(self) -> int:
        return self.pop.most - len(self.frames)


class Pops(Part):
    """Answers pops."""

    @answers(RequestCode.POP_MESSAGE, v5=True)
    def pop(self, command: Command, connection: int, now: int) -> Reply | None:
        asked = self.asked(command, now)
        refused = self.refused(asked, connection, now)
        if refused is not None:
            return refused
        text, kind = (asked.expression, asked.expression_type) if asked.expression else ("*", None)
        subscription = self.broker.pulls.own_subscription(text, kind)
        wanted = self.no_filter() if subscription is None else self.wanted(subscription)
        if isinstance(wanted, Reply):
            return wanted
        return self.carry_out(asked, wanted, command, connection, now)

    def carry_out(
        self, asked: Pop, wanted: Wanted | None, command: Command, connection: int, now: int
    ) -> Reply | None:
        """A pop that may be, for the first time or once more. None: it waits."""
        if self.is_too_late(asked, now):
            return self.too_late()
        topic = self.broker.topics.get(asked.topic)
        if topic is None:
            return self.unknown_topic(asked.topic)
        found = self.find(asked, wanted, topic, now)
        if found.rest and asked.most > 0:
            self.broker.pop_waiting.has_more(asked.topic, asked.group, max(asked.queue_id, ANY_QUEUE))
        if found.frames:
            return self.answered(found, ResponseCode.SUCCESS)
        waiter = Waiter(
            command=command,
            connection=connection,
            topic=asked.topic,
            group=asked.group,
            queue_id=asked.queue_id,
            until=asked.born + asked.poll,
            wanted=wanted,
            again=lambda now, until: self.carry_out(
                msgspec.structs.replace(asked, born=until - asked.poll), wanted, command, connection, now
            ),
        )
        held = self.broker.pop_waiting.hold(waiter, now) if asked.poll > 0 else LATE
        if held == HELD:
            return None
        full = held == FULL
        return self.answered(found, ResponseCode.POLLING_FULL if full else ResponseCode.POLLING_TIMEOUT)

    # -- what is asked ---------------------------------------------------------------------------------------

    def asked(self, command: Command, now: int) -> Pop:
        """The header of a pop. Raises RefusedError."""
        ext: Ext = command.ext or {}
        return Pop(
            group=required.text(ext, "consumerGroup"),
            topic=required.text(ext, "topic"),
            queue_id=fields.int32(ext, "queueId") or 0,
            most=fields.int32(ext, "maxMsgNums") or 0,
            invisible=fields.int64(ext, "invisibleTime") or 0,
            poll=fields.int64(ext, "pollTime") or 0,
            born=self.born(ext, now),
            init_mode=fields.int32(ext, "initMode") or 0,
            expression=ext.get("exp"),
            expression_type=ext.get("expType"),
            order=fields.boolean(ext, "order") is True,
            attempt=ext.get("attemptId"),
        )

    def born(self, ext: Ext, now: int) -> int:
        """When a client began to wait, by the Broker's clock."""
        named = fields.int64(ext, "bornTime")
        return self.broker.of_client(named) if named else now

    def refused(self, asked: Pop, connection: int, now: int) -> Reply | None:
        """The refusal of a pop; None: it may be, as far as that does not depend on its filter."""
        own = self.config.broker_ip1
        if self.is_too_late(asked, now):
            return self.too_late()
        if not self.config.broker_permission & READ:
            remark = f"the broker[{own}] pop message is forbidden"
            return self.refusal(ResponseCode.NO_PERMISSION, remark)
        if self.is_too_much(asked.most):
            remark = f"the broker[{own}] pop message's num is greater than 32"
            return self.refusal(ResponseCode.INVALID_PARAMETER, remark)
        if not self.config.timer_wheel_enable:
            remark = f"the broker[{own}] pop message is forbidden because timerWheelEnable is false"
            return self.refusal(ResponseCode.SYSTEM_ERROR, remark)
        return self.place_refused(asked.group, asked.topic, asked.queue_id, connection, now)

    def wanted(self, subscription: Subscription) -> Wanted | Reply | None:
        """Which messages a pop wants (None: each); or the refusal of its filter."""
        kind = subscription.expression_type or TAG
        if kind == TAG:
            return self.broker.pulls.filter(subscription)
        selector = self.broker.filters.selector(kind, subscription.sub_string)
        return self.no_filter() if selector is None else Wanted(properties=selector.wants)

    def no_filter(self) -> Reply:
        """The refusal of a filter that cannot be read."""
        remark = "parse the consumer's subscription failed"
        return self.refusal(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark)

    def place_refused(self, group: str, topic: str, queue_id: int, connection: int, now: int) -> Reply | None:
        """The refusal of what any of a group asks of a queue, or of all (below 0); None: it may be."""
        known = self.broker.topics.get(topic)
        if known is None:
            return self.unknown_topic(topic)
        if not known.perm & READ:
            return self.refusal(
                ResponseCode.NO_PERMISSION, f"the topic[{topic}] peeking message is forbidden"
            )
        if queue_id >= known.read_queue_nums:
            return self.refusal(ResponseCode.INVALID_PARAMETER, self.no_queue(known, queue_id, connection))
        config = self.broker.groups.find(group, now)
        if config is None:
            remark = f"subscription group [{group}] does not exist, {self.broker.pulls.see()}"
            return self.refusal(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
        if not config.consume_enable:
            return self.refusal(ResponseCode.NO_PERMISSION, f"subscription group no permission, {group}")
        return None

    def unknown_topic(self, topic: str) -> Reply:
        """The refusal of a topic that does not exist, or does not any longer."""
        remark = f"topic[{topic}] not exist, apply first please! {self.broker.pulls.see()}"
        return self.refusal(ResponseCode.TOPIC_NOT_EXIST, remark)

    def no_queue(self, topic: TopicConfig, queue_id: int, connection: int) -> str:
        """The remark about a queue that a topic does not have."""
        return (
            f"queueId[{queue_id}] is illegal, topic:[{topic.topic_name}]"
            f" topicConfig.readQueueNums:[{topic.read_queue_nums}]"
            f" consumer:[/{self.broker.peer(connection)}]"
        )

    def refusal(self, code: int, remark: str) -> Reply:
        """A refusal: its numbers are there and mean nothing."""
        ext: dict[str, str | None] = dict.fromkeys(("popTime", "invisibleTime", "reviveQid", "restNum"), "0")
        return Reply(code, ext=ext, remark=remark)

    def too_late(self) -> Reply:
        """The answer to a pop whose client has stopped waiting."""
        remark = f"the broker[{self.config.broker_ip1}] pop message is timeout too much"
        return self.refusal(ResponseCode.POLLING_TIMEOUT, remark)

    # -- what is found ---------------------------------------------------------------------------------------

    def find(self, asked: Pop, wanted: Wanted | None, topic: TopicConfig, now: int) -> Found:
        """Take messages for a group."""
        number = self.broker.chance.below(100)
        revive_queue = ORDERED if asked.order else self.broker.checkpoints.next_queue()
        found = Found(asked, wanted, now, revive_queue)
        again_first = number < self.config.pop_from_retry_probability
        again = None if asked.order else self.broker.topics.get(self.retry_topic(asked, number))
        if again is not None and again_first:
            self.take_all(found, again, number, now)
        if asked.queue_id < 0:
            self.take_all(found, topic, number, now)
        else:
            self.take(found, asked.topic, asked.queue_id, now)
        if again is not None and not again_first and not self.has_enough(found):
            self.take_all(found, again, number, now)
        return found

    def has_enough(self, found: Found) -> bool:
        """Whether so much is found that what comes again is not looked at any more, and does not count."""
        return found.room <= 0

    def retry_topic(self, asked: Pop, number: int) -> str:
        """Where to look for messages that come again: with two such topics, in either half of the time."""
        config = self.config
        older = config.retrieve_message_from_pop_retry_topic_v1 and number % 2 == 0
        return retry_topic(asked.group, asked.topic, v2=config.enable_retry_topic_v2 and not older)

    def take_all(self, found: Found, topic: TopicConfig, number: int, now: int) -> None:
        """Take from all queues of a topic, beginning somewhere."""
        queues = topic.read_queue_nums
        for more in range(queues):
            self.take(found, topic.topic_name or "", (number + more) % queues, now)

    def take(self, found: Found, topic: str, queue_id: int, now: int) -> None:
        """Take from a queue as much as is still wanted."""
        pop, store, offsets = found.pop, self.broker.store, self.broker.offsets
        queue = (topic, pop.group, queue_id)
        start = self.start(pop, topic, queue_id, now)
        if pop.order and self.broker.pop_order.blocks(queue, pop.attempt, now):
            return
        if found.room <= 0:
            found.rest += store.max_offset(topic, queue_id) - start
            return
        got = store.get(topic, queue_id, start, found.room, found.wanted)
        if got.status in (GetStatus.OFFSET_TOO_SMALL, GetStatus.OFFSET_OVERFLOW_BADLY):
            start = got.next_offset
            offsets.commit(pop.group, topic, queue_id, start, now)
            got = store.get(topic, queue_id, start, found.room, found.wanted)
        if got.frames:
            taken = [int.from_bytes(frame[_QUEUE_OFFSET]) for frame in got.frames]
            if pop.order:
                entries = self.broker.pop_order.give(queue, taken, pop.invisible, pop.attempt, now)
                found.counts.append(entries)
            else:
                of = PopOf(topic, pop.group, queue_id, start, now)
                if not self.keep(of, taken, found, now):
                    return
                offsets.commit(pop.group, topic, queue_id, got.next_offset, now)
            found.starts.append(start_info(topic, queue_id, start))
            found.offsets.append(offsets_info(topic, queue_id, taken))
        elif got.status is GetStatus.NO_MATCHED_MESSAGE:
            offsets.commit(pop.group, topic, queue_id, got.next_offset, now)
        found.rest += got.max_offset - got.next_offset
        found.frames += [self.as_given(frame, found, topic, start) for frame in got.frames]

    def start(self, pop: Pop, topic: str, queue_id: int, now: int) -> int:
        """From where a group goes on in a queue."""
        offsets = self.broker.offsets
        reset = offsets.take_reset(pop.group, topic, queue_id)
        if reset is not None:
            self.broker.pop_order.clear((topic, pop.group, queue_id))
            offsets.commit(pop.group, topic, queue_id, reset, now)
            return reset
        known = offsets.offset_of(pop.group, topic, queue_id)
        if known is None:
            known = self.first(pop, topic, queue_id)
            offsets.commit(pop.group, topic, queue_id, known, now)
        return known

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def is_too_late(self, asked: Pop, now: int) -> bool:
        """Whether the client has stopped waiting for the answer."""
        return now - asked.born - asked.poll > TOO_LATE

    def is_too_much(self, most: int) -> bool:
        """Whether a pop asks for too many messages."""
        return most > _MOST

    def first(self, pop: Pop, topic: str, queue_id: int) -> int:
        """Where a group begins that never consumed a queue: with the first message, or with the last one."""
        store = self.broker.store
        least = store.min_offset(topic, queue_id)
        if pop.init_mode == _FROM_THE_BEGINNING or topic.startswith(TopicName.RETRY_PREFIX):
            return least
        if self.config.init_pop_offset_by_check_msg_in_mem and least <= 0:
            return 0
        return max(0, store.max_offset(topic, queue_id) - 1)

    def keep(self, of: PopOf, offsets: list[int], found: Found, now: int) -> bool:
        """Keep what was taken from a queue until it is acknowledged. False: that cannot be."""
        return self.broker.checkpoints.add(of, offsets, found.pop.invisible, found.revive_queue, now)

    def as_given(self, frame: bytes, found: Found, topic: str, start: int) -> bytes:
        """A message as it is given: one that comes again has its first topic, and its handle."""
        if topic == found.pop.topic or self.config.pop_response_return_actual_retry_topic:
            return frame
        message = decode_message(frame)
        handle = Handle(
            start,
            found.time,
            found.pop.invisible,
            found.revive_queue,
            kind_of(topic),
            self.config.broker_name,
            message.queue_id,
            message.queue_offset,
        )
        message.properties.setdefault(PropertyName.POP_CK, handle.text())
        message.topic = found.pop.topic
        return self.broker.store.encoded(message)

    def answered(self, found: Found, code: int) -> Reply:
        """The answer to what was found."""
        status = GetStatus.FOUND if found.frames else GetStatus.NO_MESSAGE_IN_QUEUE
        ext: dict[str, str | None] = {
            "popTime": str(found.time),
            "invisibleTime": str(found.pop.invisible),
            "reviveQid": str(found.revive_queue),
            "restNum": str(found.rest),
            "startOffsetInfo": ";".join(found.starts),
            "msgOffsetInfo": ";".join(found.offsets),
        }
        if found.pop.order:
            ext["orderCountInfo"] = ";".join(found.counts)
        return Reply(code, ext=ext, remark=status.name, body=b"".join(found.frames))
