"""Faults of looking at what could be popped."""

from harness.wire import ResponseCode
from reference_impl.broker.pop_peeking import PopPeeking
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.remoting.reply import Reply


@mutant(PopPeeking.start, "What was looked at is consumed.", V5)
def peeks_take(original, self, group, topic, queue_id):
    start = original(self, group, topic, queue_id)
    self.broker.offsets.commit(group, topic, queue_id, self.broker.store.max_offset(topic, queue_id), 0)
    return start


@mutant(PopPeeking.start, "A group looks at its queues from the beginning.", V5)
def peeks_begin_anew(original, self, group, topic, queue_id):
    return self.broker.store.min_offset(topic, queue_id)


@mutant(PopPeeking.seen, "A look shows all that there is.", V5)
def peeks_of_any_number(original, self, topic, queue_id, start, most):
    return original(self, topic, queue_id, start, 1 << 10)


@mutant(PopPeeking.places, "A look at all queues is one at the first.", V5)
def peeks_of_one_queue(original, self, group, topic, queue_id):
    return original(self, group, topic, max(queue_id, 0))


@mutant(PopPeeking.places, "A look shows no messages that come again.", V5)
def peeks_leave_out_what_comes_again(original, self, group, topic, queue_id):
    return [place for place in original(self, group, topic, queue_id) if place[0] == topic]


@after(PopPeeking.peek, "A look that finds nothing succeeds.", V5)
def peeks_find_nothing_with_success(reply):
    if reply.code == ResponseCode.PULL_NOT_FOUND:
        reply.code = ResponseCode.SUCCESS


@after(PopPeeking.peek, "A look at what is not there finds nothing.", V5)
def peeks_of_any_place(reply):
    found = reply.code in (ResponseCode.SUCCESS, ResponseCode.PULL_NOT_FOUND)
    return reply if found else Reply(ResponseCode.PULL_NOT_FOUND, ext=reply.ext)


@mutant(PopPeeking.seen, "A look of a group whose next message is gone shows nothing.", V5)
def peeks_end_at_what_is_gone(original, self, topic, queue_id, start, most):
    is_gone = start < self.broker.store.min_offset(topic, queue_id)
    return [] if is_gone else original(self, topic, queue_id, start, most)


@mutant(PopPeeking.start, "A look of a new group begins at 0, also where the first messages are gone.", V5)
def peeks_count_what_is_gone(original, self, group, topic, queue_id):
    return self.broker.offsets.offset_of(group, topic, queue_id) or 0


@after(
    PopPeeking.peek, "The messages of a Broker that may not be read are looked for, and none is found.", V5
)
def every_broker_is_looked_into(reply):
    if reply.code == ResponseCode.NO_PERMISSION and (reply.remark or "").startswith("the broker"):
        reply.code = ResponseCode.PULL_NOT_FOUND
