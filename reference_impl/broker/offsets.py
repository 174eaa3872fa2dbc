"""Offsets: how far groups have consumed, and how far queues go.

1. Of two offsets that are committed for a queue, the later one counts, be it smaller.
2. They are written to `config/consumerOffset.json` in intervals, if any has changed; but one whose commit is
   answered is written before. (Apache answers first: a crash takes back what it has confirmed.)
3. 5.x: an offset that an administrator has reset counts until the next pull has told it to the consumer; what
   consumers commit meanwhile does not count.

Source: ConsumerManageProcessor, ConsumerOffsetManager, AdminBrokerProcessor of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import ConsumerOffsets, DataVersion
from harness.wire.fastjson import document
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers

from . import required
from .light_names import LIGHT_QUEUE
from .part import NEVER, Part
from .tables import as_file, stored_table

if TYPE_CHECKING:
    from .core import Broker

CONSUMER_OFFSETS_FILE: Final = "config/consumerOffset.json"
_NOBODY: Final = "null"
"""What Java makes of a group or topic that is not named, as part of a key."""
_FIRST_WRITE: Final = 10_000
"""ms after the start."""
_VERSION_STEP: Final = 500
"""Commits between two data versions (`consumerOffsetUpdateVersionStep`)."""


class Offsets(Part):
    """Keeps the offsets of groups, and answers for those of queues."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        stored = stored_table(broker.stored, CONSUMER_OFFSETS_FILE, ConsumerOffsets.decode)
        self.table: dict[str, dict[int, int]] = {} if stored is None else stored.offset_table
        """By "topic@group", then by queue."""
        version = None if stored is None else stored.data_version
        self.version = DataVersion(0, broker.started, 0) if version is None else version
        """5.x."""
        self._commits = 0
        self._write_at = NEVER
        self._write_now = False
        self._resets: dict[str, dict[int, int]] = {}
        """The same, for what was reset and no consumer knows yet."""

    # -- of groups -------------------------------------------------------------------------------------------

    @answers(RequestCode.UPDATE_CONSUMER_OFFSET)
    def update(self, command: Command, connection: int, now: int) -> Reply | None:
        """4.9 never refuses one; 5.x wants group, topic, queue and offset."""
        ext = command.ext or {}
        group = ext.get("consumerGroup") or _NOBODY
        topic = required.text(ext, "topic") if self.profile.v5 else ext.get("topic") or _NOBODY
        mapped = self.broker.static_topics.of(command)
        if self.profile.v5:
            refused = self.update_refused(
                group, topic, fields.int32(ext, "queueId"), fields.int64(ext, "commitOffset")
            )
            if refused is not None:
                return refused
        queue_id, offset = required.int32(ext, "queueId"), required.int64(ext, "commitOffset")
        if mapped is not None:
            part = mapped.part_of(offset)
            queue_id, offset = part.queue_id, part.unmapped(offset)
            if not self.broker.static_topics.is_here(part):
                steps = self.broker.mapped_offsets.commit(command, part, offset)
                return self.broker.other_brokers.conduct(steps, command, connection)
        if self.is_reset(group, topic, queue_id):
            return Reply(ResponseCode.SUCCESS, ext={}, remark="Offset has been previously reset")
        self.commit(group, topic, queue_id, offset, now)
        self._write_now |= not command.is_oneway
        return Reply(ResponseCode.SUCCESS, ext={})

    def update_refused(
        self, group: str, topic: str, queue_id: int | None, offset: int | None
    ) -> Reply | None:
        """The refusal of a commit by 5.x; None: it may be."""
        if group not in self.broker.groups.table:
            remark = f"Group {group} not exist!"
            return Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, ext={}, remark=remark)
        is_light = self.config.has_light_topics and topic.startswith(LIGHT_QUEUE)
        if not is_light and self.broker.topics.get(topic) is None:
            return Reply(ResponseCode.TOPIC_NOT_EXIST, ext={}, remark=f"Topic {topic} not exist!")
        for name, value in (("QueueId", queue_id), ("Offset", offset)):
            if value is None:
                remark = f"{name} is null, topic is {topic}"
                return Reply(ResponseCode.INVALID_PARAMETER, ext={}, remark=remark)
        return None

    @answers(RequestCode.QUERY_CONSUMER_OFFSET)
    def query(self, command: Command, connection: int, now: int) -> Reply | None:
        """22 says that the group has never committed one, and may choose where to begin."""
        ext = command.ext or {}
        group, topic = ext.get("consumerGroup") or _NOBODY, required.text(ext, "topic")
        queue_id = required.int32(ext, "queueId")
        mapped = self.broker.static_topics.of(command)
        if mapped is not None:
            if len(mapped.parts) > 1 or mapped.last.logic_offset:
                steps = self.broker.mapped_offsets.committed(command, group, mapped)
                return self.broker.other_brokers.conduct(steps, command, connection)
            queue_id = mapped.last.queue_id
        offset = self.offset_of(group, topic, queue_id)
        if offset is None:
            if self.profile.v5 and fields.boolean(ext, "setZeroIfNotFound") is False:
                remark = "Not found, do not set to zero, maybe this group boot first"
                return Reply(ResponseCode.QUERY_NOT_FOUND, ext={}, remark=remark)
            if not self.starts_at_zero(topic, queue_id):
                remark = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"
                return Reply(ResponseCode.QUERY_NOT_FOUND, ext={}, remark=remark)
            offset = 0
        return self.told("offset", offset)

    def starts_at_zero(self, topic: str, queue_id: int) -> bool:
        """Whether a group that has never committed begins at 0: where the first message is still there.

        5.x requires one.
        """
        store = self.broker.store
        if store.min_offset(topic, queue_id) > 0:
            return False
        return not self.profile.v5 or store.max_offset(topic, queue_id) > 0

    def commit(self, group: str, topic: str, queue_id: int, offset: int, now: int) -> None:
        """Note how far a group has consumed a queue."""
        self.table.setdefault(f"{topic}@{group}", {})[queue_id] = offset
        self._commits += 1
        if self._commits % _VERSION_STEP == 0:
            self.version = DataVersion(self.version.counter + 1, now, self.version.state_version)
        if self._write_at == NEVER:
            self._write_at = self.next_write(now)

    def offset_of(self, group: str, topic: str, queue_id: int) -> int | None:
        """How far a group has consumed a queue; None: it has never said."""
        key = f"{topic}@{group}"
        reset = self._resets.get(key, {}).get(queue_id)
        if reset is not None:
            return reset
        offset = self.table.get(key, {}).get(queue_id)
        return None if offset is None or offset < 0 else offset

    def reset(self, group: str, topic: str, queue_id: int, offset: int, now: int) -> None:
        """5.x: an administrator sets how far a group has consumed; its next pull learns that."""
        self.commit(group, topic, queue_id, offset, now)
        self._resets.setdefault(f"{topic}@{group}", {})[queue_id] = offset

    def is_reset(self, group: str, topic: str, queue_id: int) -> bool:
        """Whether there is an offset that no consumer knows yet."""
        return queue_id in self._resets.get(f"{topic}@{group}", ())

    def take_reset(self, group: str, topic: str, queue_id: int) -> int | None:
        """The offset that a consumer is to be told, once; None: there is none."""
        if not self._resets:
            return None
        key = f"{topic}@{group}"
        found = self._resets.get(key, {}).pop(queue_id, None)
        if found is not None and not self._resets[key]:
            del self._resets[key]
        return found

    def forget(self, *, group: str | None = None, topic: str | None = None) -> None:
        """Forget everything of a group, or of a topic."""
        for key in list(self.table):
            of_topic, _, of_group = key.partition("@")
            if of_group == group or of_topic == topic:
                del self.table[key]
                self._resets.pop(key, None)
                self._write_now = True

    # -- all of them -----------------------------------------------------------------------------------------

    @answers(RequestCode.GET_ALL_CONSUMER_OFFSET)
    def all_offsets(self, command: Command, connection: int, now: int) -> Reply:
        """For slaves."""
        return Reply(ResponseCode.SUCCESS, body=self.document().encode())

    @answers(RequestCode.QUERY_CORRECTION_OFFSET)
    def correction(self, command: Command, connection: int, now: int) -> Reply:
        """How far the slowest group has consumed each queue of a topic, some groups left out.

        The compared group changes nothing: Apache looks at it where its offset lies before the first message.
        (Apache also forgets what the groups have committed that are left out, in every topic.)
        """
        ext = command.ext or {}
        left_out = (fields.text(ext, "filterGroups") or "").split(",")
        slowest = self.slowest(required.text(ext, "topic"), left_out)
        return Reply(ResponseCode.SUCCESS, body=document({"correctionOffsets": slowest}))

    def slowest(self, topic: str, left_out: Sequence[str]) -> dict[int, int]:
        """The smallest offset of each queue."""
        found: dict[int, int] = {}
        for key, offsets in self.table.items():
            of_topic, _, of_group = key.partition("@")
            if of_topic != topic or of_group in left_out:
                continue
            for queue_id, offset in offsets.items():
                if offset >= self.broker.store.min_offset(topic, queue_id):
                    found[queue_id] = min(offset, found.get(queue_id, offset))
        return found

    def document(self) -> ConsumerOffsets:
        """Everything, as a body and as a file have it."""
        return ConsumerOffsets(self.version if self.profile.v5 else None, self.table)

    def take_over(self, offsets: ConsumerOffsets) -> None:
        """Take over what a master has."""
        self.table |= offsets.offset_table
        self.version = offsets.data_version or self.version
        self._write_now = True

    def next_write(self, now: int) -> int:
        """When what changes now is written: at the same distances from the start, first after 10 s."""
        period = self.config.flush_consumer_offset_interval
        first = self.broker.started + _FIRST_WRITE
        return max(first, first + ((now - first) // period + 1) * period)

    def next_tick(self) -> int:
        """The next writing, if there is anything to write."""
        return self._write_at

    def tick(self, now: int) -> None:
        """Write what has changed."""
        self._write_at = NEVER
        self.broker.persist(CONSUMER_OFFSETS_FILE, as_file(self.document().document()))

    def stop(self, now: int) -> None:
        """Write what has changed."""
        if self._write_at != NEVER:
            self.tick(now)

    def settle(self, now: int) -> None:
        """What is to be confirmed is written first."""
        if self._write_now:
            self._write_now = False
            self.tick(now)

    # -- of queues -------------------------------------------------------------------------------------------

    @answers(RequestCode.GET_MAX_OFFSET)
    def greatest(self, command: Command, connection: int, now: int) -> Reply | None:
        """What is not there has 0."""
        topic, queue_id = self.queue(command)
        mapped = self.broker.static_topics.of(command)
        if mapped is not None:
            steps = self.broker.mapped_offsets.greatest(command, mapped)
            return self.broker.other_brokers.conduct(steps, command, connection)
        return self.told("offset", self.broker.store.max_offset(topic, queue_id))

    @answers(RequestCode.GET_MIN_OFFSET)
    def least(self, command: Command, connection: int, now: int) -> Reply | None:
        """What is not there has 0. In 5.x the remark is empty and not missing."""
        topic, queue_id = self.queue(command)
        mapped = self.broker.static_topics.of(command, "is not leader in broker {broker}, request code 31")
        if mapped is not None:
            steps = self.broker.mapped_offsets.least(command, mapped)
            return self.broker.other_brokers.conduct(steps, command, connection)
        reply = self.told("offset", self.broker.store.min_offset(topic, queue_id))
        reply.remark = "" if self.profile.v5 else None
        return reply

    @answers(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP)
    def search(self, command: Command, connection: int, now: int) -> Reply | None:
        """Where in a queue a store timestamp is; 5.x takes the bound."""
        topic, queue_id = self.queue(command)
        ext = command.ext or {}
        timestamp = required.int64(ext, "timestamp")
        upper = self.profile.v5 and (ext.get("boundaryType") or "").lower() == "upper"
        mapped = self.broker.static_topics.of(command)
        if mapped is not None:
            steps = self.broker.mapped_offsets.search(command, mapped, timestamp, upper=upper)
            return self.broker.other_brokers.conduct(steps, command, connection)
        return self.told("offset", self.broker.store.offset_at(topic, queue_id, timestamp, upper=upper))

    @answers(RequestCode.GET_EARLIEST_MSG_STORETIME)
    def earliest(self, command: Command, connection: int, now: int) -> Reply | None:
        """When the first message of a queue was stored; -1: there is none."""
        topic, queue_id = self.queue(command)
        mapped = self.broker.static_topics.of(command)
        if mapped is not None:
            steps = self.broker.mapped_offsets.earliest(command, mapped)
            return self.broker.other_brokers.conduct(steps, command, connection)
        return self.first_stored(topic, queue_id)

    def first_stored(self, topic: str, queue_id: int) -> Reply:
        """The answer that says when the first message of a queue of this Broker was stored."""
        store = self.broker.store
        found = store.timestamp_of(topic, queue_id, store.min_offset(topic, queue_id))
        return self.told("timestamp", -1 if found is None else found)

    def queue(self, command: Command) -> tuple[str, int]:
        """(topic, queue) of a request."""
        ext = command.ext or {}
        return required.text(ext, "topic"), required.int32(ext, "queueId")

    def told(self, name: str, number: int) -> Reply:
        """The answer that is one number."""
        return Reply(ResponseCode.SUCCESS, ext={name: str(number)})
