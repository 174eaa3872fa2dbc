"""Mutants of the chapter topics."""

from collections.abc import Sequence

import msgspec

from harness.wire import Command
from harness.wire.bodies import MessageQueue, StoredQueue, TopicConfig, TopicConfigTable, TopicStats
from reference_impl.broker.parts import Parts
from reference_impl.broker.registrar import Registrar
from reference_impl.broker.store import Store
from reference_impl.broker.topic_administration import TopicAdministration
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import RefusedError, Reply

V4 = ("4.9",)


@mutant("topics-are-made-with-eight-queues", "A topic is made with eight queues, whatever was asked for.")
def topics_are_made_with_eight_queues(parts: Parts) -> Parts:
    def wanted(self: TopicAdministration, name: str, filter_type: str, ext: Ext) -> TopicConfig:
        topic = parts.topic_administration.wanted(self, name, filter_type, ext)
        return msgspec.structs.replace(topic, read_queue_nums=8, write_queue_nums=8)

    return parts.override("topic_administration", wanted)


@mutant("new-topics-are-not-told", "Code 21 tells of the topics of the start only.")
def new_topics_are_not_told(parts: Parts) -> Parts:
    def all_topics(self: TopicAdministration, command: Command, connection: int, now: int) -> Reply:
        names = {topic.topic_name for topic in self.broker.topics.system_topics()}
        topics = self.broker.topics
        table = {name: topic for name, topic in topics.table.items() if name in names}
        return Reply(0, ext={}, body=TopicConfigTable(topics.version, table).encode())

    return parts.override("topic_administration", all_topics)


@mutant("topics-do-not-change", "A topic that is there is not changed.")
def topics_do_not_change(parts: Parts) -> Parts:
    def is_news(self: TopicAdministration, topic: TopicConfig) -> bool:
        return self.broker.topics.get(topic.topic_name or "") is None

    return parts.override("topic_administration", is_news)


@mutant("new-topics-are-not-announced", "What an administrator makes is registered with the next round.")
def new_topics_are_not_announced(parts: Parts) -> Parts:
    def announce(self: Registrar, topics: Sequence[TopicConfig], now: int) -> None:
        return

    return parts.override("registrar", announce)


@mutant("new-topics-announced-with-all", "What an administrator makes is registered with all other topics.")
def new_topics_announced_with_all(parts: Parts) -> Parts:
    def announce(self: Registrar, topics: Sequence[TopicConfig], now: int) -> None:
        self.register(now, force=True, check_order=False)

    return parts.override("registrar", announce)


@mutant("same-topic-announced-again", "A topic that is as it was is registered again.", V5)
def same_topic_announced_again(parts: Parts) -> Parts:
    def is_news(self: TopicAdministration, topic: TopicConfig) -> bool:
        return True

    return parts.override("topic_administration", is_news)


@mutant("illegal-topics-are-made", "A topic is made whatever its name.")
def illegal_topics_are_made(parts: Parts) -> Parts:
    def fault(self: TopicAdministration, topic: str | None) -> str | None:
        return None

    return parts.override("topic_administration", fault)


@mutant("illegal-topics-are-code-29", "An illegal name is answered with code 29.", V4)
def illegal_topics_are_code_29(parts: Parts) -> Parts:
    return parts.revalue(invalid_parameter=29)


@mutant("illegal-is-code-1", "An illegal name is answered with code 1.", V5)
def illegal_is_code_1(parts: Parts) -> Parts:
    return parts.revalue(invalid_parameter=1)


@mutant("any-filter-type-is-taken", "An unknown kind of filter is taken for the usual one.")
def any_filter_type_is_taken(parts: Parts) -> Parts:
    def update(self: TopicAdministration, command: Command, connection: int, now: int) -> Reply:
        ext = command.ext or {}
        if ext.get("topicFilterType") not in ("SINGLE_TAG", "MULTI_TAG"):
            command.ext = {**ext, "topicFilterType": "SINGLE_TAG"}
        return parts.topic_administration.update(self, command, connection, now)

    return parts.override("topic_administration", update)


@mutant("order-is-not-kept", "A topic is not ordered because its administrator says so.", V5)
def order_is_not_kept(parts: Parts) -> Parts:
    def takes_order(self: TopicAdministration) -> bool:
        return False

    return parts.override("topic_administration", takes_order)


@mutant("order-is-kept-in-4-9", "A topic is ordered because its administrator says so.", V4)
def order_is_kept_in_49(parts: Parts) -> Parts:
    def takes_order(self: TopicAdministration) -> bool:
        return True

    return parts.override("topic_administration", takes_order)


@mutant("attributes-are-not-kept", "A topic has no attributes.", V5)
def attributes_are_not_kept(parts: Parts) -> Parts:
    def change(self: TopicAdministration, topics: list[TopicConfig], now: int) -> Reply:
        return parts.topic_administration.change(self, _bare(topics), now)

    return parts.override("topic_administration", change)


@mutant("any-attribute-is-taken", "A topic is made without its attributes where these are wrong.", V5)
def any_attribute_is_taken(parts: Parts) -> Parts:
    def change(self: TopicAdministration, topics: list[TopicConfig], now: int) -> Reply:
        try:
            return parts.topic_administration.change(self, topics, now)
        except RefusedError:
            return parts.topic_administration.change(self, _bare(topics), now)

    return parts.override("topic_administration", change)


def _bare(topics: list[TopicConfig]) -> list[TopicConfig]:
    return [msgspec.structs.replace(topic, attributes={}) for topic in topics]


@mutant("status-is-empty", "The status of a topic shows no queue.")
def status_is_empty(parts: Parts) -> Parts:
    def queues(self: TopicAdministration, topic: TopicConfig) -> int:
        return 0

    return parts.override("topic_administration", queues)


@mutant("status-without-offsets", "The status of a topic shows 0 for every offset.")
def status_without_offsets(parts: Parts) -> Parts:
    def state_of(self: TopicAdministration, topic: str, queue: int) -> StoredQueue:
        return StoredQueue()

    return parts.override("topic_administration", state_of)


@mutant("status-of-unknown-is-empty", "A topic that there is not has a status.")
def status_of_unknown_is_empty(parts: Parts) -> Parts:
    def statistics(self: TopicAdministration, command: Command, connection: int, now: int) -> Reply:
        reply = parts.topic_administration.statistics(self, command, connection, now)
        none: dict[MessageQueue, StoredQueue] = {}
        return reply if reply.code == 0 else Reply(0, body=TopicStats(none).encode())

    return parts.override("topic_administration", statistics)


@mutant("topics-are-not-deleted", "A topic is deleted with success, and stays.")
def topics_are_not_deleted(parts: Parts) -> Parts:
    def delete(self: TopicAdministration, command: Command, connection: int, now: int) -> Reply:
        return Reply(0)

    return parts.override("topic_administration", delete)


@mutant("deleted-topics-keep-messages", "The messages of a topic stay when it is deleted.")
def deleted_topics_keep_messages(parts: Parts) -> Parts:
    def delete_topic(self: Store, topic: str) -> None:
        return

    return parts.override("store", delete_topic)


@mutant("unknown-topics-cannot-be-deleted", "A topic that there is not cannot be deleted.")
def unknown_topics_cannot_be_deleted(parts: Parts) -> Parts:
    def delete(self: TopicAdministration, command: Command, connection: int, now: int) -> Reply:
        if self.broker.topics.get((command.ext or {}).get("topic") or "") is None:
            return Reply(17, remark="there is none")
        return parts.topic_administration.delete(self, command, connection, now)

    return parts.override("topic_administration", delete)


@mutant("system-topics-are-deleted", "A system topic is deleted like any other.")
def system_topics_are_deleted(parts: Parts) -> Parts:
    def fault_in_deletion(self: TopicAdministration, topic: str | None) -> str | None:
        return None

    return parts.override("topic_administration", fault_in_deletion)
