"""Pops of light topics (5.5): messages of whatever a client subscribes to, in order in each light topic.

1. Refused in Apache's order: the time of the request, number, topic, its kind, group, its parent.
2. Each light topic is popped as a queue in order (see `pop_order`): what a group was given of it blocks it
   until that is acknowledged, or its time is over.
3. A pop that finds nothing waits, if it may: for its client.

(Apache gives each light topic that has something to one client of the group beforehand, and takes it back
from one that does not pop. Here it goes to the client that pops first.)

Source: PopLiteMessageProcessor, PopLiteLongPollingService of rocketmq-all-5.5.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from . import required
from .light_names import is_of_light_topic
from .part import Part
from .pop import TOO_LATE, Pop
from .pop_terms import ORDERED
from .pop_waiting import ANY_QUEUE, FULL, HELD, LATE, Waiter
from .store import Arrival, GetStatus

if TYPE_CHECKING:
    from .core import Broker

_MOST: Final = 32
_TIMES: Final = ("invisibleTime", "popTime", "reviveQid")
_FROM_THE_END: Final = 1
_QUEUE: Final = 0
"""A light topic has one queue."""


class Found(msgspec.Struct):
    """What a pop has come to."""

    pop: Pop
    time: int
    frames: list[bytes] = []
    counts: list[str] = []


class LightPops(Part):
    """Answers pops of light topics."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.accessed: dict[str, int] = {}
        """When each client looked last for messages."""

    @answers(RequestCode.POP_LITE_MESSAGE, v55=True)
    def pop(self, command: Command, connection: int, now: int) -> Reply | None:
        ext = command.ext or {}
        refused = self.refused(ext, now)
        if refused is not None:
            refused.ext = self.times(0, 0, 0)
            return refused
        return self.carry_out(self.asked(ext, now), ext.get("clientId") or "", command, connection, now)

    def carry_out(self, asked: Pop, client: str, command: Command, connection: int, now: int) -> Reply | None:
        """A pop that may be, for the first time or once more. None: it waits."""
        found = self.find(asked, client, now)
        if found.frames:
            return self.answered(found, ResponseCode.SUCCESS)
        waiter = Waiter(
            command=command,
            connection=connection,
            topic=_place_of(client),
            group=asked.group,
            queue_id=ANY_QUEUE,
            until=asked.born + asked.poll,
            wanted=None,
            again=lambda now, until: self.carry_out(
                msgspec.structs.replace(asked, born=until - asked.poll), client, command, connection, now
            ),
        )
        held = self.broker.pop_waiting.hold(waiter, now) if asked.poll > 0 else LATE
        if held == HELD:
            return None
        full = held == FULL
        return self.answered(found, ResponseCode.POLLING_FULL if full else ResponseCode.POLLING_TIMEOUT)

    # -- what is asked ---------------------------------------------------------------------------------------

    def asked(self, ext: Ext, now: int) -> Pop:
        """The header of a pop. Raises RefusedError."""
        return Pop(
            group=required.text(ext, "consumerGroup"),
            topic=required.text(ext, "topic"),
            queue_id=_QUEUE,
            most=fields.int32(ext, "maxMsgNum") or 0,
            invisible=fields.int64(ext, "invisibleTime") or 0,
            poll=fields.int64(ext, "pollTime") or 0,
            born=self.born(ext, now),
            init_mode=_FROM_THE_END,
            expression=None,
            expression_type=None,
            order=True,
            attempt=ext.get("attemptId"),
        )

    def refused(self, ext: Ext, now: int) -> Reply | None:
        """Why nothing is popped. Raises RefusedError."""
        where = f"the broker[{self.config.broker_ip1}]"
        if self.is_too_late(self.born(ext, now), fields.int64(ext, "pollTime") or 0, now):
            remark = f"{where} pop message is timeout too much"
            return Reply(ResponseCode.POLLING_TIMEOUT, remark=remark)
        if (fields.int32(ext, "maxMsgNum") or 0) > _MOST:
            remark = f"{where} pop message's num is greater than {_MOST}"
            return Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
        topic = required.text(ext, "topic")
        if self.broker.topics.get(topic) is None:
            remark = f"topic [{topic}] not exist, apply first please! {self.broker.pulls.see()}"
            return Reply(ResponseCode.TOPIC_NOT_EXIST, remark=remark)
        if topic not in self.broker.light_topics.parents():
            remark = f"the topic [{topic}] message type not match"
            return Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
        return self.group_refused(required.text(ext, "consumerGroup"), topic, now)

    def group_refused(self, group: str, topic: str, now: int) -> Reply | None:
        """Why nothing of a parent is popped for a group."""
        found = self.broker.groups.find(group, now)
        if found is not None and not found.consume_enable:
            return Reply(ResponseCode.NO_PERMISSION, remark=f"subscription group no permission, {group}")
        if self.broker.light_topics.parent_of(group, now) != topic:
            remark = f"subscription bind topic not match, {group}"
            return Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
        return None

    def born(self, ext: Ext, now: int) -> int:
        """When a client began to wait, by the Broker's clock: a time that is no number is 1970."""
        if ext.get("bornTime") in (None, "0"):
            return now
        return self.broker.of_client(fields.int64(ext, "bornTime") or 0)

    # -- what is found ---------------------------------------------------------------------------------------

    def find(self, asked: Pop, client: str, now: int) -> Found:
        """Take messages of the light topics to which a client subscribes."""
        if client in self.broker.light_subscriptions.by_client:
            self.accessed[client] = now
        found = Found(asked, now)
        for queue in self.broker.light_subscriptions.queues_of(client):
            if len(found.frames) < asked.most and self.broker.store.max_offset(queue, _QUEUE) > 0:
                self.take(found, queue, now)
        return found

    def take(self, found: Found, queue: str, now: int) -> None:
        """Take from a light topic as much as is still wanted."""
        pop, store = found.pop, self.broker.store
        popped = (queue, pop.group, _QUEUE)
        if self.blocks(queue, pop, now):
            return
        start, most = self.broker.pops.start(pop, queue, _QUEUE, now), pop.most - len(found.frames)
        got = store.get(queue, _QUEUE, start, most)
        if got.status in (GetStatus.OFFSET_TOO_SMALL, GetStatus.OFFSET_OVERFLOW_BADLY):
            self.broker.offsets.commit(pop.group, queue, _QUEUE, got.next_offset, now)
            got = store.get(queue, _QUEUE, got.next_offset, most)
        if got.frames:
            offsets = list(range(got.next_offset - len(got.frames), got.next_offset))
            given = self.broker.pop_order.give(popped, offsets, pop.invisible, pop.attempt, now)
            found.frames += got.frames
            found.counts += self.counts(given, len(offsets))

    def answered(self, found: Found, code: int) -> Reply:
        """The answer to what was found."""
        status = GetStatus.FOUND if found.frames else GetStatus.NO_MESSAGE_IN_QUEUE
        ext = self.times(found.pop.invisible, found.time, ORDERED)
        ext["orderCountInfo"] = ";".join(found.counts)
        return Reply(code, ext=ext, remark=status.name, body=b"".join(found.frames))

    # -- who waits -------------------------------------------------------------------------------------------

    def has_more(self, queue: str, group: str | None = None) -> None:
        """There may be something in a light topic, for all groups or for one."""
        subscriptions = self.broker.light_subscriptions
        for client in subscriptions.of_group(queue, group):
            of_group = subscriptions.by_client[client].group
            self.broker.pop_waiting.has_more(_place_of(client), of_group, ANY_QUEUE)

    def arrived(self, arrivals: Iterable[Arrival]) -> None:
        """Messages have arrived."""
        for queue in dict.fromkeys(one.topic for one in arrivals if is_of_light_topic(one.topic)):
            self.has_more(queue)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def is_too_late(self, born: int, poll: int, now: int) -> bool:
        """Whether the client has stopped waiting for the answer to a pop."""
        return now - born - poll > TOO_LATE

    def times(self, invisible: int, popped: int, revived: int) -> dict[str, str | None]:
        """What every answer to a pop has."""
        return {name: str(value) for name, value in zip(_TIMES, (invisible, popped, revived), strict=True)}

    def blocks(self, queue: str, pop: Pop, now: int) -> bool:
        """Whether nothing may be popped from a light topic."""
        return self.broker.pop_order.blocks((queue, pop.group, _QUEUE), pop.attempt, now)

    def counts(self, given: str, messages: int) -> list[str]:
        """The entries of `orderCountInfo` for a light topic, from those for a queue in order: a number for
        each message; or, where some were given before, an entry for each of these.
        """
        *of_messages, of_queue = given.split(";")
        return of_messages or [of_queue.rpartition(" ")[2]] * messages


def _place_of(client: str) -> str:
    """Where a client waits: not the name of a topic."""
    return f"@{client}"
