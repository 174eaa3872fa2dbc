"""Mutants of the chapter storage: what does not survive, and offsets that are given wrongly."""

from reference_impl.broker.store import Store
from reference_impl.mutants.registry import after, mutant


@mutant(Store.max_offset, "Every second offset of a queue is left out.")
def offsets_skip_one(original, self, topic, queue_id):
    return 2 * original(self, topic, queue_id)


@mutant(Store.max_offset, "The queues of a topic count their messages together.")
def queues_share_offsets(original, self, topic, queue_id):
    queues = self.topics().get(topic, [])
    return sum(original(self, topic, queue) for queue in queues)


@mutant(Store.commit, "Stored messages are kept in memory until a buffer is full.")
def hands_over_late(original, self):
    return


@mutant(Store.catch_up, "At a start, the queues are empty.")
def queues_begin_anew(original, self):
    original(self)
    for topic in list(self.topics()):
        self.delete_topic(topic)


@after(Store.by_key, "After a start, only what is stored from then on is found by its key.")
def keys_are_forgotten(found, self):
    return [offset for offset in found if offset >= vars(self)["began"]]


@keys_are_forgotten.also(Store.catch_up)
def _(original, self):
    original(self)
    vars(self)["began"] = self.physical_range()[1]
