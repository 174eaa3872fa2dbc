"""Offsets in mapped queues (5.x), whose parts may be queues of other Brokers.

1. The first part says where a mapped queue begins, the last one whose place is decided where it ends.
2. A commit goes to the part that the offset is in; a group has consumed up to what the last part says in
   which it has committed.
3. A time is searched in one part after another, up to the first that has a message of that time or later.

Source: ConsumerManageProcessor#rewriteRequestForStaticTopic, AdminBrokerProcessor#getMinOffset,
#rewriteRequestForStaticTopic of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from harness.wire import Command, RequestCode, ResponseCode
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply

from .mappings import QueuePart
from .other_brokers import Question, Steps
from .part import Part
from .static_topics import Mapped

_END: Final = (1 << 63) - 1


class MappedOffsets(Part):
    """Answers for offsets in mapped queues."""

    def commit(self, command: Command, part: QueuePart, offset: int) -> Steps:
        """A group has consumed a part on another Broker up to an offset there."""
        yield self.broker.other_brokers.question(command, part, commitOffset=offset)
        return Reply(ResponseCode.SUCCESS, ext={})

    def committed(self, command: Command, group: str, mapped: Mapped) -> Steps:
        """How far a group has consumed a mapped queue: the last part that it has begun says it."""
        for part in reversed(mapped.parts):
            offset = yield from self.committed_in(command, group, mapped, part)
            if offset is not None:
                return self.told(part.mapped(offset))
        remark = "Not found, maybe this group consumer boot first"
        return Reply(ResponseCode.QUERY_NOT_FOUND, ext={}, remark=remark)

    def committed_in(
        self, command: Command, group: str, mapped: Mapped, part: QueuePart
    ) -> Generator[Question, Command, int | None]:
        """What a group has committed in a part, by the offsets there; None: nothing."""
        if self.broker.static_topics.is_here(part):
            return self.broker.offsets.offset_of(group, mapped.topic, part.queue_id)
        known = ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND
        question = self.broker.other_brokers.question(command, part, *known, setZeroIfNotFound="false")
        answer = yield question
        return None if answer.code == ResponseCode.QUERY_NOT_FOUND else number_in(answer)

    def greatest(self, command: Command, mapped: Mapped) -> Steps:
        """Where a mapped queue ends."""
        part = mapped.part_of(_END)
        offset = yield from self.end_of(command, mapped.topic, part)
        return self.told(part.mapped(offset))

    def least(self, command: Command, mapped: Mapped) -> Steps:
        """Where a mapped queue begins."""
        part = mapped.part_of(0)
        offset = yield from self.begin_of(command, mapped.topic, part)
        reply = self.told(part.told(offset))
        reply.remark = ""
        return reply

    def search(self, command: Command, mapped: Mapped, timestamp: int, *, upper: bool) -> Steps:
        """Where in a mapped queue a time is. (Apache's Broker begins anew where the last part is its own.)"""
        decided = [part for part in mapped.parts if part.logic_offset >= 0]
        if upper:
            for part in reversed(decided):
                later = yield from self.first_from(command, mapped.topic, part, timestamp + 1)
                begin = yield from self.begin_of(command, mapped.topic, part)
                if later > max(begin, part.start_offset):
                    return self.told(
                        part.mapped((min(later, part.end_offset) if part.has_end else later) - 1)
                    )
            return self.told(0)
        for part in decided:
            offset = yield from self.first_from(command, mapped.topic, part, timestamp)
            if part is decided[-1] or offset < (yield from self.end_of(command, mapped.topic, part)):
                return self.told(part.mapped(offset))
        return self.told(-1)

    def first_from(
        self, command: Command, topic: str, part: QueuePart, timestamp: int
    ) -> Generator[Question, Command, int]:
        """The first message of a time or later in a part, by the offsets there; its end if there is none."""
        if self.broker.static_topics.is_here(part):
            return self.broker.store.offset_at(topic, part.queue_id, timestamp)
        question = self.broker.other_brokers.question(
            command, part, timestamp=timestamp, boundaryType="LOWER"
        )
        return number_in((yield question))

    def earliest(self, command: Command, mapped: Mapped) -> Steps:
        """When the first message of a mapped queue was stored; -1: there is none."""
        part = mapped.part_of(0)
        if self.broker.static_topics.is_here(part):
            return self.broker.offsets.first_stored(mapped.topic, part.queue_id)
        answer = yield self.broker.other_brokers.question(command, part)
        return Reply(ResponseCode.SUCCESS, ext={"timestamp": str(number_in(answer, "timestamp"))})

    def begin_of(self, command: Command, topic: str, part: QueuePart) -> Generator[Question, Command, int]:
        """The first message of a part, by the offsets there."""
        if self.broker.static_topics.is_here(part):
            return self.broker.store.min_offset(topic, part.queue_id)
        code = RequestCode.GET_MIN_OFFSET
        return number_in((yield self.broker.other_brokers.question(command, part, code=code)))

    def end_of(self, command: Command, topic: str, part: QueuePart) -> Generator[Question, Command, int]:
        """Behind the last message of a part, by the offsets there."""
        if self.broker.static_topics.is_here(part):
            end = self.broker.store.max_offset(topic, part.queue_id)
            return min(end, part.end_offset) if part.has_end else end
        if part.has_end:
            return part.end_offset
        code = RequestCode.GET_MAX_OFFSET
        return number_in((yield self.broker.other_brokers.question(command, part, code=code)))

    def told(self, offset: int) -> Reply:
        """The answer that is an offset."""
        return Reply(ResponseCode.SUCCESS, ext={"offset": str(offset)})


def number_in(answer: Command, name: str = "offset") -> int:
    """The number that another Broker told. Raises RefusedError."""
    number = fields.int64(answer.ext, name)
    if number is None:
        raise RefusedError(f"another Broker answered without {name}")
    return number
