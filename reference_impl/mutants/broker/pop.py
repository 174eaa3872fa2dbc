"""Mutants of the chapter pop."""

import json

from harness.wire import ResponseCode
from harness.wire.bodies import RequestMode, RequestModes
from harness.wire.fastjson import document
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


@mutant(Pops.first, "Every new group starts at the first message.", V5)
def pops_always_begin_at_the_beginning(original, self, pop, topic, queue_id):
    return self.broker.store.min_offset(topic, queue_id)


@mutant(Pops.first, "A new group with initMode 1 always starts at the last message.", V5)
def pops_begin_at_the_end(original, self, pop, topic, queue_id):
    known = original(self, pop, topic, queue_id)
    return max(known, self.broker.store.max_offset(topic, queue_id) - 1) if pop.init_mode else known


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


@mutant(Pops.as_given, "A redelivered message has no handle.", V5)
def comes_again_without_handle(original, self, frame, found, topic, start):
    message = decode_message(original(self, frame, found, topic, start))
    message.properties.pop(PropertyName.POP_CK, None)
    return self.broker.store.encoded(message)


@mutant(CheckPoints.over, "An unacknowledged message is not redelivered.", V5)
def popped_is_lost(original, self, point, now):
    self.acknowledge(point.pop, sorted(point.left), now)


@mutant(CheckPoints.add, "A popped message is hidden for half of the requested time.", V5)
def hidden_for_half(original, self, pop, offsets, invisible, revive_queue, now):
    return original(self, pop, offsets, invisible // 2, revive_queue, now)


@after(CheckPoints.again, "Redelivery does not increase the reconsume times.", V5)
def comes_again_uncounted(found, message):
    found.reconsume_times = message.reconsume_times


@mutant(CheckPoints.acknowledge, "Acknowledging one message acknowledges the whole pop.", V5)
def one_ack_is_for_all(original, self, pop, offsets, now):
    everything = range(pop.start, pop.start + 64) if offsets else ()
    original(self, pop, list(everything), now)


@mutant(CheckPoints.read_again, "A restart loses unacknowledged messages.", V5)
def checkpoints_are_forgotten(original, self):
    return None


@mutant(PopAcks.done, "Acknowledgements have no effect.", V5)
def acks_do_not_count(original, self, of, offsets, revive_queue, connection, now):
    return Reply(ResponseCode.SUCCESS)


@mutant(PopAcks.done, "A redelivered message cannot be acknowledged.", V5)
def acks_of_what_came_again_do_not_count(original, self, of, offsets, revive_queue, connection, now):
    if of.topic.startswith(TopicName.RETRY_PREFIX):
        return Reply(ResponseCode.SUCCESS)
    return original(self, of, offsets, revive_queue, connection, now)


@mutant(PopAcks.meant, "Batch acknowledgements have no effect.", V5)
def acks_of_several_do_not_count(original, self, ack):
    of, _, revive_queue = original(self, ack)
    return of, [], revive_queue


@mutant(PopAcks.acknowledge_all, "An empty batch acknowledgement succeeds.", V5)
def acks_of_nothing_succeed(original, self, command, connection, now):
    return _granted(original(self, command, connection, now))


@mutant(PopAcks.acknowledge, "An offset that the queue does not have can be acknowledged.", V5)
def acks_of_any_offset(original, self, command, connection, now):
    return _granted(original(self, command, connection, now))


@mutant(PopAcks.hide, "An offset that the queue does not have can be hidden.", V5)
def anything_can_be_hidden(original, self, command, connection, now):
    return _granted(original(self, command, connection, now))


@mutant(PopAcks.hidden_anew, "The invisible time of a message cannot be extended.", V5)
def hidden_for_no_longer(original, self, again, offset, invisible, handle, now):
    least = min(invisible, handle.invisible)
    return original(self, again, offset, least, handle, now)


@mutant(PopAcks.done, "An old handle remains valid after the invisible time changes.", V5)
def old_handles_are_worth_something(original, self, of, offsets, revive_queue, connection, now):
    for pop in list(self.broker.checkpoints.points):
        if (pop.topic, pop.group, pop.queue_id) == (of.topic, of.group, of.queue_id):
            self.broker.checkpoints.acknowledge(pop, offsets, now)
    return Reply(ResponseCode.SUCCESS)


@mutant(PopWaiting.hold, "A pop that finds nothing returns at once.", V5)
def pops_do_not_wait(original, self, waiter, now):
    return LATE if waiter.pops else original(self, waiter, now)


@mutant(PopWaiting.hold, "A notification request returns at once.", V5)
def notifications_do_not_wait(original, self, waiter, now):
    return original(self, waiter, now) if waiter.pops else LATE


@mutant(PopWaiting.wants, "A new message does not end the wait of a pop.", V5)
def arrivals_release_no_pops(original, self, waiter, tags):
    return not waiter.pops and original(self, waiter, tags)


@mutant(PopWaiting.next_tick, "The wait of a pop never ends.", V5)
def pops_wait_for_ever(original, self):
    return NEVER


@mutant(PopWaiting.is_full, "The number of waiting pops has no limit.", V5)
def all_pops_may_wait(original, self, waiting):
    return False


@mutant(PopNotifications.has_any, "A notification always reports hasMsg=false.", V5)
def notifications_say_no(original, self, asked, now):
    return False


@mutant(PopNotifications.has_any, "A notification always reports hasMsg=true.", V5)
def notifications_say_yes(original, self, asked, now):
    return True


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


@mutant(PopOrder.acknowledge, "In order, any handle can acknowledge any message of its queue.", V5)
def ordered_acks_of_anything(original, self, queue, offset, pop_time):
    consumed = original(self, queue, offset, pop_time)
    return None if consumed == -1 else consumed


@mutant(Assignments.set_mode, "The mode of a group can be set for unknown topics.", V5)
def modes_need_no_topic(original, self, command, connection, now):
    return Reply(ResponseCode.SUCCESS)


@mutant(Assignments.divided, "Every member of a group is assigned all queues.", V5)
def queues_are_everybodys(original, self, queues, members, client, strategy):
    return queues


@mutant(Assignments.mode, "The request mode of a group has no effect.", V5)
def modes_do_not_count(original, self, group, topic):
    return RequestMode(group, "PULL", 0, topic)


@mutant(Assignments.share, "A group without members is assigned all queues.", V5)
def who_is_no_member_gets_all(original, self, asked, queues, mode):
    return original(self, asked, queues, mode) or queues


@mutant(Assignments.keep, "A restart loses the request mode of a group.", V5)
def modes_are_forgotten(original, self):
    return None


@after(Assignments.all_modes, "Code 402 shows no request mode.", V5)
def modes_are_hidden(reply):
    return Reply(0, body=RequestModes({}).encode())


@after(Assignments.all_modes, "Code 402 shows the request mode of one group of each topic.", V5)
def one_mode_of_a_topic_is_shown(reply):
    name = "messageRequestModeMap"
    found = json.loads(reply.body)[name]
    return Reply(0, body=document({name: {one: dict([*modes.items()][-1:]) for one, modes in found.items()}}))
