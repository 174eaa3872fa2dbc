"""Mutants of the chapter pop."""

import json

from msgspec.structs import replace

from harness.wire import ResponseCode, WireError
from harness.wire.bodies import Assignments as Answer
from harness.wire.bodies import BatchAcks, RequestMode, RequestModes
from harness.wire.fastjson import document
from harness.wire.messages import Message, PropertyName, TopicName, decode_message
from reference_impl.broker.assignments import Assignments
from reference_impl.broker.part import NEVER
from reference_impl.broker.pop import Pops
from reference_impl.broker.pop_acks import PopAcks
from reference_impl.broker.pop_checkpoints import CheckPoints
from reference_impl.broker.pop_notifications import PopNotifications
from reference_impl.broker.pop_order import PopOrder
from reference_impl.broker.pop_waiting import ANY_QUEUE, LATE, PopWaiting
from reference_impl.broker.topics import READ, WRITE
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.remoting.reply import RefusedError, Reply


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


@mutant(Assignments.set_mode, "The mode can be set without a group.", V5)
def modes_need_no_group(original, self, command, connection, now):
    body = {"consumerGroup": "DEFAULT", **json.loads(command.body or b"{}")}
    return original(self, replace(command, body=document(body)), connection, now)


@mutant(Assignments.set_mode, "The mode can be set for groups that do not exist.", V5)
def modes_of_unknown_groups_are_set(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(0) if reply.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST else reply


@mutant(Assignments.divided, "Every member of a group is assigned all queues.", V5)
def queues_are_everybodys(original, self, queues, members, client, strategy):
    return queues


@mutant(Assignments.mode, "The request mode of a group has no effect.", V5)
def modes_do_not_count(original, self, group, topic):
    return RequestMode(group, "PULL", 0, topic)


@mutant(Assignments.share, "A group without members is assigned all queues.", V5)
def who_is_no_member_gets_all(original, self, asked, queues, mode):
    return original(self, asked, queues, mode) or queues


def _asking(original, self, command, connection, now, **assumed):
    """A question for an assignment that has these members unless it says otherwise."""
    body = {**assumed, **json.loads(command.body)}
    return original(self, replace(command, body=document(body)), connection, now)


@mutant(Assignments.assign, "An assignment without a group is one for no member.", V5)
def assignments_need_no_group(original, self, command, connection, now):
    return _asking(original, self, command, connection, now, consumerGroup="")


@mutant(Assignments.assign, "An assignment without a model is one for clustering.", V5)
def assignments_need_no_model(original, self, command, connection, now):
    return _asking(original, self, command, connection, now, messageModel="CLUSTERING")


@mutant(Assignments.divided, "A client that is no member of a group that pulls is assigned all queues.", V5)
def who_is_no_member_pulls_all(original, self, queues, members, client, strategy):
    return original(self, queues, members, client, strategy) if client in members else queues


@mutant(Assignments.share, "A client that is no member of a group that pops is assigned all queues.", V5)
def who_is_no_member_pops_all(original, self, asked, queues, mode):
    found = original(self, asked, queues, mode)
    return found if found or mode.mode == "PULL" else queues


@mutant(Assignments.queues, "A route that cannot be read is none.", V5)
def unreadable_routes_are_none(original, self, topic, reply):
    try:
        return original(self, topic, reply)
    except WireError:
        return None


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


@after(CheckPoints.again, "A redelivered message has only the properties of its pops.", V5)
def comes_again_without_its_past(found):
    found.properties = {"1ST_POP_TIME": found.properties["1ST_POP_TIME"]}


@after(CheckPoints.again, "Every redelivery sets the time of the first pop anew.", V5)
def comes_again_with_a_new_first_pop(found, popped):
    found.properties["1ST_POP_TIME"] = str(popped)


@mutant(
    CheckPoints.revive, "Messages are redelivered in the older retry topic whatever the settings say.", V5
)
def comes_again_in_the_older_topic(original, self, pop, message, now):
    if not pop.topic.startswith(TopicName.RETRY_PREFIX):
        pop = pop._replace(topic=f"{TopicName.RETRY_PREFIX}{pop.group}_{pop.topic}")
    original(self, pop, message, now)


@mutant(CheckPoints.revive, "A redelivered message releases no waiting pop.", V5)
def what_comes_again_releases_no_pops(original, self, pop, message, now):
    before = dict(self.broker.pop_waiting._more)
    original(self, pop, message, now)
    self.broker.pop_waiting._more = before


@mutant(PopAcks.acknowledge, "Any text is a valid handle.", V5)
def handles_may_be_anything(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@handles_may_be_anything.also(PopAcks.hide)
def _(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@mutant(PopNotifications.look, "The wait of a notification request never ends without a message.", V5)
def notifications_wait_for_ever(original, self, asked, poll, until, command, connection, now):
    return original(self, asked, poll, NEVER, command, connection, now)


@mutant(PopNotifications.has_any, "A notification does not count messages that are redelivered.", V5)
def notifications_are_of_the_topic_alone(original, self, asked, now):
    queues = self.broker.topics.get(asked.topic).read_queue_nums
    return any(self.has(asked, asked.topic, queue, now) for queue in range(queues))


@mutant(PopNotifications.refused, "Codes 200054 and 200055 are not refused for any topic or queue.", V5)
def questions_about_any_topic(original, self, asked, connection, now):
    return None


@mutant(PopWaiting._places, "A message releases no pop that waits for one queue.", V5)
def pops_wait_for_any_queue_only(original, self, topic, group, queue_id):
    return [place for place in original(self, topic, group, queue_id) if place[2] == ANY_QUEUE]


@mutant(PopWaiting.has_more, "Messages that one pop leaves release no other waiting pop.", V5)
def what_is_left_releases_no_pops(original, self, topic, group, queue_id):
    return None


@mutant(Assignments.share, "A member that pops shares no queues with others.", V5)
def pop_queues_are_not_shared(original, self, asked, queues, mode):
    alone = RequestMode(mode.consumer_group, "PULL", 0, mode.topic) if mode.pop_share_queue_num == 1 else mode
    return original(self, asked, queues, alone)


@mutant(Assignments.share, "Of more members than queues, those beyond the queues get none.", V5)
def members_beyond_the_queues_pop_nothing(original, self, asked, queues, mode):
    found = original(self, asked, queues, mode)
    members = sorted(one.id for one in self.broker.clients.consumers[asked.consumer_group].members.values())
    return found if members.index(asked.client_id) < len(queues) else []


@mutant(Assignments.mode, "The configured default mode has no effect.", V5)
def default_mode_is_pull(original, self, group, topic):
    known = original(self, group, topic)
    return known if topic in self._modes else RequestMode(group, "PULL", 0, topic)


@mutant(Assignments.mode, "The configured default mode applies to retry topics.", V5)
def retry_topics_have_the_default_mode(original, self, group, topic):
    return original(self, group, topic.removeprefix(TopicName.RETRY_PREFIX))


@after(
    Assignments.answer, "A topic without a route is assigned no queues, which clients take as an order.", V5
)
def unknown_topics_have_no_queues(reply, queues):
    if queues is None:
        reply.body = Answer([], "PULL").encode()


@mutant(Assignments.answer, "Members of a broadcasting group share the queues.", V5)
def broadcasting_members_share_queues(original, self, asked, queues):
    return original(self, replace(asked, message_model="CLUSTERING"), queues)


@after(Assignments.queues, "Only the queues of the first Broker of a route are assigned.", V5)
def queues_of_one_broker_are_assigned(found):
    found[:] = [queue for queue in found if queue.broker_name == found[0].broker_name]


@mutant(Assignments.answer, "The Broker balances queues although it is configured not to.", V5)
def queues_are_always_balanced(original, self, asked, queues):
    mode = self.mode(asked.consumer_group, asked.topic)
    shared = None if queues is None else self.share(asked, queues, mode)
    return original(self, asked, shared)


# -- who may pop ---------------------------------------------------------------------------------------------


@mutant(Pops.refused, "A pop does not need the timer.", V5)
def pops_without_the_timer(original, self, asked, connection, now):
    refused = original(self, asked, connection, now)
    return None if refused is not None and refused.code == ResponseCode.SYSTEM_ERROR else refused


@mutant(Pops.refused, "A Broker that may not be read answers pops.", V5)
def brokers_are_always_popped_from(original, self, asked, connection, now):
    refused = original(self, asked, connection, now)
    return None if refused is not None and refused.code == ResponseCode.NO_PERMISSION else refused


@mutant(PopNotifications.refused, "A Broker that may not be read answers codes 200054 and 200055.", V5)
def questions_to_any_broker(original, self, asked, connection, now):
    refused = original(self, asked, connection, now)
    return None if refused is not None and refused.code == ResponseCode.NO_PERMISSION else refused


# -- acknowledgements of several -----------------------------------------------------------------------------


@mutant(PopAcks.acknowledge_all, "Batch acknowledgements that cannot be read succeed.", V5)
def acks_that_cannot_be_read_succeed(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@after(PopAcks.acknowledge_all, "A batch acknowledgement of what was not popped in order succeeds.", V5)
def ordered_acks_of_several_are_not_refused(reply):
    return _granted(reply) if reply.code == ResponseCode.MESSAGE_ILLEGAL else reply


@mutant(PopAcks.acknowledge_all, "Of a batch acknowledgement, only the first entry counts.", V5)
def one_ordered_ack_of_several_counts(original, self, command, connection, now):
    asked = BatchAcks.decode(command.body)
    asked.acks = asked.acks[:1]
    return original(self, replace(command, body=asked.encode()), connection, now)


@mutant(PopAcks.acknowledge_all, "A batch acknowledgement is answered as its last entry alone.", V5)
def last_ordered_ack_of_several_decides(original, self, command, connection, now):
    reply, asked = original(self, command, connection, now), BatchAcks.decode(command.body or b"{}")
    if len(asked.acks) < 2:
        return reply
    asked.acks = asked.acks[-1:]
    return original(self, replace(command, body=asked.encode()), connection, now)


# -- in order, once more -------------------------------------------------------------------------------------


@mutant(PopOrder.hide, "The invisible time of a message popped in order cannot be changed.", V5)
def ordered_messages_stay_hidden_as_before(original, self, queue, offset, pop_time, until):
    return None


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


@mutant(PopAcks.done_in_order, "An ordered acknowledgement sets the offset back to its message.", V5)
def ordered_acks_count_again(original, self, queue, offset, pop_time, connection, now):
    topic, group, queue_id = queue
    before = self.broker.offsets.offset_of(group, topic, queue_id)
    if before is not None and offset < before:
        self.broker.offsets.commit(group, topic, queue_id, offset, now)
        return None
    return original(self, queue, offset, pop_time, connection, now)


@mutant(PopOrder.acknowledge, "In order, a message is refused if its queue has not been popped from.", V5)
def ordered_acks_need_a_pop(original, self, queue, offset, pop_time):
    return -1 if queue not in self.last else original(self, queue, offset, pop_time)


# -- after a reset -------------------------------------------------------------------------------------------


@mutant(Pops.start, "Pops ignore resets of offsets.", V5)
def pops_heed_no_resets(original, self, pop, topic, queue_id, now):
    return self.broker.offsets.offset_of(pop.group, topic, queue_id) or 0


@mutant(PopOrder.clear, "A reset leaves what an ordered pop has blocked.", V5)
def resets_leave_queues_blocked(original, self, queue):
    return None


# -- what waits, and what is skipped -------------------------------------------------------------------------


@mutant(PopWaiting.lost, "A waiting pop gets a message after its connection has ended.", V5)
def lost_pops_get_messages(original, self, connection, now):
    return None


@mutant(PopNotifications.has, "A notification ignores that ordered pops block a queue.", V5)
def notifications_know_no_order(original, self, asked, topic, queue_id, now):
    return original(self, replace(asked, order=False), topic, queue_id, now)


@mutant(Pops.take, "Messages that do not match are looked at again by the next pop.", V5)
def pops_come_back_to_what_does_not_match(original, self, found, topic, queue_id, now):
    before, count = self.start(found.pop, topic, queue_id, now), len(found.frames)
    original(self, found, topic, queue_id, now)
    if len(found.frames) == count:
        self.broker.offsets.commit(found.pop.group, topic, queue_id, before, now)


@after(CheckPoints.again, "A message that comes again was born at its producer.", V5)
def revived_come_from_the_producer(again, message):
    again.born_host = message.born_host


@mutant(
    Assignments.queues, "Queues are assigned in the order of their numbers, whichever Broker has them.", V5
)
def assigned_queues_are_mixed(original, self, topic, reply):
    found = original(self, topic, reply)
    return found and sorted(found, key=lambda queue: queue.queue_id)


@mutant(CheckPoints.over, "A popped message that has expired comes again without a body.", V5)
def expired_come_again_empty(original, self, point, now):
    for offset in point.left:
        if offset < self.broker.store.min_offset(point.pop.topic, point.pop.queue_id):
            self.revive(point.pop, Message(topic=point.pop.topic, body=b""), now)
    original(self, point, now)


@mutant(PopAcks.acknowledge, "An acknowledgement that lacks a field succeeds.", V5)
def fields_of_acks_may_be_missing(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@mutant(PopAcks.hide, "A request to hide a message for longer that lacks a field succeeds.", V5)
def fields_of_hiding_may_be_missing(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)
