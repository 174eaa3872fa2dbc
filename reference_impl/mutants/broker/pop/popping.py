"""Faults of pops: which messages they return, and what is refused."""

from msgspec.structs import replace

from harness.wire import ResponseCode
from harness.wire.messages import PropertyName, decode_message
from reference_impl.broker.pop import TOO_LATE, Pops
from reference_impl.broker.topics import READ, WRITE
from reference_impl.mutants.registry import V5, after, mutant


@after(Pops.asked, "A message popped by one group is hidden from all.", V5)
def pops_are_of_all_groups(found):
    found.group = "all"


@after(Pops.asked, "A pop returns up to 32 messages, however few it requests.", V5)
def pops_give_all_there_is(found):
    found.most = max(32, found.most)


@after(Pops.asked, "A pop from any queue reads only the first.", V5)
def pops_are_of_the_first_queue(found):
    found.queue_id = max(0, found.queue_id)


@after(Pops.asked, "A pop ignores its tags.", V5)
def pops_have_no_filter(found):
    found.expression = None


@mutant(Pops.take, "The next pop returns a popped message again.", V5)
def popped_is_not_hidden(original, self, found, topic, queue_id, now):
    before = self.start(found.pop, topic, queue_id, now)
    original(self, found, topic, queue_id, now)
    self.broker.offsets.commit(found.pop.group, topic, queue_id, before, now)


@mutant(Pops.keep, "A pop never returns messages.", V5)
def pops_give_nothing(original, self, of, offsets, found, now):
    return False


@after(Pops.answered, "The pop response omits the offsets of its messages.", V5)
def pops_list_nothing(reply):
    reply.ext = {**(reply.ext or {}), "startOffsetInfo": "", "msgOffsetInfo": ""}


@after(Pops.answered, "The pop response always reports 0 remaining messages.", V5)
def pops_say_that_nothing_is_left(reply):
    reply.ext = {**(reply.ext or {}), "restNum": "0"}


@after(Pops.answered, "Each pop response says how often messages came before, as ordered ones do.", V5)
def pops_count_without_order(reply):
    reply.ext = {"orderCountInfo": "", **(reply.ext or {})}


@mutant(Pops.first, "Every new group starts at the first message.", V5)
def pops_always_begin_at_the_beginning(original, self, pop, topic, queue_id):
    return self.broker.store.min_offset(topic, queue_id)


@mutant(Pops.first, "A new group with initMode 1 always starts at the last message.", V5)
def pops_begin_at_the_end(original, self, pop, topic, queue_id):
    known = original(self, pop, topic, queue_id)
    return max(known, self.broker.store.max_offset(topic, queue_id) - 1) if pop.init_mode else known


@mutant(Pops.is_too_late, "A pop is too late as soon as 500 ms have passed since it was born.", V5)
def pops_are_late_before_their_time_is_over(original, self, asked, now):
    return now - asked.born > TOO_LATE


@mutant(Pops.is_too_much, "A pop can request any number of messages.", V5)
def pops_of_any_number(original, self, most):
    return False


@mutant(Pops.is_too_late, "The server executes a pop after its client has stopped waiting.", V5)
def late_pops_are_carried_out(original, self, asked, now):
    return False


@mutant(Pops.place_refused, "A pop creates a missing topic.", V5)
def pops_of_any_topic(original, self, group, topic, queue_id, connection, now):
    self.broker.topics.create(topic, 4, READ | WRITE, now)
    return original(self, group, topic, queue_id, connection, now)


@mutant(Pops.place_refused, "A pop from a missing queue is not refused.", V5)
def pops_of_any_queue(original, self, group, topic, queue_id, connection, now):
    return original(self, group, topic, -1, connection, now)


@mutant(Pops.place_refused, "A pop ignores missing read permission.", V5)
def pops_of_every_topic(original, self, group, topic, queue_id, connection, now):
    refused = original(self, group, topic, queue_id, connection, now)
    is_allowed = refused is None or refused.code == ResponseCode.NO_PERMISSION
    return None if is_allowed else refused


@mutant(Pops.as_given, "A redelivered message has the retry topic as its topic.", V5)
def comes_again_elsewhere(original, self, frame, found, topic, start):
    return frame


@mutant(
    Pops.as_given, "A redelivered message has the topic that was asked for, whatever the settings say.", V5
)
def comes_again_as_asked_for(original, self, frame, found, topic, start):
    message = decode_message(original(self, frame, found, topic, start))
    message.topic = found.pop.topic
    return self.broker.store.encoded(message)


@mutant(Pops.as_given, "A redelivered message has no handle.", V5)
def comes_again_without_handle(original, self, frame, found, topic, start):
    message = decode_message(original(self, frame, found, topic, start))
    message.properties.pop(PropertyName.POP_CK, None)
    return self.broker.store.encoded(message)


@mutant(Pops.take, "A pop leaves an offset beyond the end of its queue as it is.", V5)
def offsets_beyond_the_end_stay(original, self, found, topic, queue_id, now):
    start = self.start(found.pop, topic, queue_id, now)
    if start <= self.broker.store.max_offset(topic, queue_id):
        original(self, found, topic, queue_id, now)


@mutant(Pops.take, "A pop finds nothing if the offset of its group is below the lowest of its queue.", V5)
def pops_begin_with_what_is_gone(original, self, found, topic, queue_id, now):
    start = self.start(found.pop, topic, queue_id, now)
    if start >= self.broker.store.min_offset(topic, queue_id):
        original(self, found, topic, queue_id, now)


@mutant(
    Pops.first, "A new group with initMode 1 begins with the first message, even if others were deleted.", V5
)
def new_groups_begin_at_what_is_left(original, self, pop, topic, queue_id):
    return original(self, replace(pop, init_mode=0), topic, queue_id)


@mutant(Pops.refused, "A pop does not need the timer.", V5)
def pops_without_the_timer(original, self, asked, connection, now):
    refused = original(self, asked, connection, now)
    return None if refused is not None and refused.code == ResponseCode.SYSTEM_ERROR else refused


@mutant(Pops.refused, "A Broker that may not be read answers pops.", V5)
def brokers_are_always_popped_from(original, self, asked, connection, now):
    refused = original(self, asked, connection, now)
    return None if refused is not None and refused.code == ResponseCode.NO_PERMISSION else refused


@mutant(Pops.start, "Pops ignore resets of offsets.", V5)
def pops_heed_no_resets(original, self, pop, topic, queue_id, now):
    return self.broker.offsets.offset_of(pop.group, topic, queue_id) or 0


@mutant(Pops.start, "A pop after a reset also sets the queue whose number is the offset.", V5)
def resets_also_set_the_queue_of_their_offset(original, self, pop, topic, queue_id, now):
    is_reset = self.broker.offsets.is_reset(pop.group, topic, queue_id)
    start = original(self, pop, topic, queue_id, now)
    if is_reset:
        self.broker.offsets.commit(pop.group, topic, start, queue_id, now)
    return start


@mutant(Pops.take, "Messages that do not match are looked at again by the next pop.", V5)
def pops_come_back_to_what_does_not_match(original, self, found, topic, queue_id, now):
    before, count = self.start(found.pop, topic, queue_id, now), len(found.frames)
    original(self, found, topic, queue_id, now)
    if len(found.frames) == count:
        self.broker.offsets.commit(found.pop.group, topic, queue_id, before, now)


@after(Pops.as_given, "A pop returns messages without the time when they were stored.", V5)
def popped_messages_have_no_time(frame, self):
    return self.broker.store.encoded(replace(decode_message(frame), store_timestamp=0))


@mutant(Pops.take, "A pop returns as many messages as requested from each queue.", V5)
def pops_give_so_many_of_each_queue(original, self, found, topic, queue_id, now):
    before, found.frames = found.frames, []
    original(self, found, topic, queue_id, now)
    found.frames = before + found.frames


@mutant(Pops.take_all, "A pop of any queue takes from the queues to write.", V5)
def pops_are_of_queues_to_write(original, self, found, topic, number, now):
    original(self, found, replace(topic, read_queue_nums=topic.write_queue_nums), number, now)
