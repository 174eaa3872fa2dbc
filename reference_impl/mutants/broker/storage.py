"""Mutants of the chapter storage: what does not survive, and offsets that are given wrongly."""

from reference_impl.broker.parts import Parts
from reference_impl.broker.store import Store
from reference_impl.mutants.broker import mutant


@mutant("offsets-skip-one", "Every second offset of a queue is left out.")
def offsets_skip_one(parts: Parts) -> Parts:
    def max_offset(self: Store, topic: str, queue_id: int) -> int:
        return 2 * parts.store.max_offset(self, topic, queue_id)

    return parts.override("store", max_offset)


@mutant("queues-share-offsets", "The queues of a topic count their messages together.")
def queues_share_offsets(parts: Parts) -> Parts:
    def max_offset(self: Store, topic: str, queue_id: int) -> int:
        queues = self.topics().get(topic, [])
        return sum(parts.store.max_offset(self, topic, queue) for queue in queues)

    return parts.override("store", max_offset)


@mutant("hands-over-late", "What was stored is kept in memory until there is enough of it.")
def hands_over_late(parts: Parts) -> Parts:
    def commit(self: Store) -> None:
        return

    return parts.override("store", commit)


@mutant("queues-begin-anew", "At a start, the queues are empty.")
def queues_begin_anew(parts: Parts) -> Parts:
    def catch_up(self: Store) -> None:
        parts.store.catch_up(self)
        for topic in list(self.topics()):
            self.delete_topic(topic)

    return parts.override("store", catch_up)


@mutant("keys-are-forgotten", "After a start, only what is stored from then on is found by its key.")
def keys_are_forgotten(parts: Parts) -> Parts:
    def by_key(self: Store, topic: str, key: str, most: int, begin: int, end: int) -> list[int]:
        found = parts.store.by_key(self, topic, key, most, begin, end)
        return [offset for offset in found if offset >= vars(self)["began"]]

    def catch_up(self: Store) -> None:
        parts.store.catch_up(self)
        vars(self)["began"] = self.physical_range()[1]

    return parts.override("store", by_key).override("store", catch_up)
