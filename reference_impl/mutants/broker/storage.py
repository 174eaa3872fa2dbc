"""Mutants of the chapter storage: what does not survive, and offsets that are given wrongly."""

from reference_impl.broker.retention import Retention
from reference_impl.broker.store import Store
from reference_impl.mutants.registry import after, mutant


@mutant(Store.max_offset, "Queue offsets grow by two.")
def offsets_skip_one(original, self, topic, queue_id):
    return 2 * original(self, topic, queue_id)


@mutant(Store.max_offset, "All queues of a topic share one offset counter.")
def queues_share_offsets(original, self, topic, queue_id):
    queues = self.topics().get(topic, [])
    return sum(original(self, topic, queue) for queue in queues)


@mutant(Store.commit, "Stored messages stay in memory until a buffer is full.")
def hands_over_late(original, self):
    return


@mutant(Store.catch_up, "Queues are empty after a restart.")
def queues_begin_anew(original, self):
    original(self)
    for topic in list(self.topics()):
        self.delete_topic(topic)


@after(Store.by_key, "After a restart, a search does not find older messages by key.")
def keys_are_forgotten(found, self):
    return [offset for offset in found if offset >= vars(self)["began"]]


@keys_are_forgotten.also(Store.catch_up)
def _(original, self):
    original(self)
    vars(self)["began"] = self.physical_range()[1]


@mutant(Retention.is_time, "Old files are never deleted.")
def old_files_stay(original, self, now):
    return False


@mutant(Store.min_offset, "The lowest offset of a queue remains 0 when its first messages have been deleted.")
def old_messages_are_to_be_had(original, self, topic, queue_id):
    return 0
