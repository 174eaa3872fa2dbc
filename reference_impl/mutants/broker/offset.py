"""Mutants of the chapter offset."""

import msgspec

from harness.wire import Command
from harness.wire.broker_codes import BrokerResponse
from reference_impl.broker.offsets import Offsets
from reference_impl.broker.parts import Parts
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.reply import RefusedError, Reply

# -- of groups -----------------------------------------------------------------------------------------------


@mutant("smaller-offsets-do-not-count", "An offset that is smaller than the one before is not stored.")
def smaller_offsets_do_not_count(parts: Parts) -> Parts:
    def commit(self: Offsets, group: str, topic: str, queue_id: int, offset: int, now: int) -> None:
        if offset >= (self.offset_of(group, topic, queue_id) or 0):
            parts.offsets.commit(self, group, topic, queue_id, offset, now)

    return parts.override("offsets", commit)


@mutant("offsets-are-of-all-groups", "A group has the offset of any other of the same queue.")
def offsets_are_of_all_groups(parts: Parts) -> Parts:
    def offset_of(self: Offsets, group: str, topic: str, queue_id: int) -> int | None:
        return next(
            (
                offsets[queue_id]
                for key, offsets in self.table.items()
                if key.startswith(f"{topic}@") and queue_id in offsets
            ),
            None,
        )

    return parts.override("offsets", offset_of)


@mutant("offsets-are-of-all-queues", "A group has the same offset in all queues of a topic.")
def offsets_are_of_all_queues(parts: Parts) -> Parts:
    def offset_of(self: Offsets, group: str, topic: str, queue_id: int) -> int | None:
        return next(iter(self.table.get(f"{topic}@{group}", {}).values()), None)

    return parts.override("offsets", offset_of)


@mutant("oneway-commits-are-dropped", "A one-way commit is not carried out.")
def oneway_commits_are_dropped(parts: Parts) -> Parts:
    def update(self: Offsets, command: Command, connection: int, now: int) -> Reply:
        if command.is_oneway:
            return Reply(BrokerResponse.SUCCESS)
        return parts.offsets.update(self, command, connection, now)

    return parts.override("offsets", update)


@mutant("groups-never-start-at-zero", "A group that never committed is always told so.")
def groups_never_start_at_zero(parts: Parts) -> Parts:
    def starts_at_zero(self: Offsets, topic: str, queue_id: int) -> bool:
        return False

    return parts.override("offsets", starts_at_zero)


@mutant("groups-always-start-at-zero", "A group that never committed cannot ask to be told so.", V5)
def groups_always_start_at_zero(parts: Parts) -> Parts:
    def query(self: Offsets, command: Command, connection: int, now: int) -> Reply:
        ext = {**(command.ext or {}), "setZeroIfNotFound": None}
        return parts.offsets.query(self, msgspec.structs.replace(command, ext=ext), connection, now)

    return parts.override("offsets", query)


def _allowing(parts: Parts, code: int) -> Parts:
    def update_refused(
        self: Offsets, group: str, topic: str, queue_id: int | None, offset: int | None
    ) -> Reply | None:
        refused = parts.offsets.update_refused(self, group, topic, queue_id, offset)
        return None if refused is not None and refused.code == code else refused

    return parts.override("offsets", update_refused)


@mutant("unknown-groups-may-commit", "A group that does not exist may commit offsets.", V5)
def unknown_groups_may_commit(parts: Parts) -> Parts:
    return _allowing(parts, BrokerResponse.SUBSCRIPTION_GROUP_NOT_EXIST)


@mutant("unknown-topics-may-be-committed", "Offsets of a topic that does not exist are stored.", V5)
def unknown_topics_may_be_committed(parts: Parts) -> Parts:
    return _allowing(parts, BrokerResponse.TOPIC_NOT_EXIST)


# -- of queues -----------------------------------------------------------------------------------------------


@mutant("max-offset-is-that-of-the-last-message", "The greatest offset is that of a message that is there.")
def max_offset_is_that_of_the_last_message(parts: Parts) -> Parts:
    def greatest(self: Offsets, command: Command, connection: int, now: int) -> Reply:
        return self.told("offset", max(0, self.broker.store.max_offset(*self.queue(command)) - 1))

    return parts.override("offsets", greatest)


@mutant("min-offset-is-the-greatest", "The least offset is the greatest one.")
def min_offset_is_the_greatest(parts: Parts) -> Parts:
    def least(self: Offsets, command: Command, connection: int, now: int) -> Reply:
        return self.greatest(command, connection, now)

    return parts.override("offsets", least)


@mutant("offsets-of-nothing-are-refused", "Offsets of a topic that does not exist are refused.")
def offsets_of_nothing_are_refused(parts: Parts) -> Parts:
    def queue(self: Offsets, command: Command) -> tuple[str, int]:
        topic, queue_id = parts.offsets.queue(self, command)
        if self.broker.topics.get(topic) is None:
            raise RefusedError(f"no topic {topic}")
        return topic, queue_id

    return parts.override("offsets", queue)


@mutant("every-time-is-the-beginning", "Every time is that of the first message.")
def every_time_is_the_beginning(parts: Parts) -> Parts:
    def search(self: Offsets, command: Command, connection: int, now: int) -> Reply:
        return self.told("offset", 0)

    return parts.override("offsets", search)
