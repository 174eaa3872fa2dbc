"""Faults of pops in order."""

from heapq import heappush

from reference_impl.broker.pop import Pops
from reference_impl.broker.pop_acks import PopAcks
from reference_impl.broker.pop_order import PopOrder
from reference_impl.broker.pop_terms import ORDERED
from reference_impl.mutants.registry import V5, mutant


@mutant(Pops.take, "A queue that waits in order gives nothing to any pop of the group.", V5)
def ordered_pops_hold_others_up(original, self, found, topic, queue_id, now):
    if not self.broker.pop_order.blocks((topic, found.pop.group, queue_id), found.pop.attempt, now):
        original(self, found, topic, queue_id, now)


@mutant(Pops.find, "An ordered pop takes what comes again, too.", V5)
def ordered_pops_take_what_comes_again(original, self, asked, wanted, topic, now):
    found = original(self, asked, wanted, topic, now)
    again = self.broker.topics.get(self.retry_topic(asked, 99)) if asked.order else None
    if again is not None:
        self.take_all(found, again, 0, now)
    return found


@mutant(PopOrder.blocks, "An ordered pop continues past unacknowledged messages.", V5)
def ordered_pops_do_not_block(original, self, queue, attempt, now):
    return False


@mutant(PopOrder.acknowledge, "Acknowledgements of ordered pops have no effect.", V5)
def ordered_acks_free_nothing(original, self, queue, offset, pop_time):
    return None


@mutant(
    PopOrder.acknowledge,
    "In order, one acknowledgement marks all messages before and after it as consumed.",
    V5,
)
def ordered_pops_go_on(original, self, queue, offset, pop_time):
    consumed = original(self, queue, offset, pop_time)
    return self.last[queue].offsets[-1] + 1 if consumed is not None and consumed >= 0 else consumed


@mutant(PopOrder.give, "In order, a message that was returned twice counts as returned once.", V5)
def ordered_pops_count_to_one(original, self, queue, offsets, invisible, attempt, now):
    last = self.last.get(queue)
    if last is not None and (attempt is None or attempt != last.attempt):
        last.counts = {}
    return original(self, queue, offsets, invisible, attempt, now)


@mutant(PopOrder.give, "In order, the count of a queue is that of its message returned most often.", V5)
def ordered_counts_are_the_highest(original, self, queue, offsets, invisible, attempt, now):
    *entries, whole = original(self, queue, offsets, invisible, attempt, now).split(";")
    highest = max(self.last[queue].counts.values(), default=0)
    return ";".join((*entries, f"{whole.rpartition(' ')[0]} {highest}"))


@mutant(PopOrder.acknowledge, "In order, any handle can acknowledge any message of its queue.", V5)
def ordered_acks_of_anything(original, self, queue, offset, pop_time):
    consumed = original(self, queue, offset, pop_time)
    return None if consumed == -1 else consumed


@mutant(PopAcks.done_in_order, "The refusal of an ordered acknowledgement does not say whose it was.", V5)
def ordered_acks_are_of_nobody(original, self, queue, offset, pop_time, connection, now):
    return original(self, queue, offset, pop_time, -1, now)


@mutant(PopOrder.hide, "The invisible time of a message popped in order cannot be changed.", V5)
def ordered_messages_stay_hidden_as_before(original, self, queue, offset, pop_time, until):
    return None


@mutant(
    PopAcks.hide_in_order, "Code 200053 of a message popped in order answers the time that it asks for.", V5
)
def changed_times_are_told_as_asked(original, self, queue, offset, handle, invisible, now):
    reply = original(self, queue, offset, handle, invisible, now)
    if reply.ext["reviveQid"] != "0":
        reply.ext["invisibleTime"] = str(invisible)
    return reply


@mutant(PopOrder.hide, "A message popped in order that is hidden for another time blocks for ever.", V5)
def ordered_messages_are_never_seen_again(original, self, queue, offset, pop_time, until):
    original(self, queue, offset, pop_time, 1 << 60)


@mutant(PopOrder.blocks, "A repeated attempt of an ordered pop is taken for another pop.", V5)
def ordered_attempts_are_not_known(original, self, queue, attempt, now):
    return original(self, queue, None, now)


@mutant(PopOrder.acknowledge, "In order, the handle of an earlier pop acknowledges a message.", V5)
def old_ordered_handles_count(original, self, queue, offset, pop_time):
    last = self.last.get(queue)
    return original(self, queue, offset, pop_time if last is None else last.pop_time)


@mutant(PopOrder.acknowledge, "In order, a message is refused if its queue has not been popped from.", V5)
def ordered_acks_need_a_pop(original, self, queue, offset, pop_time):
    return -1 if queue not in self.last else original(self, queue, offset, pop_time)


@mutant(PopOrder.clear, "A reset leaves what an ordered pop has blocked.", V5)
def resets_leave_queues_blocked(original, self, queue):
    return None


@mutant(PopOrder.acknowledge, "In order, an acknowledgement commits to the last message that is left.", V5)
def ordered_acks_commit_past_what_is_left(original, self, queue, offset, pop_time):
    consumed = original(self, queue, offset, pop_time)
    return max(self.last[queue].until) if consumed is not None and self.last[queue].until else consumed


@mutant(PopOrder.hide, "In order, any handle hides any message of its queue.", V5)
def any_ordered_handle_hides(original, self, queue, offset, pop_time, until):
    last = self.last.get(queue)
    if last is not None:
        last.until[offset] = until
        heappush(self._over, (until, queue))


@mutant(PopAcks.done_in_order, "In order, an acknowledgement undoes a reset.", V5)
def ordered_acks_undo_resets(original, self, queue, offset, pop_time, connection, now):
    topic, group, queue_id = queue
    resets = self.broker.offsets._resets
    kept, self.broker.offsets._resets = resets, {}
    reply = original(self, queue, offset, pop_time, connection, now)
    self.broker.offsets._resets = kept
    for key, known in resets.items():
        if key == f"{topic}@{group}" and queue_id in known:
            known[queue_id] = self.broker.offsets.table[key][queue_id]
    return reply


@mutant(PopOrder.tick, "A queue that is free again releases no pop that waits in order.", V5)
def ordered_queues_are_freed_in_silence(original, self, now):
    self._over.clear()


@mutant(PopAcks.done, "In order, an entry of several messages acknowledges the first one alone.", V5)
def one_message_of_an_ordered_entry_counts(original, self, of, offsets, revive_queue, connection, now):
    counted = offsets[:1] if revive_queue == ORDERED else offsets
    return original(self, of, counted, revive_queue, connection, now)


@mutant(PopAcks.done_in_order, "The last acknowledgement of an ordered pop ends no waits.", V5)
def ordered_acks_free_in_silence(original, self, queue, offset, pop_time, connection, now):
    more = self.broker.pop_waiting._more.copy()
    reply = original(self, queue, offset, pop_time, connection, now)
    self.broker.pop_waiting._more = more
    return reply


@mutant(PopOrder.acknowledge, "The first acknowledgement of an ordered pop frees its queue.", V5)
def first_ordered_ack_ends_waits(original, self, queue, offset, pop_time):
    consumed = original(self, queue, offset, pop_time)
    if consumed is not None and consumed > offset:
        self.clear(queue)
    return consumed


@mutant(PopAcks.meant, "A batch acknowledgement in order is refused for offsets that no queue has.", V5)
def ordered_acks_of_nothing_are_refused(original, self, ack):
    of, offsets, revive_queue = original(self, ack)
    end = self.broker.store.max_offset(of.topic, of.queue_id)
    return of, [min(offset, end) for offset in offsets], revive_queue


@mutant(PopOrder.hide, "No waiting pop gets a message whose changed invisible time is over.", V5)
def changed_times_free_in_silence(original, self, queue, offset, pop_time, until):
    over = list(self._over)
    original(self, queue, offset, pop_time, until)
    self._over = over
