"""Whether there is something to pop (200054 of 5.x), and how many wait for that (200055).

Source: NotificationProcessor, PollingInfoProcessor of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.messages import tag_hash
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from . import required
from .filters import TAG
from .part import Part
from .pop_terms import retry_topic
from .pop_waiting import FULL, HELD, LATE, Waiter
from .store import GetStatus, Wanted
from .topics import READ

_FILTERED_BELOW: Final = 64
"""How many messages of a queue are looked at, at the most (`maxMessageFilterNumForNotification`)."""


class Question(msgspec.Struct):
    """What 200054 and 200055 ask about."""

    group: str
    topic: str
    queue_id: int
    order: bool
    attempt: str | None
    wanted: Wanted | None = None
    """5.5: which messages of the topic count; None: all."""


class PopNotifications(Part):
    """Answers notifications and polling information."""

    @answers(RequestCode.NOTIFICATION, v5=True)
    def notify(self, command: Command, connection: int, now: int) -> Reply | None:
        """It waits until there is something."""
        asked = self.asked(command)
        refused = self.refused(asked, connection, now)
        if refused is not None:
            refused.ext = _told(has=False, full=False)
            return refused
        poll = fields.int64(command.ext, "pollTime") or 0
        until = self.broker.pops.born(command.ext or {}, now) + poll
        return self.look(asked, poll, until, command, connection, now)

    def look(
        self, asked: Question, poll: int, until: int, command: Command, connection: int, now: int
    ) -> Reply | None:
        """The answer, if there is something or no time is left. None: it waits."""
        if self.has_any(asked, now):
            return Reply(ResponseCode.SUCCESS, ext=_told(has=True, full=False))
        waiter = Waiter(
            command=command,
            connection=connection,
            topic=asked.topic,
            group=asked.group,
            queue_id=asked.queue_id,
            until=until,
            wanted=asked.wanted,
            again=lambda now, until: self.look_again(asked, poll, until, command, connection, now),
            pops=False,
        )
        held = self.broker.pop_waiting.hold(waiter, now) if poll > 0 else LATE
        if held == HELD:
            return None
        return Reply(ResponseCode.SUCCESS, ext=_told(has=False, full=held == FULL))

    def look_again(
        self, asked: Question, poll: int, until: int, command: Command, connection: int, now: int
    ) -> Reply | None:
        """The same of one that has waited: its topic may be gone."""
        refused = self.refused(asked, connection, now)
        if refused is None:
            return self.look(asked, poll, until, command, connection, now)
        refused.ext = _told(has=False, full=False)
        return refused

    @answers(RequestCode.POLLING_INFO, v5=True)
    def polling(self, command: Command, connection: int, now: int) -> Reply:
        asked = self.asked(command)
        refused = self.refused(asked, connection, now)
        if refused is not None:
            refused.ext = {"pollingNum": "0"}
            return refused
        number = self.broker.pop_waiting.polling(asked.topic, asked.group, asked.queue_id)
        return Reply(ResponseCode.SUCCESS, ext={"pollingNum": str(number)})

    def asked(self, command: Command) -> Question:
        """The header of either request. Raises RefusedError."""
        ext: Ext = command.ext or {}
        return Question(
            required.text(ext, "consumerGroup"),
            required.text(ext, "topic"),
            fields.int32(ext, "queueId") or 0,
            fields.boolean(ext, "order") is True,
            ext.get("attemptId"),
            self.wanted(ext),
        )

    def wanted(self, ext: Ext) -> Wanted | None:
        """What a notification asks for; only tags are looked at."""
        kind, text = ext.get("expType"), ext.get("exp")
        if not self.profile.v55 or kind != TAG or not text or text == "*":
            return None
        return Wanted(tags=frozenset(map(tag_hash, map(str.strip, text.split("||")))))

    def refused(self, asked: Question, connection: int, now: int) -> Reply | None:
        """The refusal of either request."""
        if not self.config.broker_permission & READ:
            remark = f"the broker[{self.config.broker_ip1}] peeking message is forbidden"
            return Reply(ResponseCode.NO_PERMISSION, remark=remark)
        return self.broker.pops.place_refused(asked.group, asked.topic, asked.queue_id, connection, now)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def has_any(self, asked: Question, now: int) -> bool:
        """Whether there is something to pop: in the topic, or in one for messages that come again."""
        queues = range(asked.queue_id, asked.queue_id + 1)
        known = self.broker.topics.get(asked.topic)
        if asked.queue_id < 0 and known is not None:
            queues = range(known.read_queue_nums)
        places = [(asked.topic, queue_id) for queue_id in queues]
        if asked.wanted is not None:
            places = [
                (topic, queue_id) for topic, queue_id in places if self.has_wanted(asked, queue_id, now)
            ]
        for v2 in (False, True):
            topic = retry_topic(asked.group, asked.topic, v2=v2)
            again = self.broker.topics.get(topic)
            if again is not None:
                places += [(topic, queue_id) for queue_id in range(again.read_queue_nums)]
        return any(self.has(asked, topic, queue_id, now) for topic, queue_id in places)

    def has(self, asked: Question, topic: str, queue_id: int, now: int) -> bool:
        """Whether a queue has something to pop."""
        queue = (topic, asked.group, queue_id)
        if asked.order and self.broker.pop_order.blocks(queue, asked.attempt, now):
            return False
        known = self.broker.offsets.offset_of(asked.group, topic, queue_id)
        store = self.broker.store
        return store.max_offset(topic, queue_id) > (
            store.min_offset(topic, queue_id) if known is None else known
        )

    def has_wanted(self, asked: Question, queue_id: int, now: int) -> bool:
        """Whether a queue of the topic has something that counts; behind many messages, anything does."""
        store, topic = self.broker.store, asked.topic
        known = self.broker.offsets.offset_of(asked.group, topic, queue_id)
        start = store.min_offset(topic, queue_id) if known is None else known
        if store.max_offset(topic, queue_id) - start >= _FILTERED_BELOW:
            return True
        return store.get(topic, queue_id, start, 1, asked.wanted).status is GetStatus.FOUND


def _told(*, has: bool, full: bool) -> dict[str, str | None]:
    return {"hasMsg": str(has).lower(), "pollingFull": str(full).lower()}
