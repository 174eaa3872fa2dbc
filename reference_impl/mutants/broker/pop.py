"""Mutants of the chapter pop."""

from harness.wire import ResponseCode
from harness.wire.bodies import RequestMode
from harness.wire.messages import PropertyName, TopicName, decode_message
from reference_impl.broker.assignments import Assignments
from reference_impl.broker.part import NEVER
from reference_impl.broker.pop import Pops
from reference_impl.broker.pop_acks import PopAcks
from reference_impl.broker.pop_checkpoints import CheckPoints
from reference_impl.broker.pop_notifications import PopNotifications
from reference_impl.broker.pop_order import PopOrder
from reference_impl.broker.pop_waiting import LATE, PopWaiting
from reference_impl.broker.topics import READ, WRITE
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.remoting.reply import Reply


def _granted(reply: Reply) -> Reply:
    return Reply(ResponseCode.SUCCESS, ext=reply.ext)


@after(Pops.asked, "What one group has popped is popped for all.", V5)
def pops_are_of_all_groups(found):
    found.group = "all"


@after(Pops.asked, "A pop delivers all messages that are left.", V5)
def pops_give_all_there_is(found):
    found.most = max(32, found.most)


@after(Pops.asked, "A pop from any queue is one from the first.", V5)
def pops_are_of_the_first_queue(found):
    found.queue_id = max(0, found.queue_id)


@after(Pops.asked, "The tags of a pop do not count.", V5)
def pops_have_no_filter(found):
    found.expression = None


@mutant(Pops.take, "A popped message is delivered to the next pop too.", V5)
def popped_is_not_hidden(original, self, found, topic, queue_id, now):
    before = self.start(found.pop, topic, queue_id, now)
    original(self, found, topic, queue_id, now)
    self.broker.offsets.commit(found.pop.group, topic, queue_id, before, now)


@mutant(Pops.keep, "No pop gives any message.", V5)
def pops_give_nothing(original, self, of, offsets, found, now):
    return False


@after(Pops.answered, "The answer to a pop does not say where its messages are.", V5)
def pops_list_nothing(reply):
    reply.ext = {**(reply.ext or {}), "startOffsetInfo": "", "msgOffsetInfo": ""}


@after(Pops.answered, "The answer to a pop always says that no message is left.", V5)
def pops_say_that_nothing_is_left(reply):
    reply.ext = {**(reply.ext or {}), "restNum": "0"}


@mutant(Pops.first, "Every new group begins with the first message.", V5)
def pops_always_begin_at_the_beginning(original, self, pop, topic, queue_id):
    return self.broker.store.min_offset(topic, queue_id)


@mutant(
    Pops.first, "A new group that says so begins with the last message, however near the first one is.", V5
)
def pops_begin_at_the_end(original, self, pop, topic, queue_id):
    known = original(self, pop, topic, queue_id)
    return max(known, self.broker.store.max_offset(topic, queue_id) - 1) if pop.init_mode else known


@mutant(Pops.is_too_much, "A pop may ask for any number of messages.", V5)
def pops_of_any_number(original, self, most):
    return False


@mutant(Pops.is_too_late, "A pop is carried out although its client has stopped waiting.", V5)
def late_pops_are_carried_out(original, self, asked, now):
    return False


@mutant(Pops.place_refused, "A topic comes into being by a pop.", V5)
def pops_of_any_topic(original, self, group, topic, queue_id, connection, now):
    self.broker.topics.create(topic, 4, READ | WRITE, now)
    return original(self, group, topic, queue_id, connection, now)


@mutant(Pops.place_refused, "A queue that the topic does not have is popped from.", V5)
def pops_of_any_queue(original, self, group, topic, queue_id, connection, now):
    return original(self, group, topic, -1, connection, now)


@mutant(Pops.place_refused, "A topic that may not be read is popped from.", V5)
def pops_of_every_topic(original, self, group, topic, queue_id, connection, now):
    refused = original(self, group, topic, queue_id, connection, now)
    is_allowed = refused is None or refused.code == ResponseCode.NO_PERMISSION
    return None if is_allowed else refused


@mutant(Pops.as_given, "A message that comes again has the topic in which it does.", V5)
def comes_again_elsewhere(original, self, frame, found, topic, start):
    return frame


@mutant(Pops.as_given, "A message that comes again has no handle.", V5)
def comes_again_without_handle(original, self, frame, found, topic, start):
    message = decode_message(original(self, frame, found, topic, start))
    message.properties.pop(PropertyName.POP_CK, None)
    return self.broker.store.encoded(message)


@mutant(CheckPoints.over, "A message that was popped and not acknowledged does not come again.", V5)
def popped_is_lost(original, self, point, now):
    self.acknowledge(point.pop, sorted(point.left), now)


@mutant(CheckPoints.add, "A message that was popped is hidden for half of its time.", V5)
def hidden_for_half(original, self, pop, offsets, invisible, revive_queue, now):
    return original(self, pop, offsets, invisible // 2, revive_queue, now)


@after(CheckPoints.again, "A message that is delivered again does not count that delivery.", V5)
def comes_again_uncounted(found, message):
    found.reconsume_times = message.reconsume_times


@mutant(CheckPoints.acknowledge, "One acknowledgement is of all that the pop gave.", V5)
def one_ack_is_for_all(original, self, pop, offsets, now):
    everything = range(pop.start, pop.start + 64) if offsets else ()
    original(self, pop, list(everything), now)


@mutant(CheckPoints.read_again, "What was popped is forgotten by a restart.", V5)
def checkpoints_are_forgotten(original, self):
    return None


@mutant(PopAcks.done, "Acknowledgements have no effect.", V5)
def acks_do_not_count(original, self, of, offsets, revive_queue, connection, now):
    return Reply(ResponseCode.SUCCESS)


@mutant(PopAcks.done, "A message that came again cannot be acknowledged.", V5)
def acks_of_what_came_again_do_not_count(original, self, of, offsets, revive_queue, connection, now):
    if of.topic.startswith(TopicName.RETRY_PREFIX):
        return Reply(ResponseCode.SUCCESS)
    return original(self, of, offsets, revive_queue, connection, now)


@mutant(PopAcks.meant, "An acknowledgement of several messages at once has no effect.", V5)
def acks_of_several_do_not_count(original, self, ack):
    of, _, revive_queue = original(self, ack)
    return of, [], revive_queue


@mutant(PopAcks.acknowledge_all, "A request that acknowledges no message is a success.", V5)
def acks_of_nothing_succeed(original, self, command, connection, now):
    return _granted(original(self, command, connection, now))


@mutant(PopAcks.acknowledge, "What a queue never had can be acknowledged.", V5)
def acks_of_any_offset(original, self, command, connection, now):
    return _granted(original(self, command, connection, now))


@mutant(PopAcks.hide, "What a queue does not have can be hidden.", V5)
def anything_can_be_hidden(original, self, command, connection, now):
    return _granted(original(self, command, connection, now))


@mutant(PopAcks.hidden_anew, "A message is never hidden for longer than at first.", V5)
def hidden_for_no_longer(original, self, again, offset, invisible, handle, now):
    least = min(invisible, handle.invisible)
    return original(self, again, offset, least, handle, now)


@mutant(PopAcks.done, "A message that was hidden anew can be acknowledged by its first handle.", V5)
def old_handles_are_worth_something(original, self, of, offsets, revive_queue, connection, now):
    for pop in list(self.broker.checkpoints.points):
        if (pop.topic, pop.group, pop.queue_id) == (of.topic, of.group, of.queue_id):
            self.broker.checkpoints.acknowledge(pop, offsets, now)
    return Reply(ResponseCode.SUCCESS)


@mutant(PopWaiting.hold, "A pop that finds nothing is answered at once.", V5)
def pops_do_not_wait(original, self, waiter, now):
    return LATE if waiter.pops else original(self, waiter, now)


@mutant(PopWaiting.hold, "A notification is answered at once.", V5)
def notifications_do_not_wait(original, self, waiter, now):
    return original(self, waiter, now) if waiter.pops else LATE


@mutant(PopWaiting.wants, "No message ends the wait of a pop.", V5)
def arrivals_release_no_pops(original, self, waiter, tags):
    return not waiter.pops and original(self, waiter, tags)


@mutant(PopWaiting.next_tick, "The wait of a pop never ends.", V5)
def pops_wait_for_ever(original, self):
    return NEVER


@mutant(PopWaiting.is_full, "The number of waiting pops has no limit.", V5)
def all_pops_may_wait(original, self, waiting):
    return False


@mutant(PopNotifications.has_any, "A notification always says that there is nothing to pop.", V5)
def notifications_say_no(original, self, asked, now):
    return False


@mutant(PopNotifications.has_any, "A notification always says that there is something to pop.", V5)
def notifications_say_yes(original, self, asked, now):
    return True


@mutant(PopOrder.blocks, "Messages are popped although those before them are not acknowledged.", V5)
def ordered_pops_do_not_block(original, self, queue, attempt, now):
    return False


@mutant(PopOrder.acknowledge, "Acknowledgements of what was popped in order have no effect.", V5)
def ordered_acks_free_nothing(original, self, queue, offset, pop_time):
    return None


@mutant(
    PopOrder.acknowledge,
    "In order, everything before an acknowledgement and behind it counts as consumed.",
    V5,
)
def ordered_pops_go_on(original, self, queue, offset, pop_time):
    consumed = original(self, queue, offset, pop_time)
    return self.last[queue].offsets[-1] + 1 if consumed is not None and consumed >= 0 else consumed


@mutant(PopOrder.acknowledge, "In order, any message can be acknowledged by any handle of its queue.", V5)
def ordered_acks_of_anything(original, self, queue, offset, pop_time):
    consumed = original(self, queue, offset, pop_time)
    return None if consumed == -1 else consumed


@mutant(Assignments.set_mode, "The mode of a group can be set for unknown topics.", V5)
def modes_need_no_topic(original, self, command, connection, now):
    return Reply(ResponseCode.SUCCESS)


@mutant(Assignments.divided, "Every member of a group gets all queues.", V5)
def queues_are_everybodys(original, self, queues, members, client, strategy):
    return queues


@mutant(Assignments.mode, "What was said about how a group consumes has no effect.", V5)
def modes_do_not_count(original, self, group, topic):
    return RequestMode(group, "PULL", 0, topic)


@mutant(Assignments.share, "A group without members gets all queues.", V5)
def who_is_no_member_gets_all(original, self, asked, queues, mode):
    return original(self, asked, queues, mode) or queues


@mutant(Assignments.keep, "What was said about how a group consumes is forgotten by a restart.", V5)
def modes_are_forgotten(original, self):
    return None
